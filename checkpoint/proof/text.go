package proof

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"

	"ludger/ledger/event"
)

// header is the first line of a tlog-proof.
const header = "c2sp.org/tlog-proof@v1"

// maxHashes is the length of the longest inclusion proof: one hash for each level of a tree of
// 2^63 − 1 leaves.
const maxHashes = 63

// A Proof is a tlog-proof: all it takes to show, offline, that something was logged.
type Proof struct {
	Index      int64      // of the entry in the log
	Extra      []byte     // what the application adds, which nothing authenticates; nil if none
	Hashes     [][32]byte // the inclusion proof, from the leaf's sibling up
	Checkpoint []byte     // the signed note, verbatim
}

// Format returns the text of the proof:
//
//	c2sp.org/tlog-proof@v1
//	extra <base64>
//	index <decimal>
//	<base64 of a hash>
//	…
//
//	<the checkpoint>
//
// The extra line is there only if Extra is not empty.
func (p *Proof) Format() []byte {
	b := append([]byte(header), '\n')
	if len(p.Extra) > 0 {
		b = base64.StdEncoding.AppendEncode(append(b, "extra "...), p.Extra)
		b = append(b, '\n')
	}
	b = strconv.AppendInt(append(b, "index "...), p.Index, 10)
	b = append(b, '\n')
	for i := range p.Hashes {
		b = base64.StdEncoding.AppendEncode(b, p.Hashes[i][:])
		b = append(b, '\n')
	}
	b = append(b, '\n')
	return append(b, p.Checkpoint...)
}

// Parse reads the text of a proof, in the one form that Format prints: a number or base64 in
// another spelling is refused, so nothing before the checkpoint can be changed without changing
// what is read. The checkpoint is not looked into. The result shares no memory with data.
func Parse(data []byte) (*Proof, error) {
	if len(data) > event.MaxProof {
		return nil, fmt.Errorf("proof of %d bytes exceeds %d", len(data), event.MaxProof)
	}
	l := lines{rest: data}
	if s := l.next(); string(s) != header {
		return nil, fmt.Errorf("proof line 1 is %q, not %q: this is no tlog-proof", clip(s), header)
	}
	p := new(Proof)
	s := l.next()
	if extra, ok := bytes.CutPrefix(s, []byte("extra ")); ok {
		if p.Extra, ok = decode(extra); !ok || len(p.Extra) == 0 {
			return nil, fmt.Errorf("proof line %d: extra data %q is not canonical base64 of at least one byte", l.n, clip(extra))
		}
		s = l.next()
	}
	index, ok := bytes.CutPrefix(s, []byte("index "))
	if !ok {
		return nil, fmt.Errorf("proof line %d is %q, not \"index \" and a number", l.n, clip(s))
	}
	var err error
	p.Index, err = strconv.ParseInt(string(index), 10, 64)
	if err != nil || p.Index < 0 || strconv.FormatInt(p.Index, 10) != string(index) {
		return nil, fmt.Errorf("proof line %d: index %q is not a decimal number from 0 to 2^63-1 without leading zeros", l.n, clip(index))
	}
	for {
		s := l.next()
		if l.cut {
			return nil, fmt.Errorf("proof ends in line %d, before the empty line and the checkpoint: it was cut short", l.n)
		}
		if len(s) == 0 {
			break
		}
		hash, ok := decode(s)
		if !ok || len(hash) != 32 {
			return nil, fmt.Errorf("proof line %d: %q is not the canonical base64 of a 32-byte hash", l.n, clip(s))
		}
		if len(p.Hashes) == maxHashes {
			return nil, fmt.Errorf("proof line %d: more than %d hashes", l.n, maxHashes)
		}
		p.Hashes = append(p.Hashes, [32]byte(hash))
	}
	if len(l.rest) == 0 {
		return nil, fmt.Errorf("proof ends in line %d, before the checkpoint: it was cut short", l.n)
	}
	p.Checkpoint = bytes.Clone(l.rest)
	return p, nil
}

// lines hands out the lines of a text. After the end, or at a last line without its newline, cut
// is set.
type lines struct {
	rest []byte
	n    int // number of the last line
	cut  bool
}

func (l *lines) next() []byte {
	line, rest, ok := bytes.Cut(l.rest, []byte{'\n'})
	l.n++
	l.rest, l.cut = rest, !ok
	return line
}

// decode reads base64 in its one canonical form. The encoding's Strict mode refuses stray bits
// but skips line ends, which no line holds but for '\r'; the length rules that out.
func decode(s []byte) ([]byte, bool) {
	b := make([]byte, base64.StdEncoding.DecodedLen(len(s)))
	n, err := base64.StdEncoding.Strict().Decode(b, s)
	return b[:n], err == nil && base64.StdEncoding.EncodedLen(n) == len(s)
}

func clip(s []byte) []byte {
	if len(s) > 64 {
		return append(s[:64:64], "…"...)
	}
	return s
}
