package sign

import (
	stded25519 "crypto/ed25519"
	"testing"
)

// BenchmarkVerify compares one check on one core with the standard library's.
func BenchmarkVerify(b *testing.B) {
	key := DeriveKey([]byte("benchmark"), "verify")
	msg := MoveMessage("a64f2b0e", 17, [32]byte{1, 2, 3})
	sig := key.Sign(msg)
	v, err := NewVerifier(key.Public())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("sign", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !v.Verify(msg, sig) {
				b.Fatal("refused")
			}
		}
	})
	pub := key.Public()
	b.Run("crypto-ed25519", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !stded25519.Verify(pub[:], msg, sig[:]) {
				b.Fatal("refused")
			}
		}
	})
	b.Run("new-verifier", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := NewVerifier(pub); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("make-signature", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			key.Sign(msg)
		}
	})
}
