package sign_test

import (
	stded25519 "crypto/ed25519"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"filippo.io/edwards25519"

	"ludger/ledger/sign"
	"ludger/testvectors"
)

// ed25519Vectors is testvectors/sign/ed25519.json: signatures made to divide libraries.
type ed25519Vectors struct {
	About string        `json:"about"`
	Cases []ed25519Case `json:"cases"`
}

type ed25519Case struct {
	Name      string `json:"name"`
	Key       string `json:"key"`
	Message   string `json:"message"`
	Signature string `json:"signature"`
	Verdict   string `json:"verdict"` // accept or reject
	Step      string `json:"step"`    // what must catch it: key, S, R, equation; "" if accepted
	Go        bool   `json:"go"`      // what crypto/ed25519 says
	Why       string `json:"why"`
}

// crafter builds signatures from scalars and points.
type crafter struct {
	t     *testing.T
	a     *edwards25519.Scalar // private
	A     *edwards25519.Point  // [a]B
	r     *edwards25519.Scalar // nonce
	R     *edwards25519.Point  // [r]B
	T     *edwards25519.Point  // a point of order 8
	cases []ed25519Case
}

func newCrafter(t *testing.T) *crafter {
	c := &crafter{t: t}
	c.a, c.r = c.scalar("a"), c.scalar("r")
	c.A = new(edwards25519.Point).ScalarBaseMult(c.a)
	c.R = new(edwards25519.Point).ScalarBaseMult(c.r)
	// [L]P of a random point is of small order; L is one more than the largest scalar.
	for i := 0; c.T == nil; i++ {
		h := sha512.Sum512(fmt.Append(nil, "torsion", i))
		p, err := new(edwards25519.Point).SetBytes(h[:32])
		if err != nil {
			continue
		}
		q := new(edwards25519.Point).ScalarMult(c.negate(c.int(1)), p)
		q.Add(q, p)
		if c.mul(4, q).Equal(edwards25519.NewIdentityPoint()) == 0 {
			c.T = q
		}
	}
	return c
}

func (c *crafter) scalar(name string) *edwards25519.Scalar {
	h := sha512.Sum512([]byte("ludger test vectors " + name))
	s, err := edwards25519.NewScalar().SetUniformBytes(h[:])
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *crafter) int(n byte) *edwards25519.Scalar {
	s, err := edwards25519.NewScalar().SetCanonicalBytes(append([]byte{n}, make([]byte, 31)...))
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *crafter) negate(s *edwards25519.Scalar) *edwards25519.Scalar {
	return edwards25519.NewScalar().Negate(s)
}

func (c *crafter) mul(n byte, p *edwards25519.Point) *edwards25519.Point {
	return new(edwards25519.Point).ScalarMult(c.int(n), p)
}

func (c *crafter) plus(p, q *edwards25519.Point) *edwards25519.Point {
	return new(edwards25519.Point).Add(p, q)
}

// challenge is k of RFC 8032 section 5.1.7.
func (c *crafter) challenge(R, A, msg []byte) *edwards25519.Scalar {
	h := sha512.New()
	h.Write(R)
	h.Write(A)
	h.Write(msg)
	k, err := edwards25519.NewScalar().SetUniformBytes(h.Sum(nil))
	if err != nil {
		c.t.Fatal(err)
	}
	return k
}

// sign returns R followed by S = r + k·a.
func (c *crafter) sign(R, A, msg []byte, r *edwards25519.Scalar) []byte {
	s := edwards25519.NewScalar().MultiplyAdd(c.challenge(R, A, msg), c.a, r)
	return append(append([]byte(nil), R...), s.Bytes()...)
}

// fits tries numbered messages until the low three bits of k are those wanted: with a key A + T, the
// equation then gives R the torsion that was prepared.
func (c *crafter) fits(R, A []byte, bits byte) []byte {
	for i := 0; ; i++ {
		msg := fmt.Appendf(nil, "ludger speccheck %d", i)
		if c.challenge(R, A, msg).Bytes()[0]&7 == bits {
			return msg
		}
	}
}

func (c *crafter) add(name, step, why string, key, msg, sig []byte) {
	verdict := "reject"
	if step == "" {
		verdict = "accept"
	}
	c.cases = append(c.cases, ed25519Case{
		Name: name, Key: hex.EncodeToString(key), Message: hex.EncodeToString(msg), Signature: hex.EncodeToString(sig),
		Verdict: verdict, Step: step, Go: stded25519.Verify(key, msg, sig), Why: why,
	})
}

// addL adds L, little-endian, to S n times.
func addL(sig []byte, n int) []byte {
	order := [32]byte{0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 31: 0x10}
	out := append([]byte(nil), sig...)
	for range n {
		carry := 0
		for i := range order {
			carry += int(out[32+i]) + int(order[i])
			out[32+i], carry = byte(carry), carry>>8
		}
	}
	return out
}

// small returns all encodings of the eight points of small order that decoders read: the canonical
// ones in the order of the multiples of T, then those with y not below p or with a sign at x = 0.
func (c *crafter) small() (canonical, other [][]byte) {
	seen := map[string]bool{}
	for i := range byte(8) {
		e := c.mul(i, c.T).Bytes()
		canonical = append(canonical, e)
		seen[string(e)] = true
	}
	for _, e := range canonical {
		var candidates [][]byte
		sign := append([]byte(nil), e...)
		sign[31] ^= 0x80
		candidates = append(candidates, sign)
		// y + p, if it fits in 255 bits: y is below 19.
		if e[0] < 19 && [30]byte(e[1:31]) == [30]byte{} && e[31]&0x7f == 0 {
			over := make([]byte, 32)
			for i := range over {
				over[i] = 0xff
			}
			over[0], over[31] = 0xed+e[0], 0x7f
			negative := append([]byte(nil), over...)
			negative[31] = 0xff
			candidates = append(candidates, over, negative)
		}
		for _, o := range candidates {
			if p, err := new(edwards25519.Point).SetBytes(o); err == nil && !seen[string(o)] &&
				new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1 {
				seen[string(o)] = true
				other = append(other, o)
			}
		}
	}
	return canonical, other
}

func (c *crafter) build() {
	A, R, msg := c.A.Bytes(), c.R.Bytes(), []byte("ludger speccheck")
	good := c.sign(R, A, msg, c.r)
	c.add("valid", "", "an honest signature", A, msg, good)
	c.add("valid, empty message", "", "an honest signature", A, nil, c.sign(R, A, nil, c.r))
	c.add("other message", "equation", "signed for another message", A, []byte("ludger"), good)
	for n := 1; n <= 14; n++ {
		c.add(fmt.Sprintf("S + %d L", n), "S", "S is not below L", A, msg, addL(good, n))
	}
	zero := append(append([]byte(nil), R...), make([]byte, 32)...)
	c.add("S = L", "S", "S is not below L", A, msg, addL(zero, 1))
	c.add("S = 0", "equation", "no signature", A, msg, zero)

	canonical, other := c.small()
	for i, e := range canonical {
		step, why := "equation", "R is of small order and not what the equation gives: only with a cofactor it fits"
		if i == 0 {
			step, why = "R", "the equation holds, and R is the identity: S is k·a, and many messages share R"
		}
		c.add(fmt.Sprintf("R of small order %d", i), step, why, A, msg, c.sign(e, A, msg, c.int(0)))
	}
	for i, e := range other {
		c.add(fmt.Sprintf("R of small order, not canonical %d", i), "equation", "R is not canonical: only decoded it fits",
			A, msg, c.sign(e, A, msg, c.int(0)))
	}
	mixed := c.plus(c.R, c.T).Bytes()
	c.add("R of mixed order", "equation", "R has a part of small order: only with a cofactor it fits", A, msg, c.sign(mixed, A, msg, c.r))

	for i, e := range append(append([][]byte(nil), canonical...), other...) {
		// With k a multiple of eight, [k]A vanishes and S = r fits whatever the message.
		m := c.fits(R, e, 0)
		name := "key of small order"
		if i >= len(canonical) {
			name += ", not canonical"
		}
		c.add(fmt.Sprintf("%s %d", name, i), "key", "anyone signs for a key of small order", e, m, append(append([]byte(nil), R...), c.r.Bytes()...))
	}
	K := c.plus(c.A, c.T).Bytes()
	m := c.fits(R, K, 0)
	c.add("key of mixed order, k a multiple of 8", "key", "the key has a part of small order, which k takes away", K, m, c.sign(R, K, m, c.r))
	m = c.fits(R, K, 3)
	c.add("key of mixed order", "key", "the key has a part of small order: only with a cofactor it fits", K, m, c.sign(R, K, m, c.r))
	mixed = c.plus(c.R, c.mul(3, c.T)).Bytes()
	m = c.fits(mixed, K, 5) // 3 + 5 = 8, so R − [k](A + T) loses its part of small order
	c.add("key and R of mixed order", "key", "the parts of small order are equal on both sides", K, m, c.sign(mixed, K, m, c.r))

	for y := range byte(19) {
		over := make([]byte, 32)
		for i := range over {
			over[i] = 0xff
		}
		over[0], over[31] = 0xed+y, 0x7f
		for _, sign := range []byte{0x7f, 0xff} {
			over[31] = sign
			if p, err := new(edwards25519.Point).SetBytes(over); err == nil &&
				new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 0 {
				c.add(fmt.Sprintf("key with y = p + %d, sign %d", y, sign>>7), "key", "the key's y is not below p",
					append([]byte(nil), over...), msg, good)
			}
		}
	}
	c.add("key not on the curve", "key", "no point has y = 2", append([]byte{2}, make([]byte, 31)...), msg, good)
	c.add("key not on the curve, all ones", "key", "y is not below p, and on no point", bytesOf(0xff), msg, good)
}

func bytesOf(b byte) []byte {
	out := make([]byte, 32)
	for i := range out {
		out[i] = b
	}
	return out
}

// TestVectors builds the cases again, compares them with the file, and judges them.
// LUDGER_UPDATE=1 writes the file.
func TestVectors(t *testing.T) {
	c := newCrafter(t)
	c.build()
	built, err := json.MarshalIndent(ed25519Vectors{"Ed25519 signatures on which libraries differ, and the verdict of package ledger/sign", c.cases}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	built = append(built, '\n')
	if os.Getenv("LUDGER_UPDATE") != "" {
		if err := os.WriteFile("../../testvectors/sign/ed25519.json", built, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if file, err := testvectors.FS.ReadFile("sign/ed25519.json"); err != nil || string(file) != string(built) {
		t.Fatalf("testvectors/sign/ed25519.json is not what this test builds (%v)", err)
	}

	steps := map[string]int{}
	stricter := 0
	for _, k := range c.cases {
		steps[k.Step]++
		if k.Go && k.Verdict == "reject" {
			stricter++
		}
		if !k.Go && k.Verdict == "accept" {
			t.Errorf("%s: crypto/ed25519 refuses what we accept", k.Name)
		}
		v, err := sign.NewVerifier(sign.PublicKey(unhex(t, k.Key)))
		if err != nil {
			if k.Step != "key" {
				t.Errorf("%s: %v", k.Name, err)
			}
			if !errors.Is(err, sign.ErrEncoding) && !errors.Is(err, sign.ErrSmallOrder) && !errors.Is(err, sign.ErrSubgroup) {
				t.Errorf("%s: error %v is none of the three", k.Name, err)
			}
			continue
		}
		if k.Step == "key" {
			t.Errorf("%s: the key passes", k.Name)
		}
		if got := v.Verify(unhex(t, k.Message), sign.Signature(unhex(t, k.Signature))); got != (k.Verdict == "accept") {
			t.Errorf("%s: %v, want %s by %s", k.Name, got, k.Verdict, k.Step)
		}
	}
	// The three ways in which crypto/ed25519 is laxer: keys of small and of mixed order, R the identity.
	if stricter < 10 || steps[""] < 2 || steps["S"] < 10 || steps["R"] != 1 || steps["key"] < 20 {
		t.Errorf("%d cases that only we refuse, by step %v: the cases do not test what they should", stricter, steps)
	}
}

// TestSmallOrderTable: the identity is the only point of small order in the prime-order subgroup,
// which Verify relies on.
func TestSmallOrderTable(t *testing.T) {
	canonical, other := newCrafter(t).small()
	if len(canonical) != 8 || len(other) != 6 {
		t.Errorf("%d canonical and %d other encodings of small order, want 8 and 6", len(canonical), len(other))
	}
	for i, e := range append(canonical, other...) {
		_, err := sign.NewVerifier(sign.PublicKey(e))
		want := sign.ErrSmallOrder
		if i >= 8 {
			want = sign.ErrEncoding
		}
		if !errors.Is(err, want) {
			t.Errorf("key %x: %v, want %v", e, err, want)
		}
	}
}
