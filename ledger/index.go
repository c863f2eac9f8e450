package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"ludger/ledger/event"
)

// AppendStreamKey appends the index key under which the stream's first index stands.
func AppendStreamKey(b []byte, stream event.Stream) []byte {
	var buf [1 + event.MaxStream]byte // hashed on the stack
	sum := sha256.Sum256(append(buf[:0], stream...))
	return append(append(b, 'e'), sum[:]...)
}

// AppendIDKey appends the index key of an idempotency id.
func AppendIDKey(b []byte, id string) []byte {
	sum := sha256.Sum256([]byte(id))
	return append(append(b, 'i'), sum[:]...)
}

// AppendPlaceKey appends the index key of event seq of the stream that begins at index first.
func AppendPlaceKey(b []byte, first, seq int64) []byte {
	b = binary.BigEndian.AppendUint64(append(b, 's'), uint64(first))
	return binary.BigEndian.AppendUint64(b, uint64(seq))
}

// AppendHashKey appends the index key of tree hash n of a level, or of full tile n at level 0.
func AppendHashKey(b []byte, level int, n int64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 't', byte(level)), uint64(n))
}

// AppendIndex appends an index as values hold it.
func AppendIndex(b []byte, index int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(index))
}

// A Done says what an idempotency id was used for: the events that one append put at adjacent
// places, and the digest of the request.
type Done struct {
	First  int64
	Count  int64
	Digest [32]byte
}

// Append appends the record's bytes as the index holds them.
func (d Done) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(d.First))
	b = binary.BigEndian.AppendUint32(b, uint32(d.Count))
	return append(b, d.Digest[:]...)
}

// ParseDone reads what Append prints.
func ParseDone(b []byte) (Done, error) {
	if len(b) != 8+4+32 {
		return Done{}, fmt.Errorf("record of %d bytes is not %d long", len(b), 8+4+32)
	}
	d := Done{
		First:  int64(binary.BigEndian.Uint64(b)),
		Count:  int64(binary.BigEndian.Uint32(b[8:])),
		Digest: [32]byte(b[12:]),
	}
	if d.First < 0 || d.Count == 0 {
		return Done{}, fmt.Errorf("record of %d events from index %d on cannot be", d.Count, d.First)
	}
	return d, nil
}

// FindID returns what an idempotency id was used for.
func FindID(ctx context.Context, log Log, id string) (d Done, ok bool, err error) {
	v, ok, err := log.Get(ctx, AppendIDKey(nil, id))
	if err != nil || !ok {
		return Done{}, false, err
	}
	if d, err = ParseDone(v); err != nil {
		return Done{}, false, fmt.Errorf("%w: idempotency id %q: %w", ErrCorrupt, id, err)
	}
	return d, true, nil
}

// StreamFirst returns the index of a stream's first event; ok is false for a stream without events.
func StreamFirst(ctx context.Context, log Log, stream event.Stream) (first int64, ok bool, err error) {
	v, ok, err := log.Get(ctx, AppendStreamKey(nil, stream))
	if err != nil || !ok {
		return 0, false, err
	}
	first, err = parseIndex(v)
	return first, err == nil, err
}

// A StreamHead is the newest end of a stream.
type StreamHead struct {
	First  int64      // index of the stream's first event
	Length int64      // events in the stream; 0 if it has none, and then all else is zero
	Last   int64      // index of its newest event
	Leaf   event.Leaf // of its newest event
}

// ReadStreamHead returns the newest end of a stream.
func ReadStreamHead(ctx context.Context, log Log, stream event.Stream) (StreamHead, error) {
	first, ok, err := StreamFirst(ctx, log, stream)
	if err != nil || !ok {
		return StreamHead{}, err
	}
	kvs, err := log.Range(ctx, AppendPlaceKey(nil, first, 0), AppendPlaceKey(nil, first+1, 0), 1, true)
	if err != nil {
		return StreamHead{}, err
	}
	if len(kvs) == 0 {
		return StreamHead{}, fmt.Errorf("%w: stream %s begins at %d and has no places", ErrCorrupt, stream, first)
	}
	place, err := parsePlace(kvs[0])
	if err != nil {
		return StreamHead{}, err
	}
	entries, err := readRun(ctx, log, place.Index, 1)
	if err != nil {
		return StreamHead{}, err
	}
	return StreamHead{First: first, Length: place.Seq + 1, Last: place.Index, Leaf: event.LeafHash(entries[0])}, nil
}

// A Place is one event of a stream: where it stands, and its bytes.
type Place struct {
	Seq   int64 // in the stream
	Index int64 // in the log
	Entry []byte
}

// ReadPlaces returns up to max places of a stream from seq on, without their entries. It returns
// none when the stream ends before seq.
func ReadPlaces(ctx context.Context, log Log, stream event.Stream, seq int64, max int) ([]Place, error) {
	if seq < 0 {
		return nil, fmt.Errorf("stream %s has no event %d", stream, seq)
	}
	first, ok, err := StreamFirst(ctx, log, stream)
	if err != nil || !ok {
		return nil, err
	}
	kvs, err := log.Range(ctx, AppendPlaceKey(nil, first, seq), AppendPlaceKey(nil, first+1, 0), max, false)
	if err != nil {
		return nil, err
	}
	places := make([]Place, len(kvs))
	for i, kv := range kvs {
		if places[i], err = parsePlace(kv); err != nil {
			return nil, err
		}
		if places[i].Seq != seq+int64(i) {
			return nil, fmt.Errorf("%w: stream %s has no place for event %d", ErrCorrupt, stream, seq+int64(i))
		}
	}
	return places, nil
}

// ReadStream returns up to max events of a stream from seq on. It returns none when the stream ends
// before seq.
func ReadStream(ctx context.Context, log Log, stream event.Stream, seq int64, max int) ([]Place, error) {
	places, err := ReadPlaces(ctx, log, stream, seq, max)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(places); {
		n := 1 // events of one append are neighbours: read them at once
		for i+n < len(places) && places[i+n].Index == places[i].Index+int64(n) {
			n++
		}
		entries, err := readRun(ctx, log, places[i].Index, n)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			places[i].Entry = e
			i++
		}
	}
	return places, nil
}

// readRun returns exactly count entries from first on.
func readRun(ctx context.Context, log Log, first int64, count int) ([][]byte, error) {
	var run [][]byte
	for len(run) < count {
		entries, err := log.Scan(ctx, first+int64(len(run)), count-len(run))
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			return nil, fmt.Errorf("%w: the index names entry %d, the log ends there", ErrCorrupt, first+int64(len(run)))
		}
		run = append(run, entries...)
	}
	return run, nil
}

func parseIndex(v []byte) (int64, error) {
	if len(v) != 8 || v[0]&0x80 != 0 {
		return 0, fmt.Errorf("%w: index value %x is not an index", ErrCorrupt, v)
	}
	return int64(binary.BigEndian.Uint64(v)), nil
}

func parsePlace(kv KV) (Place, error) {
	index, err := parseIndex(kv.Value)
	if err != nil {
		return Place{}, err
	}
	if len(kv.Key) != 1+8+8 || !bytes.HasPrefix(kv.Key, []byte{'s'}) || kv.Key[9]&0x80 != 0 {
		return Place{}, fmt.Errorf("%w: index key %x is not a place in a stream", ErrCorrupt, kv.Key)
	}
	return Place{Seq: int64(binary.BigEndian.Uint64(kv.Key[9:])), Index: index}, nil
}
