// Package catalog is the one table of the games that this program knows, each at each version it
// can still replay.
//
//	g, err := catalog.Game("chess@1")
//
// A corrected rule is a new row, such as chess@2; the old row stays as long as matches name it.
package catalog

import (
	"errors"
	"fmt"
	"strings"

	"ludger/engine"
	"ludger/engine/backgammon"
	"ludger/engine/battleship"
	"ludger/engine/chess"
)

// games in the order they are listed.
var games = [...]engine.Game{
	chess.Game{},
	backgammon.Game{},
	battleship.Game{},
}

// ErrUnknown says that no row of the table has the ID asked for.
var ErrUnknown = errors.New("unknown game")

// Game returns the game of an ID such as "chess@1". The error, an ErrUnknown, says which versions
// or which games there are.
func Game(id string) (engine.Game, error) {
	name, _, _ := strings.Cut(id, "@")
	var versions []string
	for _, g := range games {
		info := g.Info()
		if info.ID == id {
			return g, nil
		}
		if info.Name == name {
			versions = append(versions, info.ID)
		}
	}
	if versions == nil {
		versions = IDs()
	}
	if len(id) > maxShown {
		id = id[:maxShown] + "..."
	}
	return nil, fmt.Errorf("%w: needs %q, this program knows %s", ErrUnknown, id, strings.Join(versions, ", "))
}

// maxShown bounds how much of an unknown ID an error repeats, in bytes.
const maxShown = 64

// IDs lists the IDs of all games.
func IDs() []string {
	ids := make([]string, len(games))
	for i, g := range games {
		ids[i] = g.Info().ID
	}
	return ids
}
