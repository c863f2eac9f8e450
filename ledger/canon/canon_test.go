package canon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"ludger/ledger/canon"
	"ludger/testvectors"
)

var wide = canon.Limits{Bytes: 1 << 20, Depth: 64, Values: 1 << 16}

// A vector is one case of testvectors/canon/parse.json.
type vector struct {
	Name      string
	Text      *string
	Base64    []byte
	Canonical string
	Refused   *struct {
		Offset    int
		Path, Why string
	}
}

func (v vector) data() []byte {
	if v.Text != nil {
		return []byte(*v.Text)
	}
	return v.Base64
}

func readVectors(t testing.TB) ([]vector, canon.Limits) {
	t.Helper()
	data, err := testvectors.FS.ReadFile("canon/parse.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		About  string
		Limits canon.Limits
		Cases  []vector
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 100 {
		t.Fatalf("%d cases, want at least 100", len(file.Cases))
	}
	return file.Cases, file.Limits
}

func TestVectors(t *testing.T) {
	cases, lim := readVectors(t)
	for _, c := range cases {
		data := c.data()
		v, err := canon.Parse(data, lim)
		if c.Refused == nil {
			if err != nil {
				t.Errorf("%s: %q: %v, want %s", c.Name, data, err, c.Canonical)
				continue
			}
			if got := string(v.Bytes()); got != c.Canonical {
				t.Errorf("%s: %q prints as %s, want %s", c.Name, data, got, c.Canonical)
			}
			if _, err := canon.ParseCanonical(data, lim); (err == nil) != (string(data) == c.Canonical) {
				t.Errorf("%s: ParseCanonical of %q: %v", c.Name, data, err)
			}
			continue
		}
		var e *canon.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %q is read as %s, want a refusal: %s", c.Name, data, v.Bytes(), c.Refused.Why)
			continue
		}
		if e.Offset != c.Refused.Offset || e.Path != c.Refused.Path {
			t.Errorf("%s: %q: %v, want it at %q (byte %d): %s", c.Name, data, err, c.Refused.Path, c.Refused.Offset, c.Refused.Why)
		}
		if _, err := canon.ParseCanonical(data, lim); err == nil {
			t.Errorf("%s: ParseCanonical takes %q", c.Name, data)
		}
	}
}

// shared reads a file of the outside test data that stands beside the checkout, or skips the test.
func shared(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile("../../../shared/vectors/" + path)
	if err != nil {
		t.Skipf("SKIPPED, outside test data is not here: %v", err)
	}
	return data
}

// TestRFC8785: the six inputs of the RFC's author. Two hold fractions, which the profile refuses.
func TestRFC8785(t *testing.T) {
	for name, path := range map[string]string{
		"arrays": "", "french": "", "unicode": "", "weird": "",
		"values":     "/numbers/0", // 333333333.33333329
		"structures": "/1/\\n",     // 56.0
	} {
		in, want := shared(t, "rfc8785/input/"+name+".json"), shared(t, "rfc8785/output/"+name+".json")
		v, err := canon.Parse(in, wide)
		var e *canon.Error
		switch {
		case path == "":
			if err != nil || !bytes.Equal(v.Bytes(), want) {
				t.Errorf("%s: %s, %v, want %s", name, v.Bytes(), err, want)
			}
			if v, err := canon.ParseCanonical(want, wide); err != nil || !bytes.Equal(v.Bytes(), want) {
				t.Errorf("%s: canonical form reads as %s, %v", name, v.Bytes(), err)
			}
		case !errors.As(err, &e) || e.Path != path || !strings.Contains(e.Reason, "fraction"):
			t.Errorf("%s: %s, %v, want a refusal at %s", name, v.Bytes(), err, path)
		}
	}
}

// TestNumbers: of the doubles of the RFC's test file, those within the profile print as their
// ECMAScript text, every other text is refused.
func TestNumbers(t *testing.T) {
	within, outside := 0, 0
	for line := range strings.Lines(string(shared(t, "rfc8785/es6numbers-10k.txt"))) {
		bits, text, ok := strings.Cut(strings.TrimSpace(line), ",")
		n, err := strconv.ParseUint(bits, 16, 64)
		if !ok || err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		f := math.Float64frombits(n)
		// ECMAScript prints -0 as "0", which is a number of the profile.
		whole := f == math.Trunc(f) && math.Abs(f) <= canon.MaxInt
		v, err := canon.ParseCanonical([]byte(text), wide)
		if whole != (err == nil) {
			t.Errorf("%s: %v, want accepted %v", text, err, whole)
			continue
		}
		if !whole {
			outside++
			continue
		}
		within++
		if got := string(canon.NewInt(int64(f)).Bytes()); got != text || v.Int() != int64(f) {
			t.Errorf("%s: reads as %d and prints as %s", text, v.Int(), got)
		}
	}
	t.Logf("%d within the profile, %d outside", within, outside)
	if within < 10 || outside < 1000 {
		t.Errorf("%d within the profile, %d outside: too few", within, outside)
	}
}

// stricter is what a refusal of a text says that is valid JSON and outside the profile.
var stricter = []string{"fraction or an exponent", "outside ±", "negative zero", "twice in one object", "nested", "values", "surrogate"}

func TestJSONTestSuite(t *testing.T) {
	var file struct {
		Cases []struct {
			Name, Kind, Expect string
			Text, Repeat       *string
			B64                []byte
			Times              int
			Then               string
		}
	}
	if err := json.Unmarshal(shared(t, "jsontestsuite-dev.json"), &file); err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, c := range file.Cases {
		data := c.B64
		switch {
		case c.Text != nil:
			data = []byte(*c.Text)
		case c.Repeat != nil:
			data = []byte(strings.Repeat(*c.Repeat, c.Times) + c.Then)
		}
		v, err := canon.Parse(data, wide)
		if err == nil {
			agree(t, data, v)
		}
		switch {
		case err == nil:
			read++
			if c.Expect == "reject" {
				t.Errorf("%s: %.80q is read as %s, want a refusal", c.Name, data, v.Bytes())
			}
		case c.Expect == "accept" && !slices.ContainsFunc(stricter, func(why string) bool { return strings.Contains(err.Error(), why) }):
			t.Errorf("%s: %q: %v, want accepted", c.Name, data, err)
		case c.Name == "y_object_duplicated_key.json" && !strings.Contains(err.Error(), "twice in one object"):
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if read == 0 {
		t.Error("no case was read")
	}
	t.Logf("%d of %d cases read", read, len(file.Cases))
}

// agree holds what we read against a second reader: jsontext takes the text and gives the same
// canonical form.
func agree(t *testing.T, data []byte, v canon.Value) {
	t.Helper()
	other := jsontext.Value(slices.Clone(data))
	if err := other.Canonicalize(); err != nil {
		t.Errorf("%q: jsontext refuses what we read as %s: %v", data, v.Bytes(), err)
		return
	}
	if got := v.Bytes(); string(got) != string(other) {
		t.Errorf("%q: canonical form %s, by jsontext %s", data, got, other)
	}
}

func TestJSONText(t *testing.T) {
	cases, lim := readVectors(t)
	for _, c := range cases {
		if v, err := canon.Parse(c.data(), lim); err == nil {
			agree(t, c.data(), v)
		}
	}
}

// TestErrorIsOneShortLine: names in the text cannot swell an error or write to a terminal.
func TestErrorIsOneShortLine(t *testing.T) {
	long := strings.Repeat("n", 1<<16)
	for _, text := range []string{
		`{"` + long + `":-0}`, `{"` + long + `":1,"` + long + `":2}`, `{"b` + long + `":1,"a":2}`, `{"` + strings.Repeat("é", 40) + `":-0}`,
		`{"\u001b[2J\r\nVERIFIED":-0}`, `{"\u202e":{"a":1.5}}`, `{"\u001b":1,"\u001b":2}`, "\"\x7f\x00", "\u202e", "[1,\u009b]",
	} {
		for _, read := range []func([]byte, canon.Limits) (canon.Value, error){canon.Parse, canon.ParseCanonical} {
			_, err := read([]byte(text), wide)
			if err == nil {
				continue
			}
			printable(t, err)
		}
		v, err := canon.Parse([]byte(strings.ReplaceAll(text, "-0", "0")), wide)
		if err == nil && v.Kind() == canon.Object {
			f := v.Fields()
			printable(t, f.Done())
		}
	}
}

func printable(t *testing.T, err error) {
	t.Helper()
	if len(err.Error()) > 2000 {
		t.Errorf("error of %d bytes: %.100q", len(err.Error()), err)
	}
	for _, r := range err.Error() {
		if !strconv.IsPrint(r) {
			t.Errorf("error holds %U: %q", r, err)
		}
	}
}

// TestConstructors: what is built prints as what is parsed, whatever the order of its making.
func TestConstructors(t *testing.T) {
	v := canon.NewObject(
		canon.Member{Name: "\ue000", Value: canon.NewArray(canon.NewInt(-1), canon.NewBool(true), canon.NewBool(false), canon.Value{})},
		canon.Member{Name: "\U00010000", Value: canon.NewString("\x00\x1f\"\\\u2028\u007f")},
		canon.Member{Name: "a", Value: canon.NewObject()},
	)
	const want = `{"a":{},"` + "\U00010000" + `":"\u0000\u001f\"\\` + "\u2028\u007f" + `","` + "\ue000" + `":[-1,true,false,null]}`
	if got := string(v.Bytes()); got != want {
		t.Errorf("prints as %s, want %s", got, want)
	}
	p, err := canon.ParseCanonical([]byte(want), wide)
	if err != nil {
		t.Fatal(err)
	}
	w := p.Without("a")
	if got := string(w.Bytes()); got != strings.Replace(want, `"a":{},`, "", 1) {
		t.Errorf("without a: %s", got)
	}
	if got := string(p.Without("b").Bytes()); got != want {
		t.Errorf("without b: %s", got)
	}
	if m, ok := p.Get("\U00010000"); !ok || m.Kind() != canon.String || m.Str() != "\x00\x1f\"\\\u2028\u007f" {
		t.Errorf("Get: %v %q", ok, m.Str())
	}
	if got := string(p.Append([]byte("x"))); got != "x"+want {
		t.Errorf("Append: %s", got)
	}
}

// What a constructor is given outside the profile is refused when it is read, so nothing signs it.
func TestConstructorsOutsideTheProfile(t *testing.T) {
	for name, v := range map[string]canon.Value{
		"number above": canon.NewInt(canon.MaxInt + 1),
		"number below": canon.NewInt(-canon.MaxInt - 1),
		"least number": canon.NewInt(math.MinInt64),
		"string":       canon.NewString("\xff"),
		"name":         canon.NewObject(canon.Member{Name: "\xed\xa0\x80"}),
	} {
		if got, err := canon.Parse(v.Bytes(), wide); err == nil {
			t.Errorf("%s: %s is read as %v", name, v.Bytes(), got)
		}
	}
}

func TestConstructorsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"name twice":       func() { canon.NewObject(canon.Member{Name: "a"}, canon.Member{Name: "b"}, canon.Member{Name: "a"}) },
		"name twice, next": func() { canon.NewObject(canon.Member{Name: "a"}, canon.Member{Name: "a"}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestFields(t *testing.T) {
	read := func(text string) canon.Fields {
		v, err := canon.Parse([]byte(text), wide)
		if err != nil {
			t.Fatal(err)
		}
		return v.Fields()
	}
	all := func(f *canon.Fields) error {
		var h [2]byte
		f.String("s", 3)
		f.Int("i", -5, 5)
		f.Bool("b")
		f.Flag("f")
		f.Object("o")
		f.Array("a", 2)
		f.Hex("h", h[:])
		return f.Done()
	}
	const good = `{"s":"abc","i":5,"b":false,"f":true,"o":{},"a":[1,2],"h":"0aff"}`
	f := read(good)
	if err := all(&f); err != nil {
		t.Errorf("%s: %v", good, err)
	}
	for _, c := range []struct{ old, new, path, reason string }{
		{`"s":"abc"`, `"s":"abcd"`, "/s", "of 4 bytes exceeds 3"},
		{`"s":"abc"`, `"s":"éé"`, "/s", "of 4 bytes exceeds 3"},
		{`"s":"abc",`, ``, "/s", "is missing"},
		{`"s":"abc"`, `"s":null`, "/s", "is null, not a string"},
		{`"s":"abc"`, `"s":["abc"]`, "/s", "is an array, not a string"},
		{`"i":5`, `"i":6`, "/i", "6 is not from -5 to 5"},
		{`"i":5`, `"i":-6`, "/i", "-6 is not from -5 to 5"},
		{`"i":5`, `"i":"5"`, "/i", "is a string, not a number"},
		{`"i":5`, `"i":true`, "/i", "is a boolean, not a number"},
		{`"b":false`, `"b":0`, "/b", "is a number, not a boolean"},
		{`"f":true`, `"f":false`, "/f", "is written only when true"},
		{`"f":true`, `"f":1`, "/f", "is a number, not a boolean"},
		{`"f":true,`, ``, "", ""},
		{`"o":{}`, `"o":[]`, "/o", "is an array, not an object"},
		{`"a":[1,2]`, `"a":[1,2,3]`, "/a", "of 3 elements exceeds 2"},
		{`"a":[1,2]`, `"a":{}`, "/a", "is an object, not an array"},
		{`"h":"0aff"`, `"h":"0aFF"`, "/h", "is not 4 lowercase hex digits"},
		{`"h":"0aff"`, `"h":"0aff00"`, "/h", "is not 4 lowercase hex digits"},
		{`"h":"0aff"`, `"h":"0a"`, "/h", "is not 4 lowercase hex digits"},
		{`"h":"0aff"`, `"h":"0xff"`, "/h", "is not 4 lowercase hex digits"},
		{`"h":"0aff"`, `"h":"0aff","S":"abc"`, "/S", "is not a member known here"},
		{`"h":"0aff"`, `"h":"0aff","":0`, "/", "is not a member known here"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		f := read(text)
		err := all(&f)
		var e *canon.Error
		if c.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
		} else if !errors.As(err, &e) || e.Path != c.path || e.Reason != c.reason || e.Offset != -1 {
			t.Errorf("%s: %v, want %s %s", text, err, c.path, c.reason)
		}
	}
	for _, text := range []string{`[]`, `1`, `null`, `"s"`} {
		f := read(text)
		if f.Done() == nil {
			t.Errorf("%s: read as an object", text)
		}
		if f = read(text); all(&f) == nil || f.Has("s") {
			t.Errorf("%s: read as an object", text)
		}
	}
	var many []canon.Member
	for i := range 65 {
		many = append(many, canon.Member{Name: strconv.Itoa(i)})
	}
	for _, n := range []int{64, 65} {
		f := canon.NewObject(slices.Clone(many[:n])...).Fields()
		for i := range n {
			f.Value(strconv.Itoa(i))
		}
		if err := f.Done(); (err == nil) != (n == 64) || err != nil && !strings.Contains(err.Error(), "65 members in one object exceed 64") {
			t.Errorf("%d members: %v", n, err)
		}
	}
}

// TestOrder holds the order of names against UTF-16 itself, for all pairs of characters at the
// borders of UTF-8 and UTF-16.
func TestOrder(t *testing.T) {
	var names []string
	edge := []rune{0, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xfff, 0x1000, 0xcfff, 0xd000, 0xd7ff, 0xe000, 0xefff, 0xf000, 0xfffd, 0xffff, 0x10000, 0x3ffff, 0x40000, 0xfffff, 0x100000, 0x10ffff}
	names = append(names, "")
	for _, a := range edge {
		names = append(names, string(a))
		for _, b := range edge {
			names = append(names, string(a)+string(b), "a"+string(a)+"é"+string(b))
		}
	}
	for _, a := range names {
		for _, b := range names {
			want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
			if a == b {
				continue
			}
			got := canon.NewObject(canon.Member{Name: a}, canon.Member{Name: b}).Members()
			if (got[0].Name == a) != (want < 0) {
				t.Fatalf("%+q and %+q: order %+q, want %d", a, b, got[0].Name, want)
			}
		}
	}
}

func TestDigest(t *testing.T) {
	// SHA-256 over 8-byte lengths and fields: printf '\0\0\0\0\0\0\0\1x\0\0\0\0\0\0\0\2ab' | sha256sum
	for _, c := range []struct {
		label  string
		fields []string
		want   string
	}{
		{"", nil, "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc"},
		{"x", []string{"ab"}, "a3762623d470e95187f96965cf698d0d31fcfabbd6037dec805896f83afd7a4b"},
		{"x", []string{"a", "b"}, "f05fc7cd1afbfd1a8085e0b091acb5dd1a85ba4fba3a04b98b2082788d621389"},
		{"x", []string{"ab", ""}, "bd9443774ab14bc222e76eaf8102640d83e18a65170d5bfcb4eb8ecd6fd92163"},
	} {
		var fields [][]byte
		for _, f := range c.fields {
			fields = append(fields, []byte(f))
		}
		d := canon.Digest(c.label, fields...)
		if got := new(big.Int).SetBytes(d[:]).Text(16); got != strings.TrimLeft(c.want, "0") {
			t.Errorf("D(%q, %q) = %s, want %s", c.label, c.fields, got, c.want)
		}
	}
}

// FuzzParse: Parse never panics, what it reads prints to a text that reads back to itself, and a
// second reader agrees.
func FuzzParse(f *testing.F) {
	cases, lim := readVectors(f)
	for _, c := range cases {
		f.Add(c.data())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := canon.Parse(data, lim)
		strict, strictErr := canon.ParseCanonical(data, lim)
		if err != nil {
			printable(t, err)
			if strictErr == nil {
				t.Fatalf("%q: only ParseCanonical reads it; Parse: %v", data, err)
			}
			var e *canon.Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(data) {
				t.Fatalf("%q: error without a place: %v", data, err)
			}
			return
		}
		text := v.Bytes()
		if (strictErr == nil) != bytes.Equal(text, data) {
			t.Fatalf("%q: prints as %q, ParseCanonical: %v", data, text, strictErr)
		}
		if strictErr == nil && !bytes.Equal(strict.Bytes(), data) {
			t.Fatalf("%q: prints as %q after ParseCanonical", data, strict.Bytes())
		}
		if !utf8.Valid(text) {
			t.Fatalf("%q: prints invalid UTF-8 %q", data, text)
		}
		// The canonical text is within the same limits: it is never longer than what it was read from.
		again, err := canon.ParseCanonical(text, lim)
		if err != nil || !bytes.Equal(again.Bytes(), text) {
			t.Fatalf("%q: prints as %q, which reads as %q, %v", data, text, again.Bytes(), err)
		}
		agree(t, data, v)
	})
}
