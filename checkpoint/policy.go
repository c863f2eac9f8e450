package checkpoint

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Policy says whom to believe: logs, witnesses, and which witnesses must have cosigned. Parsing
// makes one, or NewPolicy; it does not change afterwards.
type Policy struct {
	logs      []party
	witnesses []party
	groups    []group
	quorum    string // name of a witness or a group, or "none"
}

type party struct {
	name string // a witness's, in the policy only
	key  *Verifier
	url  string
}

type group struct {
	name    string
	k       int // of its members must have cosigned
	members []string
}

// none is the quorum that asks for no witness.
const none = "none"

// NewPolicy returns the policy that believes one log without witnesses.
func NewPolicy(log *Verifier) (*Policy, error) {
	p := new(Policy)
	if err := p.addLog(log, ""); err != nil {
		return nil, err
	}
	p.quorum = none
	return p, nil
}

// ParsePolicy reads a C2SP tlog-policy file: lines of words set apart by spaces and tabs.
//
//	# comment
//	log <vkey> [<url>]
//	witness <name> <vkey> [<url>]
//	group <name> all|any|<k> <name>…
//	quorum <name>|none
//
// Every line must end in a newline, so that a file cut short is noticed. A policy without a log is
// refused: anyone's checkpoint would fit it. Errors begin with the number of the line.
func ParsePolicy(data []byte) (*Policy, error) {
	if len(data) > MaxPolicy {
		return nil, fmt.Errorf("policy of %d bytes exceeds %d", len(data), MaxPolicy)
	}
	p := new(Policy)
	for n := 1; len(data) > 0; n++ {
		line, rest, ok := bytes.Cut(data, []byte{'\n'})
		if !ok {
			return nil, fmt.Errorf("line %d: it does not end in a newline: the file may be cut short; add one if it is whole", n)
		}
		data = rest
		if err := p.addLine(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if len(p.logs) == 0 {
		return nil, fmt.Errorf("policy names no log: add a line \"log <vkey>\" with the key of the log you trust")
	}
	if p.quorum == "" {
		return nil, fmt.Errorf("policy has no quorum: add a line \"quorum none\" to ask for no witness")
	}
	return p, nil
}

func (p *Policy) addLine(line []byte) error {
	for _, c := range line {
		if c < 0x20 && c != '\t' || c == 0x7f {
			if c == '\r' {
				return fmt.Errorf("it holds a carriage return: save the file with line ends of one newline")
			}
			return fmt.Errorf("it holds the control character 0x%02x; only tab is allowed", c)
		}
	}
	words := strings.FieldsFunc(string(line), func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || words[0][0] == '#' {
		return nil
	}
	switch args := words[1:]; words[0] {
	case "log":
		if len(args) < 1 || len(args) > 2 {
			return fmt.Errorf("a log needs a vkey and at most a URL, not %d words", len(args))
		}
		key, err := ParseVerifier(args[0])
		if err != nil {
			return err
		}
		return p.addLog(key, strings.Join(args[1:], ""))
	case "witness":
		if len(args) < 2 || len(args) > 3 {
			return fmt.Errorf("a witness needs a name, a vkey and at most a URL, not %d words", len(args))
		}
		return p.addWitness(args[0], args[1], strings.Join(args[2:], ""))
	case "group":
		if len(args) < 3 {
			return fmt.Errorf("a group needs a name, a threshold and one member at least, not %d words", len(args))
		}
		return p.addGroup(args[0], args[1], args[2:])
	case "quorum":
		if len(args) != 1 {
			return fmt.Errorf("a quorum is one name, not %d words", len(args))
		}
		if p.quorum != "" {
			return fmt.Errorf("a second quorum: there must be one")
		}
		if args[0] != none && !p.defined(args[0]) {
			return fmt.Errorf("quorum %q is neither none nor a witness or group of a line before", args[0])
		}
		p.quorum = args[0]
		return nil
	default:
		if strings.HasPrefix(words[0], "PRIVATE+KEY+") {
			return fmt.Errorf("it is a private key: this is not a policy, and that key must stay secret")
		}
		if len(words[0]) > 32 {
			words[0] = words[0][:32] + "…"
		}
		return fmt.Errorf("%q is none of log, witness, group and quorum", words[0])
	}
}

// addKey refuses a key that one of the list has already, and one that signature lines could not
// tell from another.
func (p *Policy) addKey(what string, list []party, key *Verifier) error {
	if len(list) == MaxLines {
		return fmt.Errorf("more than %d lines of this kind: %s", MaxLines, what)
	}
	for _, other := range list {
		if other.key.Key() == key.Key() {
			return fmt.Errorf("this %s has the same public key as another: %v", what, other.key)
		}
	}
	for _, other := range append(p.logs[:len(p.logs):len(p.logs)], p.witnesses...) {
		if other.key.name == key.name && other.key.id == key.id {
			return fmt.Errorf("two keys have the name and key ID %s+%08x", key.name, key.id)
		}
	}
	return nil
}

func (p *Policy) addLog(key *Verifier, url string) error {
	if key.alg != Ed25519 {
		return fmt.Errorf("key of log %s is an %v key, not 0x01 (Ed25519)", key.name, key.alg)
	}
	if err := p.addKey("log", p.logs, key); err != nil {
		return err
	}
	p.logs = append(p.logs, party{key: key, url: url})
	return nil
}

func (p *Policy) addWitness(name, vkey, url string) error {
	if err := p.define(name); err != nil {
		return err
	}
	key, err := ParseVerifier(vkey)
	if err != nil {
		return err
	}
	if key.alg != Cosignature {
		return fmt.Errorf("key of witness %s is an %v key, not 0x04 (Ed25519 cosignature)", name, key.alg)
	}
	if err := p.addKey("witness", p.witnesses, key); err != nil {
		return err
	}
	p.witnesses = append(p.witnesses, party{name, key, url})
	return nil
}

func (p *Policy) addGroup(name, threshold string, members []string) error {
	if err := p.define(name); err != nil {
		return err
	}
	if len(p.groups) == MaxLines {
		return fmt.Errorf("more than %d groups", MaxLines)
	}
	var k int
	switch threshold {
	case "any":
		k = 1
	case "all":
		k = len(members)
	default:
		var err error
		k, err = strconv.Atoi(threshold)
		if err != nil || strconv.Itoa(k) != threshold || k < 1 || k > len(members) {
			return fmt.Errorf("threshold %q of group %s is neither all nor any nor a number from 1 to %d", threshold, name, len(members))
		}
	}
	for i, m := range members {
		if !p.defined(m) {
			return fmt.Errorf("member %q of group %s is not a witness or group of a line before", m, name)
		}
		for _, g := range append(p.groups[:len(p.groups):len(p.groups)], group{name, k, members[:i]}) {
			if slices.Contains(g.members, m) {
				return fmt.Errorf("%q is already a member of group %s: each name may count once", m, g.name)
			}
		}
	}
	p.groups = append(p.groups, group{name, k, members})
	return nil
}

// define refuses a name that is taken. Witnesses and groups share one space of names.
func (p *Policy) define(name string) error {
	if name == none {
		return fmt.Errorf("the name %q is reserved", none)
	}
	if p.defined(name) {
		return fmt.Errorf("the name %q is already taken by a line before", name)
	}
	return nil
}

func (p *Policy) defined(name string) bool {
	return slices.ContainsFunc(p.witnesses, func(w party) bool { return w.name == name }) ||
		slices.ContainsFunc(p.groups, func(g group) bool { return g.name == name })
}

// Knows tells whether the policy names a log of this origin.
func (p *Policy) Knows(origin string) bool {
	for _, l := range p.logs {
		if l.key.name == origin {
			return true
		}
	}
	return false
}

// Format prints the policy without comments, in the order logs, witnesses, groups, quorum, and with
// thresholds as numbers.
func (p *Policy) Format() []byte {
	var b bytes.Buffer
	line := func(words ...string) {
		b.WriteString(strings.TrimRight(strings.Join(words, " "), " ") + "\n") // a URL may be empty
	}
	for _, l := range p.logs {
		line("log", l.key.String(), l.url)
	}
	for _, w := range p.witnesses {
		line("witness", w.name, w.key.String(), w.url)
	}
	for _, g := range p.groups {
		line("group", g.name, strconv.Itoa(g.k), strings.Join(g.members, " "))
	}
	line("quorum", p.quorum)
	return b.Bytes()
}

// A Result is what a policy finds in a checkpoint's note.
type Result struct {
	Checkpoint Checkpoint
	Log        *Verifier // the log's key that signed
	Cosigned   []Cosigned
	Missing    []string // witnesses of the policy that did not cosign
	Unknown    int      // signatures by keys that the policy does not name; they prove nothing
	Quorum     string   // name of the quorum that the policy asks for; "none" asks for nothing
	QuorumMet  bool
}

// A Cosigned says that a witness had seen the checkpoint, and seen it to extend all that it saw of
// this log before.
type Cosigned struct {
	Witness string // its name in the policy
	Seconds int64  // the witness's clock, Unix seconds
}

// Check verifies a checkpoint's note against the policy. Its errors say that the note is wrong: not
// well-formed, not signed by one of the logs, or with a signature by a known key that does not fit.
// A quorum that is not met is no error but told in the result.
func (p *Policy) Check(note []byte) (Result, error) {
	n, err := ParseNote(note)
	if err != nil {
		return Result{}, err
	}
	r := Result{Quorum: p.quorum}
	cosigned := map[string]int64{}
	for _, s := range n.Signatures {
		known := false
		for _, l := range p.logs {
			if l.key.name != s.Name || l.key.id != s.ID {
				continue
			}
			known = true
			if _, err := l.key.verify(n.Text, s); err != nil {
				return Result{}, err
			}
			if r.Checkpoint, err = parseFrom(n.Text, l.key); err != nil {
				return Result{}, err
			}
			if r.Log == nil {
				r.Log = l.key
			}
		}
		for _, w := range p.witnesses {
			if w.key.name != s.Name || w.key.id != s.ID {
				continue
			}
			known = true
			if cosigned[w.name], err = w.key.verify(n.Text, s); err != nil {
				return Result{}, err
			}
		}
		if !known {
			r.Unknown++
		}
	}
	if r.Log == nil {
		names := make([]string, len(p.logs))
		for i, l := range p.logs {
			names[i] = fmt.Sprintf("%s+%08x", l.key.name, l.key.id)
		}
		return Result{}, fmt.Errorf("note is not signed by a log of the policy (%s)", strings.Join(names, ", "))
	}
	for _, w := range p.witnesses {
		if seconds, ok := cosigned[w.name]; ok {
			r.Cosigned = append(r.Cosigned, Cosigned{w.name, seconds})
		} else {
			r.Missing = append(r.Missing, w.name)
		}
	}
	r.QuorumMet = p.met(cosigned)
	return r, nil
}

// met tells whether the witnesses that cosigned are a quorum. Groups name only groups before them,
// so one pass decides them all.
func (p *Policy) met(cosigned map[string]int64) bool {
	witnessed := map[string]bool{none: true}
	for name := range cosigned {
		witnessed[name] = true
	}
	for _, g := range p.groups {
		count := 0
		for _, m := range g.members {
			if witnessed[m] {
				count++
			}
		}
		witnessed[g.name] = count >= g.k
	}
	return witnessed[p.quorum]
}
