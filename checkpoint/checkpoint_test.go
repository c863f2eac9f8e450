package checkpoint_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"filippo.io/torchwood"
	theirlog "github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"

	"ludger/checkpoint"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/testvectors"
)

const origin = "example.com/log"

func seed(n byte) [32]byte { return [32]byte{n} }

func signer(t testing.TB, name string, n byte) *checkpoint.Signer {
	t.Helper()
	s, err := checkpoint.NewSigner(name, seed(n))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func root(n byte) [32]byte { return [32]byte{31: n} }

// witnessKey is the key of a witness of the tests.
func witnessKey(t testing.TB, name string, n byte) *checkpoint.Verifier {
	t.Helper()
	v, err := checkpoint.NewVerifier(checkpoint.Cosignature, name, sign.NewPrivateKey(seed(n)).Public())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// cosign adds a witness's signature to a note, as tlog-cosignature describes it.
func cosign(t testing.TB, signed []byte, name string, n byte, seconds int64) []byte {
	t.Helper()
	text, _, ok := bytes.Cut(signed, []byte("\n\n"))
	if !ok {
		t.Fatal("no note")
	}
	key := ed25519.NewKeyFromSeed(append([]byte{n}, make([]byte, 31)...))
	b := binary.BigEndian.AppendUint32(nil, witnessKey(t, name, n).ID())
	b = binary.BigEndian.AppendUint64(b, uint64(seconds))
	b = append(b, ed25519.Sign(key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s\n", seconds, text))...)
	return fmt.Appendf(bytes.Clone(signed), "— %s %s\n", name, base64.StdEncoding.EncodeToString(b))
}

// compareVectors compares a vector file with what the package computes now, and writes it instead
// if LUDGER_UPDATE is set (make vectors).
func compareVectors(t *testing.T, name string, v any) {
	t.Helper()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LUDGER_UPDATE") != "" {
		if err := os.WriteFile("../testvectors/"+name, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := testvectors.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text.Bytes(), want) {
		t.Errorf("%s differs from what is computed now; run make vectors and explain the difference", name)
	}
}

func readVectors(t testing.TB, name string, v any) {
	t.Helper()
	text, err := testvectors.FS.ReadFile(name)
	if os.Getenv("LUDGER_UPDATE") != "" { // just written, not yet embedded
		text, err = os.ReadFile("../testvectors/" + name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

type badText struct {
	Text string `json:"text"`
	Why  string `json:"why"`
}

type noteVectors struct {
	About string     `json:"about"`
	Valid []noteCase `json:"valid"`
	// Notes that are not well-formed, whoever signed them.
	Invalid []badText `json:"invalid"`
}

type noteCase struct {
	Text       string          `json:"text"` // the whole note
	Signed     string          `json:"signed"`
	Signatures []signatureCase `json:"signatures"`
}

type signatureCase struct {
	Name  string `json:"name"`
	ID    string `json:"id"`
	Bytes string `json:"bytes"`
}

func TestVectorsNotes(t *testing.T) {
	var v noteVectors
	v.About = "C2SP signed notes, read strictly: canonical base64, one signature for each key"
	one := string(signer(t, origin, 1).Sign(7, root(9)))
	two := string(cosign(t, []byte(one), "witness.example/w", 2, 1_700_000_000))
	text, line, _ := strings.Cut(one, "\n\n")
	many := one
	for i := range 31 {
		many += fmt.Sprintf("— other%d AAAAAAA=\n", i)
	}
	for _, s := range []string{
		one, two, many,
		"Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n",
		"\n\n— a AAAAAAA=\n",
		"\n\n\n— a AAAAAAA=\n",
		text + "\n— in the text\n\n— " + line[len("— "):],
		"a\n\n— same AAAAAAA=\n— same AAAAAQA=\n— other AAAAAAA=\n",
	} {
		n, err := checkpoint.ParseNote([]byte(s))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		c := noteCase{Text: s, Signed: string(n.Text)}
		for _, s := range n.Signatures {
			c.Signatures = append(c.Signatures, signatureCase{s.Name, fmt.Sprintf("%08x", s.ID), hex.EncodeToString(s.Bytes)})
		}
		v.Valid = append(v.Valid, c)
		if again := n.Format(); string(again) != s {
			t.Errorf("%q prints %q", s, again)
		}
	}
	no := func(text, why string) { v.Invalid = append(v.Invalid, badText{text, why}) }
	no("", "empty")
	no(text+"\n", "no signature")
	no(text+"\n\n", "no signature")
	no(text+"\n"+line, "no empty line before the signatures")
	no(strings.TrimSuffix(one, "\n"), "the last line has no newline")
	no(one+"\n", "an empty line after the signatures")
	no(one+"x\n", "a line that is no signature")
	no(one+line, "two signatures of one key")
	no(many+"— other31 AAAAAAA=\n", "33 signatures")
	no(strings.ReplaceAll(one, "\n", "\r\n"), "carriage returns")
	no(strings.Replace(one, "7", "\t", 1), "a tab")
	no(strings.Replace(one, "7", "\x00", 1), "a NUL")
	no(strings.Replace(one, "— ", "- ", 1), "a hyphen instead of the em dash")
	no(strings.Replace(one, "— ", "—", 1), "no space after the em dash")
	no(strings.Replace(one, "— ", "—  ", 1), "two spaces after the em dash")
	no("a\n\n—  AAAAAAA=\n", "no name")
	no("a\n\n— a\n", "no signature bytes")
	no("a\n\n— a \n", "no signature bytes")
	no("a\n\n— a AAAA\n", "three bytes of signature")
	no("a\n\n— a AAAAAA==\n", "a key ID without signature")
	no("a\n\n— a AAAAAAA\n", "base64 without padding")
	no("a\n\n— a AAAAAAB=\n", "stray bits in base64")
	no("a\n\n— a AAAAAAA==\n", "padding too long")
	no("a\n\n— a AAAAAA_=\n", "base64 of the alphabet for URLs")
	no("a\n\n— a AAAAAAA= \n", "trailing space")
	no("a\n\n— a b AAAAAAA=\n", "a space in the name")
	no("a\n\n— a+b AAAAAAA=\n", "a plus in the name")
	no("a\n\n— a\u00a0b AAAAAAA=\n", "a no-break space in the name")
	no("a\n\n— "+strings.Repeat("a", 256)+" AAAAAAA=\n", "a name of 256 bytes")
	compareVectors(t, "checkpoint/notes.json", v)

	readVectors(t, "checkpoint/notes.json", &v)
	for _, c := range v.Valid {
		_, err := note.Open([]byte(c.Text), nil)
		var unverified *note.UnverifiedNoteError
		if !errors.As(err, &unverified) {
			t.Errorf("sumdb refuses %q: %v", c.Text, err)
		} else if unverified.Note.Text != c.Signed || len(unverified.Note.UnverifiedSigs) != len(c.Signatures) {
			t.Errorf("sumdb reads %+v from %q", unverified.Note, c.Text)
		}
	}
	for _, c := range v.Invalid {
		if n, err := checkpoint.ParseNote([]byte(c.Text)); err == nil {
			t.Errorf("%q is read as %+v, but: %s", c.Text, n, c.Why)
		}
	}
	for _, s := range []string{strings.Repeat("a", checkpoint.MaxNote+1), "a\xff\n\n— a AAAAAAA=\n", "a\xc0\x80\n\n— a AAAAAAA=\n", "a\n\n— \xff AAAAAAA=\n"} {
		if _, err := checkpoint.ParseNote([]byte(s)); err == nil {
			t.Errorf("%.20q was read", s)
		}
	}
}

type checkpointVectors struct {
	About string `json:"about"`
	Valid []struct {
		Seed   string `json:"seed"` // of the log's key
		Vkey   string `json:"vkey"`
		Origin string `json:"origin"`
		Size   int64  `json:"size"`
		Root   string `json:"root"`
		Note   string `json:"note"`
	} `json:"valid"`
	Invalid []badText `json:"invalid"` // texts that are no checkpoint, without signatures
}

func TestVectorsCheckpoints(t *testing.T) {
	var v checkpointVectors
	v.About = "C2SP tlog-checkpoint of three lines, signed with Ed25519"
	for i, c := range []checkpoint.Checkpoint{
		{origin, 0, event.LeafHash(nil)},
		{origin, 20852163, root(7)},
		{"x", 1<<63 - 1, root(0)},
		{"ö.example/—/" + strings.Repeat("l", 240), 1, root(255)},
	} {
		s := signer(t, c.Origin, byte(i))
		signed := s.Sign(c.Size, c.Root)
		if again := s.Sign(c.Size, c.Root); !bytes.Equal(again, signed) {
			t.Errorf("%+v is signed as %q and as %q", c, signed, again)
		}
		seed := seed(byte(i))
		v.Valid = append(v.Valid, struct {
			Seed   string `json:"seed"`
			Vkey   string `json:"vkey"`
			Origin string `json:"origin"`
			Size   int64  `json:"size"`
			Root   string `json:"root"`
			Note   string `json:"note"`
		}{hex.EncodeToString(seed[:]), s.Verifier().String(), c.Origin, c.Size, hex.EncodeToString(c.Root[:]), string(signed)})
	}
	good := string(checkpoint.Checkpoint{Origin: origin, Size: 10, Root: root(1)}.Text())
	no := func(text, why string) { v.Invalid = append(v.Invalid, badText{text, why}) }
	hash := strings.Split(good, "\n")[2]
	no("", "empty")
	no(good[:len(good)-1], "the last line has no newline")
	no(good+"\n", "an empty line")
	no(good+"extension\n", "an extension line")
	no(good+good, "twice")
	no("\n"+good, "an empty origin")
	no("\n10\n"+hash+"\n", "an empty origin")
	no("a b\n10\n"+hash+"\n", "a space in the origin")
	no("a+b\n10\n"+hash+"\n", "a plus in the origin")
	no(strings.Repeat("a", 256)+"\n10\n"+hash+"\n", "an origin of 256 bytes")
	for _, size := range []string{"", "010", "+10", "-1", " 10", "10 ", "1e1", "0x10", "1_0", "9223372036854775808", "１０"} {
		no(origin+"\n"+size+"\n"+hash+"\n", "the size is no decimal number of its one form")
	}
	for _, r := range []string{"", hash[:43], hash + "=", hash[:42] + "F=", hash[:40], "_" + hash[1:], hash + hash, " " + hash} {
		no(origin+"\n10\n"+r+"\n", "the root is no canonical base64 of 32 bytes")
	}
	compareVectors(t, "checkpoint/checkpoints.json", v)

	readVectors(t, "checkpoint/checkpoints.json", &v)
	for _, c := range v.Valid {
		key, err := checkpoint.ParseVerifier(c.Vkey)
		if err != nil {
			t.Fatal(err)
		}
		got, err := checkpoint.Open([]byte(c.Note), key)
		if err != nil || got.Origin != c.Origin || got.Size != c.Size || hex.EncodeToString(got.Root[:]) != c.Root {
			t.Errorf("%q opens as %+v, %v", c.Note, got, err)
		}
		// Three other readers, each with its own note code.
		nv, err := note.NewVerifier(c.Vkey)
		if err != nil {
			t.Fatal(err)
		}
		if cp, _, _, err := theirlog.ParseCheckpoint([]byte(c.Note), c.Origin, nv); err != nil || int64(cp.Size) != c.Size || hex.EncodeToString(cp.Hash) != c.Root {
			t.Errorf("formats reads %+v, %v from %q", cp, err, c.Note)
		}
		policy := torchwood.ThresholdPolicy(2, torchwood.OriginPolicy(c.Origin), torchwood.SingleVerifierPolicy(nv))
		if cp, _, err := torchwood.VerifyCheckpoint([]byte(c.Note), policy); err != nil || cp.N != c.Size || hex.EncodeToString(cp.Hash[:]) != c.Root {
			t.Errorf("torchwood reads %+v, %v from %q", cp, err, c.Note)
		}
		// And the same signature from another signer.
		ns, err := note.NewSigner(mustSigner(t, c.Origin, c.Seed).Secret())
		if err != nil {
			t.Fatal(err)
		}
		if theirs, err := note.Sign(&note.Note{Text: string(got.Text())}, ns); err != nil || string(theirs) != c.Note {
			t.Errorf("sumdb signs %q, %v; we %q", theirs, err, c.Note)
		}
	}
	for _, c := range v.Invalid {
		if got, err := checkpoint.Parse([]byte(c.Text)); err == nil {
			t.Errorf("%q is read as %+v, but: %s", c.Text, got, c.Why)
		}
	}
}

func mustSigner(t testing.TB, name, seedHex string) *checkpoint.Signer {
	t.Helper()
	b, err := hex.DecodeString(seedHex)
	if err != nil || len(b) != 32 {
		t.Fatalf("seed %q", seedHex)
	}
	s, err := checkpoint.NewSigner(name, [32]byte(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEveryBitOfANote flips every bit of a note, drops and doubles every byte: none opens.
func TestEveryBitOfANote(t *testing.T) {
	s := signer(t, origin, 1)
	good := s.Sign(1234, root(5))
	policy, err := checkpoint.NewPolicy(s.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, bad []byte) {
		t.Helper()
		if c, err := checkpoint.Open(bad, s.Verifier()); err == nil {
			t.Errorf("%s: %q opens as %+v", what, bad, c)
		}
		if r, err := policy.Check(bad); err == nil {
			t.Errorf("%s: the policy takes %q as %+v", what, bad, r)
		}
	}
	for i := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << bit
			check(fmt.Sprintf("bit %d of byte %d flipped", bit, i), bad)
		}
		check(fmt.Sprintf("cut to %d bytes", i), good[:i])
		check(fmt.Sprintf("byte %d dropped", i), append(bytes.Clone(good[:i]), good[i+1:]...))
		check(fmt.Sprintf("byte %d doubled", i), append(bytes.Clone(good[:i+1]), good[i:]...))
	}
}

func TestOpenRefuses(t *testing.T) {
	s := signer(t, origin, 1)
	good := s.Sign(7, root(9))
	bad := bytes.Replace(good, []byte("\n7\n"), []byte("\n8\n"), 1)
	var wrong *checkpoint.SignatureError
	if _, err := checkpoint.Open(bad, s.Verifier()); !errors.As(err, &wrong) || wrong.Name != origin || wrong.ID != s.Verifier().ID() {
		t.Errorf("a changed size: %v", err)
	}
	for _, other := range []*checkpoint.Signer{signer(t, origin, 2), signer(t, "example.com/other", 1)} {
		if _, err := checkpoint.Open(good, other.Verifier()); err == nil || !strings.Contains(err.Error(), "not signed by "+other.Verifier().String()) {
			t.Errorf("another key: %v", err)
		}
	}
	// The key of one log under the checkpoint of another.
	ns, err := note.NewSigner(s.Secret())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(checkpoint.Checkpoint{Origin: "example.com/other", Size: 7}.Text()): "another log",
		string(checkpoint.Checkpoint{Origin: origin, Size: 7}.Text()) + "more\n":   "extension lines",
	} {
		signed, err := note.Sign(&note.Note{Text: text}, ns)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checkpoint.Open(signed, s.Verifier()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", signed, err)
		}
		policy, err := checkpoint.NewPolicy(s.Verifier())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policy.Check(signed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", signed, err)
		}
	}
}

type keyVectors struct {
	About   string    `json:"about"`
	Valid   []keyCase `json:"valid"`
	Invalid []badText `json:"invalid"`
	Secret  []badText `json:"invalidSecret"`
}

type keyCase struct {
	Vkey      string `json:"vkey"`
	Name      string `json:"name"`
	ID        string `json:"id"`
	Algorithm int    `json:"algorithm"`
	Key       string `json:"key"`
	Seed      string `json:"seed"`
	Skey      string `json:"skey,omitempty"` // for algorithm 1
}

func TestVectorsKeys(t *testing.T) {
	var v keyVectors
	v.About = "vkey and skey texts as golang.org/x/mod/sumdb/note has them; algorithm 1 is a log's Ed25519 key, 4 a witness's"
	for i, name := range []string{origin, "x", "ö.example/—", strings.Repeat("n", 255)} {
		s := signer(t, name, byte(i))
		seed := seed(byte(i))
		for _, alg := range []checkpoint.Algorithm{checkpoint.Ed25519, checkpoint.Cosignature} {
			key, err := checkpoint.NewVerifier(alg, name, s.Verifier().Key())
			if err != nil {
				t.Fatal(err)
			}
			c := keyCase{key.String(), name, fmt.Sprintf("%08x", key.ID()), int(alg), key.Key().String(), hex.EncodeToString(seed[:]), ""}
			if alg == checkpoint.Ed25519 {
				c.Skey = s.Secret()
			}
			v.Valid = append(v.Valid, c)
		}
	}
	good, secret := v.Valid[0].Vkey, v.Valid[0].Skey
	part := strings.SplitN(good, "+", 3)
	no := func(text, why string) { v.Invalid = append(v.Invalid, badText{text, why}) }
	no("", "empty")
	no(origin, "no key ID")
	no(part[0]+"+"+part[1], "no key")
	no(part[0]+"+"+part[1]+"+", "no key")
	no("+"+part[1]+"+"+part[2], "no name")
	no("a b+"+part[1]+"+"+part[2], "a space in the name")
	no("x"+good, "the key ID is of another name")
	no(part[0]+"+00000000+"+part[2], "the key ID is of another key")
	no(part[0]+"+"+strings.ToUpper(part[1])+"+"+part[2], "capital hex digits")
	no(part[0]+"+"+part[1][:7]+"+"+part[2], "key ID of 7 digits")
	no(part[0]+"+0"+part[1]+"+"+part[2], "key ID of 9 digits")
	no(good+"=", "padding too long")
	no(good[:len(good)-1], "base64 without padding")
	no(good+" ", "trailing space")
	no(good+"\n", "trailing newline")
	keyText := func(alg byte, key []byte) string { // with a key ID that fits
		sum := sha(origin, alg, key)
		return fmt.Sprintf("%s+%08x+%s", origin, sum, base64.StdEncoding.EncodeToString(append([]byte{alg}, key...)))
	}
	pub := signer(t, origin, 0).Verifier().Key()
	no(keyText(2, pub[:]), "algorithm 2, ECDSA")
	no(keyText(6, make([]byte, 1312)), "algorithm 6, ML-DSA-44")
	no(keyText(1, pub[:31]), "a key of 31 bytes")
	no(keyText(1, append(pub[:], 0)), "a key of 33 bytes")
	no(keyText(1, nil), "no key")
	no(keyText(1, append([]byte{1}, make([]byte, 31)...)), "the identity, a key of small order")
	no(keyText(1, bytes.Repeat([]byte{0xff}, 32)), "no point on the curve")
	noSecret := func(text, why string) { v.Secret = append(v.Secret, badText{text, why}) }
	rest := strings.TrimPrefix(secret, "PRIVATE+KEY+")
	noSecret("", "empty")
	noSecret(rest, "no PRIVATE+KEY+")
	noSecret("private+key+"+rest, "small letters")
	noSecret(good, "a public key")
	noSecret("PRIVATE+KEY+"+good, "a public key")
	noSecret("PRIVATE+KEY+x"+rest, "the key ID is of another name")
	noSecret(secret+"\n", "trailing newline")
	noSecret(strings.Replace(secret, "+AQ", "+BA", 1), "algorithm 4")
	compareVectors(t, "checkpoint/keys.json", v)

	readVectors(t, "checkpoint/keys.json", &v)
	for _, c := range v.Valid {
		key, err := checkpoint.ParseVerifier(c.Vkey)
		if err != nil {
			t.Errorf("%s: %v", c.Vkey, err)
			continue
		}
		if key.String() != c.Vkey || key.Name() != c.Name || fmt.Sprintf("%08x", key.ID()) != c.ID || int(key.Algorithm()) != c.Algorithm || key.Key().String() != c.Key {
			t.Errorf("%s is read as %v", c.Vkey, key)
		}
		if c.Algorithm == 4 {
			if theirs, err := torchwood.NewCosignatureVerifier(c.Vkey); err != nil || fmt.Sprintf("%08x", theirs.KeyHash()) != c.ID {
				t.Errorf("torchwood reads %v, %v from %s", theirs, err, c.Vkey)
			}
			continue
		}
		if theirs, err := note.NewVerifier(c.Vkey); err != nil || theirs.Name() != c.Name || theirs.KeyHash() != key.ID() {
			t.Errorf("sumdb reads %v, %v from %s", theirs, err, c.Vkey)
		}
		s, err := checkpoint.ParseSigner(c.Skey)
		if err != nil || s.Secret() != c.Skey || s.Verifier().String() != c.Vkey {
			t.Errorf("%s is read as %v, %v", c.Skey, s, err)
		}
		if theirs, err := note.NewSigner(c.Skey); err != nil || theirs.KeyHash() != key.ID() {
			t.Errorf("sumdb reads %v, %v from %s", theirs, err, c.Skey)
		}
	}
	for _, c := range v.Invalid {
		if key, err := checkpoint.ParseVerifier(c.Text); err == nil {
			t.Errorf("%q is read as %v, but: %s", c.Text, key, c.Why)
		}
	}
	for _, c := range v.Secret {
		if s, err := checkpoint.ParseSigner(c.Text); err == nil {
			t.Errorf("%q is read as %v, but: %s", c.Text, s, c.Why)
		}
	}
	// Keys of another's making.
	skey, vkey, err := note.GenerateKey(strings.NewReader(strings.Repeat("r", 64)), origin)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := checkpoint.ParseSigner(skey); err != nil || s.Secret() != skey || s.Verifier().String() != vkey {
		t.Errorf("sumdb's key %s is read as %v, %v", vkey, s, err)
	}
	if _, err := checkpoint.NewVerifier(3, origin, pub); err == nil {
		t.Error("algorithm 3 was taken")
	}
}

// sha is the key ID of C2SP signed-note.
func sha(name string, alg byte, key []byte) uint32 {
	sum := sha256.Sum256(append(append([]byte(name), '\n', alg), key...))
	return binary.BigEndian.Uint32(sum[:])
}

// TestSecretsStayOut prints signers and the errors of broken secrets in every way.
func TestSecretsStayOut(t *testing.T) {
	s := signer(t, origin, 77)
	seed := seed(77)
	needles := []string{hex.EncodeToString(seed[:8]), base64.StdEncoding.EncodeToString(append([]byte{1}, seed[:]...))[:12], "[77 0 0", "4d, 0x0"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		for _, x := range []any{s, *s, &s, []any{s}, struct{ S *checkpoint.Signer }{s}} {
			for _, needle := range needles {
				if got := fmt.Sprintf(verb, x); strings.Contains(got, needle) {
					t.Errorf("%s of %T shows the secret: %s", verb, x, got)
				}
			}
		}
	}
	skey := s.Secret()
	for _, bad := range []string{skey + "x", skey[:len(skey)-1], strings.Replace(skey, "log", "lag", 1), strings.Replace(skey, "PRIVATE", "PUBLIC", 1)} {
		_, err := checkpoint.ParseSigner(bad)
		if err == nil || strings.Contains(err.Error(), needles[1]) {
			t.Errorf("error of a broken secret: %v", err)
		}
	}
}

func TestLimitsFit(t *testing.T) {
	if checkpoint.MaxName != event.MaxOrigin {
		t.Errorf("MaxName is %d, event.MaxOrigin %d", checkpoint.MaxName, event.MaxOrigin)
	}
	if n := len(witnessKey(t, strings.Repeat("n", checkpoint.MaxName), 1).String()); n > event.MaxVerifier {
		t.Errorf("a vkey of %d bytes exceeds event.MaxVerifier, %d", n, event.MaxVerifier)
	}
	if longest := checkpoint.MaxNote + 63*45 + 100; longest > event.MaxProof {
		t.Errorf("a proof of %d bytes exceeds event.MaxProof, %d", longest, event.MaxProof)
	}
}

func FuzzParseNote(f *testing.F) {
	var v noteVectors
	readVectors(f, "checkpoint/notes.json", &v)
	for _, c := range v.Valid {
		f.Add([]byte(c.Text))
	}
	for _, c := range v.Invalid {
		f.Add([]byte(c.Text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := checkpoint.ParseNote(data)
		if err != nil {
			return
		}
		if again := n.Format(); !bytes.Equal(again, data) {
			t.Errorf("%q prints %q", data, again)
		}
		var unverified *note.UnverifiedNoteError
		if _, err := note.Open(data, nil); !errors.As(err, &unverified) {
			t.Errorf("sumdb refuses %q: %v", data, err)
		} else if unverified.Note.Text != string(n.Text) {
			t.Errorf("sumdb reads the text %q, we %q", unverified.Note.Text, n.Text)
		}
	})
}

func FuzzParse(f *testing.F) {
	var v checkpointVectors
	readVectors(f, "checkpoint/checkpoints.json", &v)
	for _, c := range v.Valid {
		text, _, _ := strings.Cut(c.Note, "\n\n")
		f.Add([]byte(text + "\n"))
	}
	for _, c := range v.Invalid {
		f.Add([]byte(c.Text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := checkpoint.Parse(text)
		if err != nil {
			return
		}
		if again := c.Text(); !bytes.Equal(again, text) {
			t.Errorf("%q prints %q", text, again)
		}
		theirs, err := torchwood.ParseCheckpoint(string(text))
		if err != nil || theirs.Origin != c.Origin || theirs.N != c.Size || [32]byte(theirs.Hash) != c.Root {
			t.Errorf("torchwood reads %+v, %v from %q", theirs, err, text)
		}
		var formats theirlog.Checkpoint
		if rest, err := formats.Unmarshal(text); err != nil || len(rest) > 0 || !reflect.DeepEqual(formats, theirlog.Checkpoint{Origin: c.Origin, Size: uint64(c.Size), Hash: c.Root[:]}) {
			t.Errorf("formats reads %+v, %v from %q", formats, err, text)
		}
	})
}

func FuzzParseVerifier(f *testing.F) {
	var v keyVectors
	readVectors(f, "checkpoint/keys.json", &v)
	for _, c := range v.Valid {
		f.Add(c.Vkey)
		f.Add(c.Skey)
	}
	for _, c := range append(v.Invalid, v.Secret...) {
		f.Add(c.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := checkpoint.ParseVerifier(text); err == nil {
			if key.String() != text {
				t.Errorf("%q prints %q", text, key)
			}
			if key.Algorithm() == checkpoint.Ed25519 {
				if _, err := note.NewVerifier(text); err != nil {
					t.Errorf("sumdb refuses %q: %v", text, err)
				}
			}
		}
		if s, err := checkpoint.ParseSigner(text); err == nil {
			if s.Secret() != text {
				t.Errorf("%q prints %q", text, s.Secret())
			}
			if _, err := note.NewSigner(text); err != nil {
				t.Errorf("sumdb refuses %q: %v", text, err)
			}
		}
	})
}

func ExampleOpen() {
	signer, _ := checkpoint.NewSigner("example.com/log", [32]byte{1}) // a seed of the test
	note := signer.Sign(0, [32]byte{})
	c, err := checkpoint.Open(note, signer.Verifier())
	fmt.Println(c.Origin, c.Size, err)
	_, err = checkpoint.Open(bytes.Replace(note, []byte("\n0\n"), []byte("\n1\n"), 1), signer.Verifier())
	fmt.Println(err)
	// Output:
	// example.com/log 0 <nil>
	// the signature of key example.com/log+3f83aaea does not fit the note
}
