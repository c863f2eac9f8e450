// Package checkpoint holds what a log publishes about itself, and whom to believe: checkpoints,
// the signed notes around them, the keys of logs and witnesses, and trust policies.
//
// A log signs its head with Signer.Sign. Whoever knows the log's key reads it with Open; an auditor
// with a policy file asks Policy.Check, which tells also which witnesses cosigned:
//
//	example.com/log
//	20852163
//	CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
//
//	— example.com/log Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
//	— witness.example jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
//
// The name of a log's key is its origin, the first line. Signatures of keys that nobody asked for
// are skipped, as C2SP signed-note demands: they prove nothing and refute nothing. A signature that
// claims a known key and does not fit makes the whole note wrong.
//
// What a checkpoint does not say: that the log showed everyone the same one. Witnesses do.
//
// See https://c2sp.org/tlog-checkpoint, signed-note, tlog-cosignature and tlog-policy.
package checkpoint

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
)

// A Checkpoint is a log's head at one size.
type Checkpoint struct {
	Origin string // the log's name; its key has the same
	Size   int64
	Root   [32]byte // RFC 6962 root hash of the first Size entries
}

// Text returns the three lines that are signed: origin, size in decimal, base64 of the root.
func (c Checkpoint) Text() []byte {
	b := append([]byte(c.Origin), '\n')
	b = strconv.AppendInt(b, c.Size, 10)
	b = base64.StdEncoding.AppendEncode(append(b, '\n'), c.Root[:])
	return append(b, '\n')
}

// Parse reads exactly what Text prints. Extension lines are refused: this ledger's logs write none,
// and nobody audits them.
func Parse(text []byte) (Checkpoint, error) {
	lines := bytes.Split(text, []byte{'\n'})
	if len(lines) != 4 || len(lines[3]) > 0 {
		if len(lines) > 4 {
			return Checkpoint{}, fmt.Errorf("checkpoint has more than three lines; extension lines are not taken")
		}
		return Checkpoint{}, fmt.Errorf("checkpoint is not three lines, each with its newline")
	}
	c := Checkpoint{Origin: string(lines[0])}
	if err := checkName(c.Origin); err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint's origin: %w", err)
	}
	var err error
	c.Size, err = strconv.ParseInt(string(lines[1]), 10, 64)
	if err != nil || c.Size < 0 || strconv.FormatInt(c.Size, 10) != string(lines[1]) {
		return Checkpoint{}, fmt.Errorf("checkpoint's size %q is not a decimal number from 0 to 2^63-1 without leading zeros", lines[1])
	}
	root, ok := decodeBase64(string(lines[2]))
	if !ok || len(root) != len(c.Root) {
		return Checkpoint{}, fmt.Errorf("checkpoint's root %q is not the canonical base64 of 32 bytes", lines[2])
	}
	copy(c.Root[:], root)
	return c, nil
}

// Sign returns the signed note of the log's head. The same head always gives the same note.
func (s *Signer) Sign(size int64, root [32]byte) []byte {
	text := Checkpoint{s.verifier.name, size, root}.Text()
	signature := s.key.Sign(text)
	n := Note{text, []Signature{{s.verifier.name, s.verifier.id, signature[:]}}}
	return n.Format()
}

// Open reads a note and returns its checkpoint if the log's key signed it and the key's name is the
// origin. Other signatures are not looked at.
func Open(note []byte, log *Verifier) (Checkpoint, error) {
	n, err := ParseNote(note)
	if err != nil {
		return Checkpoint{}, err
	}
	for _, s := range n.Signatures {
		if s.Name != log.name || s.ID != log.id {
			continue
		}
		if _, err := log.verify(n.Text, s); err != nil {
			return Checkpoint{}, err
		}
		return parseFrom(n.Text, log)
	}
	return Checkpoint{}, fmt.Errorf("note is not signed by %v", log)
}

// parseFrom reads the text of a note that the log's key has signed.
func parseFrom(text []byte, log *Verifier) (Checkpoint, error) {
	c, err := Parse(text)
	if err != nil {
		return Checkpoint{}, err
	}
	if c.Origin != log.name {
		return Checkpoint{}, fmt.Errorf("checkpoint of %s is signed by the key of %s, another log", c.Origin, log.name)
	}
	return c, nil
}
