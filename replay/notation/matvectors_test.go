package notation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"ludger/engine/backgammon"
	"ludger/replay/notation"
	"ludger/testvectors"
)

// matCase is a file of matches and what reading and replaying each gives, in order.
type matCase struct {
	Name string    `json:"name"`
	Text string    `json:"text"`
	Want []matWant `json:"want"`
}

type matWant struct {
	Read    *matRead   `json:"read,omitempty"`
	Refused *matReason `json:"refused,omitempty"`
}

type matRead struct {
	Variant  string    `json:"variant"` // of the setup
	Start    string    `json:"start"`
	Players  [2]string `json:"players"`  // of the first game
	Comments []string  `json:"comments"` // before the length
	Cut      bool      `json:"cut"`      // the last game has no result
	Returns  []int64   `json:"returns"`  // what the record states
	Plies    [][2]any  `json:"plies"`    // seat and move, throws included
	Printed  string    `json:"printed"`  // what the writer prints
}

type matReason struct {
	Game   int    `json:"game"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// readWant reads and replays the next match.
func readWant(r *notation.MatReader) (w matWant, err error) {
	m, err := r.Next()
	if err == nil {
		w.Read, err = replayWant(m)
	}
	var broken *notation.MatError
	if errors.As(err, &broken) {
		return matWant{Refused: &matReason{broken.Game, broken.Line, broken.Reason}}, nil
	}
	return w, err
}

func replayWant(m *notation.Mat) (*matRead, error) {
	s, err := m.Setup()
	if err != nil {
		return nil, err
	}
	p, err := backgammon.New(s)
	if err != nil {
		return nil, err
	}
	plies, err := m.Replay(p)
	if err != nil {
		return nil, err
	}
	w := &matRead{Variant: s.Variant, Start: s.Start, Players: m.Games[0].Players, Comments: m.Comments, Cut: m.Cut, Returns: m.Returns()}
	for _, ply := range plies {
		w.Plies = append(w.Plies, [2]any{float64(ply.Seat), ply.Move})
	}
	var b strings.Builder
	err = notation.WriteMat(&b, m)
	w.Printed = b.String()
	return w, err
}

// With LUDGER_UPDATE=1 what is wanted of each case is written anew.
func TestVectorsMat(t *testing.T) {
	text, err := testvectors.FS.ReadFile("mat/read.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Format string
		Cases  []matCase
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 10 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	if os.Getenv("LUDGER_UPDATE") != "" {
		updateMat(t, file.Format, file.Cases)
		return
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			got := readCase(t, c.Text)
			if len(got) != len(c.Want) || len(got) > 0 && !reflect.DeepEqual(got, c.Want) {
				one, _ := json.Marshal(got)
				two, _ := json.Marshal(c.Want)
				t.Errorf("reads as\n%s\nwant\n%s", one, two)
			}
		})
	}
}

func readCase(t *testing.T, text string) (list []matWant) {
	r := notation.NewMatReader(strings.NewReader(text))
	for {
		w, err := readWant(r)
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
}

func updateMat(t *testing.T, format string, cases []matCase) {
	var b bytes.Buffer
	line := func(v any) {
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("{\n \"format\": ")
	line(format)
	b.WriteString(",\n \"cases\": [")
	for i, c := range cases {
		c.Want = append([]matWant{}, readCase(t, c.Text)...)
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  ")
		line(c)
	}
	b.WriteString("\n ]\n}\n")
	if err := os.WriteFile("../../testvectors/mat/read.json", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
