package beacon

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"ludger/ledger/canon"
)

// An Info describes a chain. Infos are equal, by ==, if they describe the same chain.
type Info struct {
	Name      string // drand's beacon id
	Hash      Hash   // what the chain is known by
	Scheme    Scheme
	PublicKey string // lowercase hex
	Period    int64  // seconds from round to round
	Genesis   int64  // time of round 1 in Unix seconds
	GroupHash Hash   // drand's genesis seed
	Test      bool   // randomness that someone may know before its time
}

// LocalName is the name of every Local chain. A chain of this name must be marked as a test.
const LocalName = "ludger-test"

// Quicknet returns the League of Entropy's chain for unchained beacons every three seconds. It is the
// only chain compiled in.
func Quicknet() Info {
	return Info{
		Name: "quicknet",
		Hash: Hash{
			0x52, 0xdb, 0x9b, 0xa7, 0x0e, 0x0c, 0xc0, 0xf6, 0xea, 0xf7, 0x80, 0x3d, 0xd0, 0x74, 0x47, 0xa1,
			0xf5, 0x47, 0x77, 0x35, 0xfd, 0x3f, 0x66, 0x17, 0x92, 0xba, 0x94, 0x60, 0x0c, 0x84, 0xe9, 0x71,
		},
		Scheme:    UnchainedG1,
		PublicKey: "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a",
		Period:    3,
		Genesis:   1692803367,
		GroupHash: Hash{
			0xf4, 0x77, 0xd5, 0xc8, 0x9f, 0x21, 0xa1, 0x7c, 0x86, 0x3a, 0x7f, 0x93, 0x7c, 0x6a, 0x6d, 0x15,
			0x85, 0x94, 0x14, 0xd2, 0xbe, 0x09, 0xcd, 0x44, 0x8d, 0x42, 0x79, 0xaf, 0x33, 0x1c, 0x5d, 0x3e,
		},
	}
}

// Value returns the JSON form:
//
//	{"genesis":1692803367,"group_hash":"f4…","hash":"52…","name":"quicknet","period":3,
//	 "public_key":"83…","scheme":"bls-unchained-g1-rfc9380"}
//
// and "test":true with a test chain.
func (i Info) Value() canon.Value {
	m := []canon.Member{
		{Name: "genesis", Value: canon.NewInt(i.Genesis)},
		{Name: "group_hash", Value: canon.NewString(i.GroupHash.String())},
		{Name: "hash", Value: canon.NewString(i.Hash.String())},
		{Name: "name", Value: canon.NewString(i.Name)},
		{Name: "period", Value: canon.NewInt(i.Period)},
		{Name: "public_key", Value: canon.NewString(i.PublicKey)},
		{Name: "scheme", Value: canon.NewString(string(i.Scheme))},
	}
	if i.Test {
		m = append(m, canon.Member{Name: "test", Value: canon.NewBool(true)})
	}
	return canon.NewObject(m...)
}

// ParseInfo reads the canonical JSON form and checks it as far as hashing can: what it returns is as
// its hash and the chains compiled in say, but its key is only looked at by NewChain.
func ParseInfo(text []byte) (Info, error) {
	v, err := canon.ParseCanonical(text, canon.Limits{Bytes: MaxText, Depth: 1, Values: 9})
	if err != nil {
		return Info{}, err
	}
	return InfoOf(v)
}

// InfoOf is ParseInfo for a chain that stands as an object inside a larger text.
func InfoOf(v canon.Value) (Info, error) {
	f := v.Fields()
	i := Info{
		Name:      f.String("name", MaxName),
		Scheme:    Scheme(f.String("scheme", MaxName)),
		PublicKey: f.String("public_key", 2*maxKey),
		Period:    f.Int("period", 1, MaxPeriod),
		Genesis:   f.Int("genesis", 1, MaxSeconds),
		Test:      f.Flag("test"),
	}
	f.Hex("hash", i.Hash[:])
	f.Hex("group_hash", i.GroupHash[:])
	if err := f.Done(); err != nil {
		return Info{}, err
	}
	if _, err := i.check(); err != nil {
		return Info{}, err
	}
	return i, nil
}

// check returns the bytes of the public key if all but the key itself is right.
func (i Info) check() ([]byte, error) {
	if !checkName(i.Name) {
		return nil, &Error{"chain", StepBounds, fmt.Sprintf("name %q is not 1 to %d characters of a to z, 0 to 9, point, hyphen and underscore", i.Name[:min(len(i.Name), MaxName)], MaxName)}
	}
	refuse := func(step Step, format string, args ...any) ([]byte, error) {
		return nil, &Error{"chain " + i.Name, step, fmt.Sprintf(format, args...)}
	}
	if err := i.checkTimes(); err != nil {
		return nil, err
	}
	size := i.Scheme.KeySize()
	if size == 0 {
		return refuse(StepScheme, "scheme %q is not known here", string(i.Scheme[:min(len(i.Scheme), MaxName)]))
	}
	if len(i.PublicKey) != 2*size {
		return refuse(StepLength, "public key of %d characters is not the %d hex digits of scheme %s", len(i.PublicKey), 2*size, i.Scheme)
	}
	key := make([]byte, size)
	if !canon.DecodeHex(key, i.PublicKey) {
		return refuse(StepEncoding, "public key is not lowercase hex")
	}
	if hash := i.hash(key); hash != i.Hash {
		return refuse(StepHash, "hash is stated as %v, but period, genesis, key, group hash and name give %v", i.Hash, hash)
	}
	if q := Quicknet(); i != q && (i.Name == q.Name || i.Hash == q.Hash || i.PublicKey == q.PublicKey) {
		return refuse(StepPin, "it is not what is known as %s, and shares its name, hash or key", q.Name)
	}
	if i.Name == LocalName && !i.Test {
		return refuse(StepPin, "a chain of this name is a test, and says it is not")
	}
	return key, nil
}

func checkName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '_') {
			return false
		}
	}
	return len(name) > 0 && len(name) <= MaxName
}

// hash computes the chain's hash as drand does: of the fields in the order of the package's comment.
func (i Info) hash(key []byte) Hash {
	b := binary.BigEndian.AppendUint32(nil, uint32(i.Period))
	b = binary.BigEndian.AppendUint64(b, uint64(i.Genesis))
	b = append(append(b, key...), i.GroupHash[:]...)
	if i.Name != "default" {
		b = append(b, i.Name...)
	}
	return sha256.Sum256(b)
}

func (i Info) checkTimes() error {
	switch {
	case i.Period < 1 || i.Period > MaxPeriod:
		return &Error{"chain " + i.Name, StepBounds, fmt.Sprintf("period of %d s is not from 1 to %d", i.Period, MaxPeriod)}
	case i.Genesis < 1 || i.Genesis > MaxSeconds:
		return &Error{"chain " + i.Name, StepBounds, fmt.Sprintf("genesis at %d s is not from 1 to %d", i.Genesis, int64(MaxSeconds))}
	}
	return nil
}

// TimeOf returns when a round is due, in Unix milliseconds: genesis + (round−1)·period. Rounds begin
// at 1, and the time of the last one is within what a JSON number holds.
func (i Info) TimeOf(round int64) (int64, error) {
	if err := i.checkTimes(); err != nil {
		return 0, err
	}
	if last := (maxMilli-i.Genesis*1000)/(i.Period*1000) + 1; round < 1 || round > last {
		return 0, &Error{"chain " + i.Name, StepRound, fmt.Sprintf("round %d is not from 1 to %d", round, last)}
	}
	return (i.Genesis + (round-1)*i.Period) * 1000, nil
}

// RoundAt returns the newest round that is due at a time in Unix milliseconds: the round R with
// time(R) ≤ now < time(R+1). Before round 1 there is none, and the error wraps ErrBeforeGenesis.
func (i Info) RoundAt(now int64) (int64, error) {
	if err := i.checkTimes(); err != nil {
		return 0, err
	}
	switch first := i.Genesis * 1000; {
	case now < first:
		return 0, fmt.Errorf("chain %s: %d ms is %w at %d ms", i.Name, now, ErrBeforeGenesis, first)
	case now > maxMilli:
		return 0, &Error{"chain " + i.Name, StepBounds, fmt.Sprintf("time of %d ms exceeds %d", now, int64(maxMilli))}
	default:
		return (now-first)/(i.Period*1000) + 1, nil
	}
}

// A Chain checks beacons. It holds about 50 KiB of precomputed values, takes half a beacon's check to
// make, and is safe for concurrent use.
type Chain struct {
	info Info
	key  key
}

// NewChain checks a chain by the package's rule and prepares its key.
func NewChain(info Info) (*Chain, error) {
	b, err := info.check()
	if err != nil {
		return nil, err
	}
	k, f := newKey(info.Scheme, b)
	if f != nil {
		return nil, &Error{"chain " + info.Name, f.step, "public key " + f.reason}
	}
	return &Chain{info, k}, nil
}

// ParseChain is ParseInfo and NewChain.
func ParseChain(text []byte) (*Chain, error) {
	info, err := ParseInfo(text)
	if err != nil {
		return nil, err
	}
	return NewChain(info)
}

// Info returns the chain's description.
func (c *Chain) Info() Info { return c.info }

// Verify checks the signature of a round by the package's rule and returns the round's random number.
// A chain with a chained scheme needs VerifyLinked.
func (c *Chain) Verify(round int64, signature []byte) (randomness [32]byte, err error) {
	return c.verify(round, nil, signature, false)
}

// VerifyLinked is Verify for a chained scheme, where the signature of the round before is part of the
// message; for round 1 it is the chain's group hash. The previous signature itself is not checked.
func (c *Chain) VerifyLinked(round int64, previous, signature []byte) (randomness [32]byte, err error) {
	return c.verify(round, previous, signature, true)
}

func (c *Chain) verify(round int64, previous, signature []byte, linked bool) (randomness [32]byte, err error) {
	scheme, size := c.info.Scheme, c.info.Scheme.SignatureSize()
	refuse := func(step Step, format string, args ...any) ([32]byte, error) {
		return [32]byte{}, &Error{fmt.Sprintf("round %d of chain %s", round, c.info.Name), step, fmt.Sprintf(format, args...)}
	}
	if _, err := c.info.TimeOf(round); err != nil {
		return randomness, err
	}
	switch {
	case scheme.Chained() && !linked:
		return refuse(StepPrevious, "scheme %s signs the previous signature too, and none is given", scheme)
	case !scheme.Chained() && linked:
		return refuse(StepPrevious, "scheme %s signs no previous signature, and one is given", scheme)
	case linked && round == 1 && string(previous) != string(c.info.GroupHash[:]):
		return refuse(StepPrevious, "what comes before round 1 is the group hash, not what is given")
	case linked && round > 1 && len(previous) != size:
		return refuse(StepPrevious, "previous signature of %d bytes is not %d", len(previous), size)
	case len(signature) != size:
		return refuse(StepLength, "signature of %d bytes is not %d", len(signature), size)
	}
	message := binary.BigEndian.AppendUint64(slices.Clone(previous), uint64(round))
	if f := c.key.verify(message, signature); f != nil {
		return refuse(f.step, "signature %s", f.reason)
	}
	return sha256.Sum256(signature), nil
}

// ParseSignature reads a signature of the scheme's size from lowercase hex.
func (s Scheme) ParseSignature(text string) ([]byte, error) {
	b := make([]byte, s.SignatureSize())
	if len(text) != 2*len(b) {
		return nil, &Error{"signature", StepLength, fmt.Sprintf("%d characters are not the %d hex digits of scheme %s", len(text), 2*len(b), s)}
	}
	if !canon.DecodeHex(b, text) {
		return nil, &Error{"signature", StepEncoding, "it is not lowercase hex"}
	}
	return b, nil
}
