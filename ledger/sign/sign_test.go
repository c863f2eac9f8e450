package sign_test

import (
	"bytes"
	stded25519 "crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"ludger/ledger/canon"
	"ludger/ledger/sign"
	"ludger/testvectors"
)

// shared reads a file of the outside test data that stands beside the checkout, or skips the test.
func shared(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile("../../../shared/vectors/" + path)
	if err != nil {
		t.Skipf("SKIPPED, outside test data is not here: %v", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func vectors(t testing.TB, path string, into any) {
	t.Helper()
	data, err := testvectors.FS.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatal(path, err)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// verify reads texts and checks, as an endpoint does.
func verify(key, sig string, msg []byte) error {
	k, err := sign.ParsePublicKey(key)
	if err != nil {
		return err
	}
	s, err := sign.ParseSignature(sig)
	if err != nil {
		return err
	}
	v, err := sign.NewVerifier(k)
	if err != nil {
		return err
	}
	if !v.Verify(msg, s) {
		return errors.New("signature does not fit")
	}
	return nil
}

// TestRequests holds the request string and the check against shared/vectors/signing-dev.json.
func TestRequests(t *testing.T) {
	var all struct {
		Auth []struct {
			Name, Handle, Pubkey, Challenge, Method, Path, Signature, Message, Verdict, Why string
			Body                                                                            *string
		}
	}
	shared(t, "signing-dev.json", &all)
	if len(all.Auth) < 40 {
		t.Fatalf("%d cases, want at least 40", len(all.Auth))
	}
	for _, c := range all.Auth {
		var body []byte
		if c.Body != nil {
			body = []byte(*c.Body)
		}
		msg, err := sign.RequestMessage(c.Handle, c.Challenge, c.Method, c.Path, body)
		if err == nil && c.Message != "" && string(msg) != c.Message {
			t.Errorf("%s: message\n %s, want\n %s", c.Name, msg, c.Message)
		}
		if err == nil {
			err = verify(c.Pubkey, c.Signature, msg)
		}
		if (err == nil) != (c.Verdict == "accept") {
			t.Errorf("%s (%s): %v, want %s", c.Name, c.Why, err, c.Verdict)
		}
	}
}

// TestMoves does the same for signed bodies. Their shape is read here in the least way that package
// event may read it: known members, each of its kind.
func TestMoves(t *testing.T) {
	var all struct {
		Move []struct {
			Name, Pubkey, Raw, Message, Verdict, Why string
			Canonical                                string `json:"canonical_without_signature"`
		}
	}
	shared(t, "signing-dev.json", &all)
	if len(all.Move) < 30 {
		t.Fatalf("%d cases, want at least 30", len(all.Move))
	}
	for _, c := range all.Move {
		err := func() error {
			v, err := canon.Parse([]byte(c.Raw), canon.Limits{Bytes: 8 << 10, Depth: 8, Values: 100})
			if err != nil {
				return err
			}
			f := v.Fields()
			game, turn := f.String("game_id", 64), f.Int("turn_index", 0, 10_000)
			sig := f.String("signature", 128)
			for _, name := range []string{"move", "commentary", "resign", "draw_offer"} {
				if f.Has(name) {
					f.Value(name)
				}
			}
			if err := f.Done(); err != nil {
				return err
			}
			body := v.Without("signature").Bytes()
			msg := sign.MoveMessage(game, turn, sha256.Sum256(body))
			if c.Message != "" && (string(msg) != c.Message || string(body) != c.Canonical) {
				t.Errorf("%s: signed\n %s, want\n %s", c.Name, msg, c.Message)
			}
			return verify(c.Pubkey, sig, msg)
		}()
		if (err == nil) != (c.Verdict == "accept") {
			t.Errorf("%s (%s): %v, want %s", c.Name, c.Why, err, c.Verdict)
		}
	}
}

func TestRFC8032(t *testing.T) {
	var all []struct{ Name, Seed, Pubkey, Msg, Sig string }
	shared(t, "ed25519/rfc8032.json", &all)
	if len(all) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range all {
		key := sign.NewPrivateKey([32]byte(unhex(t, c.Seed)))
		msg := unhex(t, c.Msg)
		if got := key.Public().String(); got != c.Pubkey {
			t.Errorf("%s: public key %s, want %s", c.Name, got, c.Pubkey)
		}
		if got := key.Sign(msg).String(); got != c.Sig {
			t.Errorf("%s: signature %s, want %s", c.Name, got, c.Sig)
		}
		if err := verify(c.Pubkey, c.Sig, msg); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func TestWycheproof(t *testing.T) {
	var all struct {
		TestGroups []struct {
			PublicKey struct{ Pk string }
			Tests     []struct {
				TcID                      int
				Comment, Msg, Sig, Result string
			}
		}
	}
	shared(t, "ed25519/wycheproof_ed25519_test.json", &all)
	n := 0
	for _, g := range all.TestGroups {
		for _, c := range g.Tests {
			n++
			err := verify(g.PublicKey.Pk, c.Sig, unhex(t, c.Msg))
			if (err == nil) != (c.Result == "valid") {
				t.Errorf("%d %s: %v, want %s", c.TcID, c.Comment, err, c.Result)
			}
		}
	}
	if n < 150 {
		t.Errorf("%d cases, want at least 150", n)
	}
}

// TestSecondOpinion: on honest and on mutated signatures our verdict is that of crypto/ed25519, and
// a mutated one never passes.
func TestSecondOpinion(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		key := sign.DeriveKey([]byte("second opinion"), fmt.Sprint(i))
		v, err := sign.NewVerifier(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		msg := make([]byte, r.IntN(300))
		for j := range msg {
			msg[j] = byte(r.Uint32())
		}
		sig := key.Sign(msg)
		pub := v.Key()
		if !v.Verify(msg, sig) || !stded25519.Verify(pub[:], msg, sig[:]) {
			t.Fatalf("key %d: its own signature is refused", i)
		}
		for range 25 {
			s, m := sig, append([]byte(nil), msg...)
			if r.IntN(3) == 0 && len(m) > 0 {
				m[r.IntN(len(m))] ^= 1 << r.IntN(8)
			} else {
				s[r.IntN(64)] ^= 1 << r.IntN(8)
			}
			if v.Verify(m, s) || stded25519.Verify(pub[:], m, s[:]) {
				t.Fatalf("key %d: mutated signature %v over %x passes", i, s, m)
			}
		}
	}
}

func TestConcurrentVerify(t *testing.T) {
	key := sign.DeriveKey([]byte("concurrent"), "")
	v, err := sign.NewVerifier(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			msg := fmt.Append(nil, i)
			sig := key.Sign(msg)
			if !v.Verify(msg, sig) || v.Verify(msg[:0], sig) {
				t.Errorf("message %d: wrong verdict", i)
			}
		})
	}
	wg.Wait()
}

func TestVerifyDoesNotAllocate(t *testing.T) {
	key := sign.DeriveKey([]byte("allocate"), "")
	msg := sign.MoveMessage("g", 1, [32]byte{})
	sig := key.Sign(msg)
	v, err := sign.NewVerifier(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(20, func() { v.Verify(msg, sig) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestText(t *testing.T) {
	key := sign.DeriveKey([]byte("text"), "")
	pub, sig := key.Public(), key.Sign(nil)
	if got, err := sign.ParsePublicKey(pub.String()); err != nil || got != pub {
		t.Errorf("public key %v reads back as %v, %v", pub, got, err)
	}
	if got, err := sign.ParseSignature(sig.String()); err != nil || got != sig {
		t.Errorf("signature %v reads back as %v, %v", sig, got, err)
	}
	for _, s := range []string{"", " ", pub.String()[1:], pub.String() + "0", strings.ToUpper(pub.String()), "0x" + pub.String()[2:],
		"g" + pub.String()[1:], " " + pub.String()[1:], sig.String()} {
		if got, err := sign.ParsePublicKey(s); err == nil || got != (sign.PublicKey{}) {
			t.Errorf("public key %q: %v, %v, want a refusal and zeros", s, got, err)
		}
	}
	for _, s := range []string{"", pub.String(), sig.String()[2:], sig.String() + "00", strings.ToUpper(sig.String()), "é" + sig.String()[2:]} {
		if got, err := sign.ParseSignature(s); err == nil || got != (sign.Signature{}) {
			t.Errorf("signature %q: %v, %v, want a refusal and zeros", s, got, err)
		}
	}
}

// TestPrivateKeyStaysPrivate: no verb of package fmt prints the seed.
func TestPrivateKeyStaysPrivate(t *testing.T) {
	seed := [32]byte{0xA5, 0x5A, 0xA5, 0x5A, 0xA5}
	key := sign.NewPrivateKey(seed)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%d", "%q"} {
		for _, v := range []any{key, &key, []sign.PrivateKey{key}} {
			got := fmt.Sprintf(verb, v)
			if strings.Contains(strings.ToLower(got), "a55aa55a") || strings.Contains(got, "165 90 165") ||
				!strings.Contains(got, key.Public().String()) {
				t.Errorf("%s of %T prints %s", verb, v, got)
			}
		}
	}
	if got := fmt.Sprint(sign.PrivateKey{}); got != "no private key" {
		t.Errorf("zero key prints %q", got)
	}
}

func FuzzParse(f *testing.F) {
	key := sign.DeriveKey([]byte("fuzz"), "")
	f.Add(key.Public().String())
	f.Add(key.Sign(nil).String())
	f.Add(strings.ToUpper(key.Public().String()))
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := sign.ParsePublicKey(s); err == nil && k.String() != s {
			t.Errorf("public key %q prints as %v", s, k)
		}
		if g, err := sign.ParseSignature(s); err == nil && g.String() != s {
			t.Errorf("signature %q prints as %v", s, g)
		}
	})
}

// FuzzVerify: whatever we accept, crypto/ed25519 accepts.
func FuzzVerify(f *testing.F) {
	var all ed25519Vectors
	vectors(f, "sign/ed25519.json", &all)
	if len(all.Cases) == 0 {
		f.Fatal("no seeds")
	}
	for _, c := range all.Cases {
		f.Add(unhex(f, c.Key), unhex(f, c.Message), unhex(f, c.Signature))
	}
	f.Fuzz(func(t *testing.T, key, msg, sig []byte) {
		if len(key) != 32 || len(sig) != 64 {
			return
		}
		v, err := sign.NewVerifier(sign.PublicKey(key))
		if err == nil && v.Verify(msg, sign.Signature(sig)) && !stded25519.Verify(key, msg, sig) {
			t.Errorf("key %x, message %x, signature %x: accepted here, refused by crypto/ed25519", key, msg, sig)
		}
	})
}
