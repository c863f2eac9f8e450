package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"

	"ludger/checkpoint"
)

type policyVectors struct {
	About   string       `json:"about"`
	Valid   []policyCase `json:"valid"`
	Invalid []badPolicy  `json:"invalid"`
	Checks  []checkCase  `json:"checks"`
	// Notes that are wrong under the policy, whatever its quorum.
	Refused []refusedCase `json:"refused"`
}

type policyCase struct {
	Policy    string `json:"policy"`
	Canonical string `json:"canonical"` // as Format prints it
}

type badPolicy struct {
	Policy string `json:"policy"`
	Line   int    `json:"line"` // 0: only the end of the file tells
	Why    string `json:"why"`
}

type checkCase struct {
	Policy   string         `json:"policy"`
	Note     string         `json:"note"`
	Log      string         `json:"log"` // vkey
	Origin   string         `json:"origin"`
	Size     int64          `json:"size"`
	Cosigned []cosignedCase `json:"cosigned"`
	Missing  []string       `json:"missing"`
	Unknown  int            `json:"unknown"`
	Quorum   string         `json:"quorum"`
	Met      bool           `json:"met"`
}

type cosignedCase struct {
	Witness string `json:"witness"`
	Seconds int64  `json:"seconds"`
}

type refusedCase struct {
	Policy string `json:"policy"`
	Note   string `json:"note"`
	Why    string `json:"why"`
}

func TestVectorsPolicies(t *testing.T) {
	v := policyVectors{About: "C2SP tlog-policy with Ed25519 logs and witnesses"}
	log, rotated, other := signer(t, origin, 1), signer(t, origin, 2), signer(t, "example.com/other", 3)
	w1, w2, w3 := witnessKey(t, "w1.example", 11), witnessKey(t, "w2.example", 12), witnessKey(t, "w3.example/ö", 13)
	logLine := "log " + log.Verifier().String() + "\n"
	witnesses := fmt.Sprintf("witness W1 %s\nwitness W2 %s\nwitness W3 %s\n", w1, w2, w3)

	for _, policy := range []string{
		logLine + "quorum none\n",
		"# trust\n\n \t\n" + strings.Replace(logLine, " ", " \t ", 1) + "\t# more\n quorum\tnone \n",
		"log " + log.Verifier().String() + " https://example.com/log/#a\nquorum none\n",
		logLine + "witness W1 " + w1.String() + " https://w1.example/\nquorum W1\n",
		logLine + witnesses + "group G any W1 W2 W3\nquorum G\n",
		logLine + witnesses + "group G 2 W1 W2 W3\nquorum G\n",
		logLine + witnesses + "group A all W1 W2\ngroup B any A W3\nquorum B\n",
		"witness any " + w1.String() + "\ngroup all all any\nquorum all\n" + logLine,
		"log " + rotated.Verifier().String() + "\n" + logLine + "log " + other.Verifier().String() + "\nquorum none\n",
		logLine + "witness #1 " + w1.String() + "\nquorum #1\n",
	} {
		p, err := checkpoint.ParsePolicy([]byte(policy))
		if err != nil {
			t.Fatalf("%q: %v", policy, err)
		}
		canonical := p.Format()
		if again, err := checkpoint.ParsePolicy(canonical); err != nil || !bytes.Equal(again.Format(), canonical) {
			t.Errorf("%q prints %q, which is not read back: %v", policy, canonical, err)
		}
		v.Valid = append(v.Valid, policyCase{policy, string(canonical)})
	}
	if p, err := checkpoint.NewPolicy(log.Verifier()); err != nil || string(p.Format()) != v.Valid[0].Canonical {
		t.Errorf("NewPolicy makes %v, %v", p, err)
	}
	if _, err := checkpoint.NewPolicy(w1); err == nil {
		t.Error("NewPolicy took the key of a witness as a log's")
	}

	no := func(line int, why, policy string) { v.Invalid = append(v.Invalid, badPolicy{policy, line, why}) }
	no(0, "empty", "")
	no(0, "no quorum", logLine)
	no(0, "no log", "quorum none\n")
	no(2, "the last line has no newline", logLine+"quorum none")
	no(1, "a carriage return", strings.ReplaceAll(logLine+"quorum none\n", "\n", "\r\n"))
	no(1, "a control character in a comment", "# \x01\n"+logLine+"quorum none\n")
	no(1, "the control character 0x7f", "# \x7f\n"+logLine+"quorum none\n")
	no(2, "an unknown word", logLine+"cosigner x\nquorum none\n")
	no(2, "capital letters", logLine+"Quorum none\n")
	no(3, "a second quorum", logLine+"quorum none\nquorum none\n")
	no(2, "quorum of an unknown name", logLine+"quorum W1\n")
	no(1, "quorum of a later line", "quorum W1\nwitness W1 "+w1.String()+"\n"+logLine)
	no(2, "quorum without a name", logLine+"quorum\n")
	no(2, "quorum of two names", logLine+"quorum none none\n")
	no(1, "log without a key", "log\nquorum none\n")
	no(1, "log with a word too many", "log "+log.Verifier().String()+" a b\nquorum none\n")
	no(1, "log with a broken key", "log x"+log.Verifier().String()+"\nquorum none\n")
	no(1, "log with the key of a witness", "log "+w1.String()+"\nquorum none\n")
	no(2, "the same log twice", logLine+logLine+"quorum none\n")
	no(2, "the same public key under two names", logLine+"log "+signer(t, "x", 1).Verifier().String()+"\nquorum none\n")
	twin := func(n uint64) string { // seeds 1497 and 55170 give keys of one key ID
		var seed [32]byte
		binary.BigEndian.PutUint64(seed[:], n)
		s, err := checkpoint.NewSigner(origin, seed)
		if err != nil {
			t.Fatal(err)
		}
		return s.Verifier().String()
	}
	no(2, "two keys of one name and key ID", "log "+twin(1497)+"\nlog "+twin(55170)+"\nquorum none\n")
	no(2, "witness without a key", logLine+"witness W1\nquorum none\n")
	no(2, "witness with the key of a log", logLine+"witness W1 "+other.Verifier().String()+"\nquorum none\n")
	no(3, "two witnesses of one name", logLine+"witness W1 "+w1.String()+"\nwitness W1 "+w2.String()+"\nquorum none\n")
	no(3, "one public key for two witnesses", logLine+"witness W1 "+w1.String()+"\nwitness W2 "+witnessKey(t, "x", 11).String()+"\nquorum none\n")
	no(2, "witness of the reserved name", logLine+"witness none "+w1.String()+"\nquorum none\n")
	group := func(why, lines string) {
		no(4+strings.Count(lines, "\n"), why, logLine+witnesses+lines+"quorum none\n")
	}
	group("group of the reserved name", "group none any W1\n")
	group("group of a name that is taken", "group W1 any W2\n")
	group("group without members", "group G any\n")
	group("group without a threshold", "group G W1\n")
	group("group of itself", "group G any G\n")
	group("group of an unknown name", "group G any W4\n")
	group("group of none", "group G any none\n")
	group("threshold 0", "group G 0 W1\n")
	group("threshold above the count", "group G 3 W1 W2\n")
	group("threshold with a leading zero", "group G 01 W1\n")
	group("threshold with a sign", "group G +1 W1\n")
	group("negative threshold", "group G -1 W1\n")
	group("threshold of another word", "group G most W1\n")
	group("a member twice", "group G any W1 W1\n")
	group("a member of two groups", "group G any W1 W2\ngroup H any W2 W3\n")

	signed := log.Sign(7, root(9))
	by := func(signed []byte, names ...string) []byte {
		for _, name := range names {
			n := byte(11 + strings.Index("w1w2w3w4", name[:2])/2)
			signed = cosign(t, signed, name, n, 1_700_000_000+int64(n))
		}
		return signed
	}
	nested := logLine + witnesses + "group A all W1 W2\ngroup B any A W3\nquorum B\n"
	for _, c := range []struct {
		policy string
		note   []byte
	}{
		{logLine + "quorum none\n", signed},
		{logLine + "quorum none\n", by(signed, "w1.example")},
		{logLine + witnesses + "quorum W2\n", by(signed, "w1.example")},
		{logLine + witnesses + "quorum W2\n", by(signed, "w2.example", "w1.example")},
		{nested, signed},
		{nested, by(signed, "w1.example")},
		{nested, by(signed, "w2.example", "w1.example", "w4.example")},
		{nested, by(signed, "w3.example/ö")},
		{v.Valid[8].Policy, rotated.Sign(7, root(9))},
		{v.Valid[8].Policy, other.Sign(0, root(9))},
		{nested, cosign(t, cosign(t, signed, "w1.example", 11, 0), "w2.example", 12, 1<<63-1)},
	} {
		p, err := checkpoint.ParsePolicy([]byte(c.policy))
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Check(c.note)
		if err != nil {
			t.Fatalf("%q under %q: %v", c.note, c.policy, err)
		}
		out := checkCase{
			Policy: c.policy, Note: string(c.note), Log: r.Log.String(), Origin: r.Checkpoint.Origin, Size: r.Checkpoint.Size,
			Cosigned: []cosignedCase{}, Missing: append([]string{}, r.Missing...), Unknown: r.Unknown, Quorum: r.Quorum, Met: r.QuorumMet,
		}
		for _, w := range r.Cosigned {
			out.Cosigned = append(out.Cosigned, cosignedCase(w))
		}
		v.Checks = append(v.Checks, out)
	}
	refuse := func(why, policy string, note []byte) {
		v.Refused = append(v.Refused, refusedCase{policy, string(note), why})
	}
	cosignedOnce := by(signed, "w1.example")
	refuse("signed by another log", v.Valid[0].Policy, other.Sign(7, root(9)))
	refuse("signed by another key of the same name", v.Valid[0].Policy, rotated.Sign(7, root(9)))
	refuse("signed by a witness only", nested, bytes.Replace(cosignedOnce, signed[bytes.Index(signed, []byte("—")):], nil, 1))
	refuse("the size was changed", nested, bytes.Replace(signed, []byte("\n7\n"), []byte("\n8\n"), 1))
	refuse("a witness's signature was changed", nested, flip(cosignedOnce, len(cosignedOnce)-30))
	refuse("a witness's time was changed", nested, flip(cosignedOnce, bytes.LastIndexByte(cosignedOnce, ' ')+12))
	refuse("a witness's signature was cut to that of a log", nested, cosignLine(t, signed, w1, make([]byte, 64)))
	refuse("a witness's time beyond 2^63-1", nested, cosign(t, signed, "w1.example", 11, -1))
	refuse("one witness twice", nested, by(cosignedOnce, "w1.example"))
	refuse("two logs sign one checkpoint", v.Valid[8].Policy, append(bytes.Clone(signed), signatureOf(t, other, signed)...))
	refuse("no note", nested, []byte("nothing"))
	compareVectors(t, "checkpoint/policies.json", v)

	readVectors(t, "checkpoint/policies.json", &v)
	for _, c := range v.Valid {
		if p, err := checkpoint.ParsePolicy([]byte(c.Policy)); err != nil || string(p.Format()) != c.Canonical {
			t.Errorf("%q: %v", c.Policy, err)
		}
	}
	for _, c := range v.Invalid {
		_, err := checkpoint.ParsePolicy([]byte(c.Policy))
		if err == nil {
			t.Errorf("%q was read, but: %s", c.Policy, c.Why)
			continue
		}
		want := fmt.Sprintf("line %d: ", c.Line)
		if c.Line == 0 {
			want = "policy "
		}
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %q does not begin with %q", c.Why, err, want)
		}
	}
	for _, c := range v.Checks {
		p, err := checkpoint.ParsePolicy([]byte(c.Policy))
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Check([]byte(c.Note))
		if err != nil || r.Log.String() != c.Log || r.Checkpoint.Origin != c.Origin || r.Checkpoint.Size != c.Size || r.Unknown != c.Unknown || r.Quorum != c.Quorum || r.QuorumMet != c.Met || !reflect.DeepEqual(append([]string{}, r.Missing...), c.Missing) || len(r.Cosigned) != len(c.Cosigned) {
			t.Errorf("%q under %q: %+v, %v", c.Note, c.Policy, r, err)
			continue
		}
		for i, w := range r.Cosigned {
			if cosignedCase(w) != c.Cosigned[i] {
				t.Errorf("%q under %q: cosigned %+v", c.Note, c.Policy, w)
			}
		}
		if strings.Count(c.Policy, "log ") > 1 {
			continue // torchwood asks for the signatures of all logs
		}
		if theirs, err := torchwood.ParsePolicy([]byte(c.Policy)); err != nil {
			t.Errorf("torchwood refuses %q: %v", c.Policy, err)
		} else if _, _, err := torchwood.VerifyCheckpoint([]byte(c.Note), theirs); (err == nil) != c.Met {
			t.Errorf("torchwood: %v for %q under %q", err, c.Note, c.Policy)
		}
	}
	for _, c := range v.Refused {
		p, err := checkpoint.ParsePolicy([]byte(c.Policy))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := p.Check([]byte(c.Note)); err == nil {
			t.Errorf("%q under %q gives %+v, but: %s", c.Note, c.Policy, r, c.Why)
		}
	}
	if _, err := checkpoint.ParsePolicy(bytes.Repeat([]byte("#\n"), checkpoint.MaxPolicy/2+1)); err == nil {
		t.Error("a policy too large was read")
	}
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	if b[at]++; b[at] > 'y' || b[at] == '0' {
		b[at] = 'a'
	}
	return b
}

// cosignLine adds a line that claims to be of key v.
func cosignLine(t testing.TB, signed []byte, v *checkpoint.Verifier, b []byte) []byte {
	t.Helper()
	n, err := checkpoint.ParseNote(signed)
	if err != nil {
		t.Fatal(err)
	}
	n.Signatures = append(n.Signatures, checkpoint.Signature{Name: v.Name(), ID: v.ID(), Bytes: b})
	return n.Format()
}

// signatureOf returns the line with which another log signs the text of a note.
func signatureOf(t testing.TB, s *checkpoint.Signer, signed []byte) []byte {
	t.Helper()
	n, err := checkpoint.ParseNote(signed)
	if err != nil {
		t.Fatal(err)
	}
	ns, err := note.NewSigner(s.Secret())
	if err != nil {
		t.Fatal(err)
	}
	out, err := note.Sign(&note.Note{Text: string(n.Text)}, ns)
	if err != nil {
		t.Fatal(err)
	}
	return out[bytes.Index(out, []byte("—")):]
}

// TestQuorumExhaustive tries every subset of six witnesses against nested groups, and compares with
// a count by hand and with another implementation.
func TestQuorumExhaustive(t *testing.T) {
	log := signer(t, origin, 1)
	text := "log " + log.Verifier().String() + "\n"
	var names []string
	for i := range 6 {
		names = append(names, fmt.Sprintf("w%d", i))
		text += fmt.Sprintf("witness %s %s https://%[1]s.example/\n", names[i], witnessKey(t, names[i], byte(20+i)))
	}
	text += "group X 2 w0 w1 w2\ngroup Y any w3 w4\ngroup XY all X Y\ngroup Z any XY w5\nquorum Z\n"
	ours, err := checkpoint.ParsePolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	torch, err := torchwood.ParsePolicy(ours.Format())
	if err != nil {
		t.Fatal(err)
	}
	signed := log.Sign(3, root(3))
	for set := range 1 << 6 {
		has := func(i int) int { return set >> i & 1 }
		cosigned := signed
		var in, out []string
		for i, name := range names {
			if has(i) == 1 {
				cosigned = cosign(t, cosigned, name, byte(20+i), int64(set))
				in = append(in, name)
			} else {
				out = append(out, name)
			}
		}
		want := has(0)+has(1)+has(2) >= 2 && has(3)+has(4) >= 1 || has(5) == 1
		r, err := ours.Check(cosigned)
		if err != nil || r.QuorumMet != want || r.Unknown != 0 || !reflect.DeepEqual(r.Missing, out) || len(r.Cosigned) != len(in) {
			t.Errorf("cosigned by %v: %+v, %v; want met = %v", in, r, err, want)
		}
		if _, _, err := torchwood.VerifyCheckpoint(cosigned, torch); (err == nil) != want {
			t.Errorf("cosigned by %v: torchwood says %v, want met = %v", in, err, want)
		}
	}
}

// TestPolicyLimits reads the largest policy and refuses one line of each kind more.
func TestPolicyLimits(t *testing.T) {
	var logs, witnesses, groups strings.Builder
	for i := range checkpoint.MaxLines {
		fmt.Fprintf(&logs, "log %s\n", signer(t, "l", byte(i)).Verifier())
		fmt.Fprintf(&witnesses, "witness w%d %s\n", i, witnessKey(t, "w", byte(i)))
		fmt.Fprintf(&groups, "group g%d any w%[1]d\n", i)
	}
	most := logs.String() + witnesses.String() + groups.String() + "quorum g63\n"
	if _, err := checkpoint.ParsePolicy([]byte(most)); err != nil {
		t.Errorf("the largest policy: %v", err)
	}
	for _, more := range []string{
		"log " + signer(t, "l", 99).Verifier().String(), "witness x " + witnessKey(t, "x", 99).String(), "group x any g0",
	} {
		if _, err := checkpoint.ParsePolicy([]byte(most + more + "\n")); err == nil || !strings.Contains(err.Error(), "more than 64") {
			t.Errorf("one line more, %s: %v", more, err)
		}
	}
}

func FuzzParsePolicy(f *testing.F) {
	var v policyVectors
	readVectors(f, "checkpoint/policies.json", &v)
	for _, c := range v.Valid {
		f.Add([]byte(c.Policy))
	}
	for _, c := range v.Invalid {
		f.Add([]byte(c.Policy))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := checkpoint.ParsePolicy(data)
		if err != nil {
			return
		}
		canonical := p.Format()
		again, err := checkpoint.ParsePolicy(canonical)
		if err != nil || !bytes.Equal(again.Format(), canonical) {
			t.Fatalf("%q prints %q, which is not read back: %v", data, canonical, err)
		}
		// torchwood takes # for a comment anywhere and other white space for the specification's.
		if bytes.ContainsAny(canonical, "#\u0085\u00a0\u1680\u2000\u2028\u3000") || !bytes.Equal(bytes.Join(bytes.Fields(canonical), []byte(" ")), bytes.Join(bytes.FieldsFunc(canonical, func(r rune) bool { return r == ' ' || r == '\n' }), []byte(" "))) {
			return
		}
		if _, err := torchwood.ParsePolicy(canonical); err != nil {
			t.Errorf("torchwood refuses %q: %v", canonical, err)
		}
	})
}

func FuzzPolicyCheck(f *testing.F) {
	var v policyVectors
	readVectors(f, "checkpoint/policies.json", &v)
	for _, c := range v.Checks {
		f.Add([]byte(c.Note))
	}
	for _, c := range v.Refused {
		f.Add([]byte(c.Note))
	}
	text := v.Checks[4].Policy
	ours, err := checkpoint.ParsePolicy([]byte(text))
	if err != nil {
		f.Fatal(err)
	}
	theirs, err := torchwood.ParsePolicy([]byte(text))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ours.Check(data)
		if err != nil || !r.QuorumMet {
			return
		}
		if _, _, err := torchwood.VerifyCheckpoint(data, theirs); err != nil {
			t.Errorf("torchwood refuses %q: %v", data, err)
		}
	})
}

func ExamplePolicy() {
	log, _ := checkpoint.NewSigner("example.com/log", [32]byte{1}) // a seed of the test
	policy, _ := checkpoint.ParsePolicy([]byte("# whom I trust\nlog " + log.Verifier().String() + "\nquorum none\n"))
	r, err := policy.Check(log.Sign(3, [32]byte{}))
	fmt.Println(r.Checkpoint.Origin, r.Checkpoint.Size, r.QuorumMet, err)
	_, err = checkpoint.ParsePolicy([]byte("log " + log.Verifier().String() + "\nquorum W1\n"))
	fmt.Println(err)
	// Output:
	// example.com/log 3 true <nil>
	// line 2: quorum "W1" is neither none nor a witness or group of a line before
}
