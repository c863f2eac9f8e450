package catalog

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"ludger/engine/enginetest"
	"ludger/testvectors"
)

// What a game gave once it must give for ever: a change of its golden games is a new version.
// LUDGER_UPDATE=1 writes the file of a new one.
func TestVectorsGolden(t *testing.T) {
	for _, g := range games {
		id := g.Info().ID
		t.Run(id, func(t *testing.T) {
			got := enginetest.Golden(t, g, goldenGames)
			name := "games/" + id + ".json"
			if os.Getenv("LUDGER_UPDATE") != "" {
				if err := os.WriteFile("../../testvectors/"+name, got, 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := testvectors.FS.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s judges its golden games otherwise than when the version was made: raise the version, and keep the old one for old matches\ngot\n%s", id, got)
			}
		})
	}
}

const goldenGames = 6 // of each variant and number of seats

func TestGame(t *testing.T) {
	ids := IDs()
	if len(ids) == 0 {
		t.Fatal("no games")
	}
	seen := make(map[string]bool)
	for _, id := range ids {
		g, err := Game(id)
		if err != nil {
			t.Fatal(err)
		}
		info := g.Info()
		if info.ID != id || seen[id] {
			t.Errorf("Game(%q) is %q, listed before: %v", id, info.ID, seen[id])
		}
		seen[id] = true
		if !strings.HasPrefix(id, info.Name+"@") {
			t.Errorf("ID %q does not name %q", id, info.Name)
		}
	}
}

func TestUnknown(t *testing.T) {
	for id, want := range map[string]string{
		"chess@2":                `unknown game: needs "chess@2", this program knows chess@1`,
		"chess":                  `unknown game: needs "chess", this program knows chess@1`,
		"tiddlywinks@1":          `unknown game: needs "tiddlywinks@1", this program knows ` + strings.Join(IDs(), ", "),
		"":                       `unknown game: needs "", this program knows ` + strings.Join(IDs(), ", "),
		"Chess@1":                `unknown game: needs "Chess@1", this program knows ` + strings.Join(IDs(), ", "),
		strings.Repeat("a", 500): `unknown game: needs "` + strings.Repeat("a", 64) + `...", this program knows ` + strings.Join(IDs(), ", "),
	} {
		g, err := Game(id)
		if g != nil || !errors.Is(err, ErrUnknown) || err.Error() != want {
			t.Errorf("Game(%q) = %v, %v; want %s", id, g, err, want)
		}
	}
}
