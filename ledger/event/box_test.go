package event

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"

	"ludger/engine"
	"ludger/testvectors"
)

// A boxVector is a box with all that makes it, or one that must not open.
type boxVector struct {
	Why    string      `json:"why,omitempty"` // of a box that must be refused
	Match  string      `json:"match"`
	Seq    int64       `json:"seq"`
	Prev   string      `json:"prev"`
	Seat   engine.Seat `json:"seat"`
	Turn   int64       `json:"turn"`
	Secret string      `json:"secret"`
	Key    string      `json:"key"`
	Move   string      `json:"move,omitempty"`
	Signed string      `json:"signed,omitempty"` // the signed body's canonical text
	Box    string      `json:"box"`
}

type boxVectors struct {
	Valid   []boxVector `json:"valid"`
	Refused []boxVector `json:"refused"`
}

func newBox(t *testing.T, place Box, move, commentary string) (BoxKey, []byte, SignedMove) {
	t.Helper()
	signed, err := SignedMove{GameID: place.Match, TurnIndex: place.Turn, Move: move, Commentary: commentary}.Sign(key("alice"))
	if err != nil {
		t.Fatal(err)
	}
	k := place.Key(secret)
	box, err := place.Seal(k, move, &signed)
	if err != nil {
		t.Fatal(err)
	}
	return k, box, signed
}

func boxVectorOf(why string, place Box, k BoxKey, box []byte) boxVector {
	return boxVector{Why: why, Match: place.Match.String(), Seq: place.Seq, Prev: place.Prev.String(), Seat: place.Seat, Turn: place.Turn,
		Secret: hex.EncodeToString(secret[:]), Key: hex.EncodeToString(k[:]), Box: hex.EncodeToString(box)}
}

func buildBoxes(t *testing.T) boxVectors {
	var v boxVectors
	place := Box{Match: MatchID{1}, Seq: 4, Prev: Leaf{2}, Seat: 1, Turn: 3}
	for _, length := range []int{0, 300, 1000} {
		k, box, signed := newBox(t, place, "A1h B3v", strings.Repeat("x", length))
		b := boxVectorOf("", place, k, box)
		b.Move, b.Signed = "A1h B3v", string(signed.value.Bytes())
		v.Valid = append(v.Valid, b)
	}
	k, box, signed := newBox(t, place, "A1h B3v", "")
	for i, other := range elsewhere(place) {
		why := [...]string{"of another match", "of another seq", "of another history", "of another seat", "of another turn"}[i]
		v.Refused = append(v.Refused, boxVectorOf(why, other, other.Key(secret), box), boxVectorOf(why+", with the box's own key", other, k, box))
	}
	flipped := bytes.Clone(box)
	flipped[100] ^= 1
	v.Refused = append(v.Refused,
		boxVectorOf("a bit is flipped", place, k, flipped),
		boxVectorOf("a byte is missing", place, k, box[:len(box)-1]),
		boxVectorOf("not even a tag", place, k, nil))
	// What it holds is sealed with the right key, but is not what Seal makes.
	inner := func(p Box) []byte {
		text := boxText(p, "A1h B3v", &signed)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	pad := func(b []byte, size int) []byte { return append(b, make([]byte, size-len(b))...) }
	right := pad(inner(place), 1<<10)
	dirty, long := bytes.Clone(right), bytes.Clone(right)
	dirty[len(dirty)-1] = 1
	long[0] = 1
	for _, c := range []struct {
		why   string
		plain []byte
	}{
		{"padded to more than the next size", pad(inner(place), 2<<10)},
		{"padded with something else than zeros", dirty},
		{"longer inside than outside", long},
		{"names another turn inside", pad(inner(Box{place.Match, place.Seq, place.Prev, place.Seat, 4}), 1<<10)},
		{"names another match inside", pad(inner(Box{MatchID{9}, place.Seq, place.Prev, place.Seat, place.Turn}), 1<<10)},
		{"not canonical inside", pad(func() []byte {
			text := bytes.Replace(boxText(place, "A1h B3v", &signed), []byte(`"turn":3`), []byte(`"turn": 3`), 1)
			return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
		}(), 1<<10)},
	} {
		v.Refused = append(v.Refused, boxVectorOf(c.why, place, k, sealPlain(t, place, k, c.plain)))
	}
	return v
}

func sealPlain(t *testing.T, place Box, k BoxKey, plain []byte) []byte {
	t.Helper()
	aead, err := chacha20poly1305.New(k[:])
	if err != nil {
		t.Fatal(err)
	}
	return aead.Seal(nil, make([]byte, 12), plain, bytes.Join(place.fields(), nil))
}

// elsewhere are places that differ from one in a single part.
func elsewhere(p Box) []Box {
	list := slices.Repeat([]Box{p}, 5)
	list[0].Match[31] ^= 1
	list[1].Seq++
	list[2].Prev[0] ^= 1
	list[3].Seat = 0
	list[4].Turn++
	return list
}

const boxFile = "event/boxes.json"

func TestVectorsBoxes(t *testing.T) {
	want, err := json.MarshalIndent(buildBoxes(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if os.Getenv("LUDGER_UPDATE") != "" {
		if err := os.WriteFile("../../testvectors/"+boxFile, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := testvectors.FS.ReadFile(boxFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code makes (%v): run make vectors and explain the difference", boxFile, err)
	}
}

func TestBoxes(t *testing.T) {
	data, err := testvectors.FS.ReadFile(boxFile)
	if err != nil {
		t.Fatal(err)
	}
	var v boxVectors
	if err := json.Unmarshal(data, &v); err != nil || len(v.Valid) == 0 || len(v.Refused) == 0 {
		t.Fatalf("%d and %d boxes, %v", len(v.Valid), len(v.Refused), err)
	}
	unhex := func(dst []byte, s string) {
		if b, err := hex.DecodeString(s); err != nil || copy(dst, b) != len(dst) {
			t.Fatalf("%q: %v", s, err)
		}
	}
	for _, b := range append(v.Valid, v.Refused...) {
		place := Box{Seq: b.Seq, Seat: b.Seat, Turn: b.Turn}
		unhex(place.Match[:], b.Match)
		unhex(place.Prev[:], b.Prev)
		var s [32]byte
		var k BoxKey
		unhex(s[:], b.Secret)
		unhex(k[:], b.Key)
		box, err := hex.DecodeString(b.Box)
		if err != nil {
			t.Fatal(err)
		}
		move, signed, err := place.Open(k, box)
		if b.Why != "" {
			if err == nil {
				t.Errorf("a box that is %s opens", b.Why)
			}
			continue
		}
		if err != nil || move != b.Move || string(signed.value.Bytes()) != b.Signed || place.Key(s) != k {
			t.Errorf("box opens to %q, %v", move, err)
		}
		if again, err := place.Seal(k, move, &signed); err != nil || !bytes.Equal(again, box) {
			t.Errorf("sealed again it is another box: %v", err)
		}
	}
}

// TestBoxSizes: every body that can be signed fits, and short and long commentary give the same size
// as far as the sizes are the same.
func TestBoxSizes(t *testing.T) {
	place := Box{Match: MatchID{1}, Seq: MaxMatchEvents, Prev: Leaf{2}, Seat: 7, Turn: MaxMatchEvents}
	sizes := map[int]bool{}
	for length := 0; length <= MaxCommentary; length += 64 {
		_, box, _ := newBox(t, place, strings.Repeat("m", engine.MaxMove), strings.Repeat("\"", length))
		sizes[len(box)] = true
	}
	if len(sizes) > 3 {
		t.Errorf("%d sizes: %v", len(sizes), sizes)
	}
	// The largest body: signed bodies are bounded by MaxSignedMove, whatever is in them.
	if most := MaxSignedMove + engine.MaxMove + 512; most > MaxBox {
		t.Errorf("a body of %d bytes may not fit into %d", most, MaxBox)
	}
}

func FuzzBox(f *testing.F) {
	place := Box{Match: MatchID{1}, Seq: 4, Prev: Leaf{2}, Seat: 1, Turn: 3}
	k := place.Key(secret)
	f.Add([]byte(`{"match":"","move":"x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		plain := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
		size := boxSize(len(plain))
		if size == 0 {
			return
		}
		box := sealPlain(t, place, k, append(plain, make([]byte, size-len(plain))...))
		move, signed, err := place.Open(k, box)
		if err != nil {
			return
		}
		if again, err := place.Seal(k, move, &signed); err != nil || !bytes.Equal(again, box) {
			t.Errorf("opens, and is sealed again as another box: %v", err)
		}
	})
}
