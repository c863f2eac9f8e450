// Package chance makes fair numbers from a seed: dice, shuffles and draws that anyone with the same
// 32 bytes makes again, in any language.
//
// A Stream is made from a seed and a purpose, and asked for what a game needs:
//
//	s := chance.ForDraw(seed, 3)           // the stream of a match's draw number 3
//	dice := s.Dice(6, 2)                   // such as 4 and 1
//	s.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
//
// Streams of one seed with different purposes tell nothing about each other, so how much one draw
// takes never moves another. A Stream is an engine.Source.
//
// # The stream, version 1
//
// A stream is the blocks 0, 1, 2 … one after the other. Block i is
//
//	SHA-256( u64(16) ‖ "ludger/stream/v1" ‖ u64(32) ‖ seed ‖ u64(len) ‖ purpose ‖ u64(8) ‖ u64(i) )
//
// where u64 is eight bytes, big-endian, len is the number of bytes of the purpose, and texts are
// their UTF-8 bytes. (It is D of the ledger's formats over that label, the seed, the purpose and the
// number of the block.) The purpose of draw number n of a match, counted from 0, is "draw:" and n in
// decimal.
//
// Every number takes bytes from the front of what is left of the stream:
//
//	Intn(n)      w is the least number of bytes with 256^w ≥ n, so 0 for n = 1. Take w bytes as a
//	             big-endian number v. If v ≥ 256^w − (256^w mod n), throw v away and take the next
//	             w bytes; otherwise the result is v mod n.
//	Die(s)       1 + Intn(s)
//	Dice(s, k)   Die(s), k times, in this order
//	Shuffle(n)   for i = n−1, n−2, … 1: exchange the elements i and Intn(i+1)
//	Pick(n, k)   of the list 0, 1, … n−1, for i = 0, 1, … k−1: exchange the elements i and
//	             i + Intn(n−i); the result is the first k elements, in this order
//
// So Intn(256) is the next byte of the stream, one of six takes a byte and rejects 252 to 255, and a
// Chess960 start position, Intn(960), takes two bytes and rejects 65,280 and above.
//
// Nothing of this may change: another construction is another label.
package chance

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
)

const label = "ludger/stream/v1"

// A Stream gives the numbers of one seed and purpose, one after the other. It is not safe for
// concurrent use.
type Stream struct {
	input []byte // of the hash of the next block; its last eight bytes are the block's number
	block [sha256.Size]byte
	used  int // bytes of block
}

// New returns the stream of a seed and a purpose.
func New(seed [32]byte, purpose string) *Stream {
	input := make([]byte, 0, 8+len(label)+8+len(seed)+8+len(purpose)+8+8)
	input = append(binary.BigEndian.AppendUint64(input, uint64(len(label))), label...)
	input = append(binary.BigEndian.AppendUint64(input, uint64(len(seed))), seed[:]...)
	input = append(binary.BigEndian.AppendUint64(input, uint64(len(purpose))), purpose...)
	input = binary.BigEndian.AppendUint64(input, 8)
	input = binary.BigEndian.AppendUint64(input, 0)
	return &Stream{input: input, used: sha256.Size}
}

// ForDraw returns the stream of a match's draw number n, counted from 0.
func ForDraw(seed [32]byte, n int64) *Stream {
	return New(seed, "draw:"+strconv.FormatInt(n, 10))
}

func (s *Stream) next() byte {
	if s.used == len(s.block) {
		s.block = sha256.Sum256(s.input)
		s.used = 0
		number := s.input[len(s.input)-8:]
		binary.BigEndian.PutUint64(number, binary.BigEndian.Uint64(number)+1)
	}
	b := s.block[s.used]
	s.used++
	return b
}

// Intn returns each of 0 to n−1 with the same probability. It panics if n is not positive.
func (s *Stream) Intn(n int) int {
	if n <= 0 {
		panic(fmt.Sprintf("chance.Stream.Intn: no number from 0 to %d−1", n))
	}
	width := (bits.Len64(uint64(n-1)) + 7) / 8
	highest := uint64(1)<<(8*width) - 1 // 256^width − 1; a shift by 64 gives 0, so this holds for width 8
	excess := (highest%uint64(n) + 1) % uint64(n)
	for {
		v := uint64(0)
		for range width {
			v = v<<8 | uint64(s.next())
		}
		// Without the numbers above, all remainders are equally many.
		if v <= highest-excess {
			return int(v % uint64(n))
		}
	}
}

// Die returns the roll of a die with sides numbered from 1.
func (s *Stream) Die(sides int) int { return 1 + s.Intn(sides) }

// Dice returns count rolls of a die, in their order.
func (s *Stream) Dice(sides, count int) []int {
	rolls := make([]int, count)
	for i := range rolls {
		rolls[i] = s.Die(sides)
	}
	return rolls
}

// Shuffle puts n elements into an order, each of the n! with the same probability. It calls swap to
// exchange two elements, which may be the same one.
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, s.Intn(i+1))
	}
}

// Pick returns k different numbers of 0 to n−1, each choice and order of them with the same
// probability. It panics if k is not from 0 to n.
func (s *Stream) Pick(n, k int) []int {
	if k < 0 || k > n {
		panic(fmt.Sprintf("chance.Stream.Pick: %d of %d", k, n))
	}
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	for i := range k {
		j := i + s.Intn(n-i)
		list[i], list[j] = list[j], list[i]
	}
	return list[:k:k]
}
