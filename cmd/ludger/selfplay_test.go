package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"ludger/engine"
	"ludger/engine/catalog"
	"ludger/replay/notation"
)

// TestVectorsDemoGames makes demo.pgn again: our own engine plays itself, seeded, with a search of
// one ply that likes mates, captures and promotions.
func TestVectorsDemoGames(t *testing.T) {
	var out bytes.Buffer
	for i, start := range []string{"", "", "", "", "", "518", "356", "10"} {
		if err := notation.WritePGN(&out, selfPlay(t, uint64(i+2), start)); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
	}
	if os.Getenv("LUDGER_UPDATE") != "" {
		if err := os.WriteFile("demo.pgn", out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(out.Bytes(), demoGames) {
		t.Error("demo.pgn is not what the engine plays: run make vectors and explain the difference")
	}
}

// selfPlay plays one game; start is "" or a Chess960 number.
func selfPlay(t *testing.T, seed uint64, start string) *notation.PGN {
	game, err := catalog.Game(chessID)
	if err != nil {
		t.Fatal(err)
	}
	setup := engine.Setup{Variant: "standard", Seats: 2, Start: start}
	if start != "" {
		setup.Variant = "chess960"
	}
	p, err := game.New(setup)
	if err != nil {
		t.Fatal(err)
	}
	g := &notation.PGN{Tags: []notation.Tag{
		{Name: "Event", Value: "Ludger self-play"}, {Name: "Site", Value: "?"}, {Name: "Date", Value: "????.??.??"},
		{Name: "Round", Value: fmt.Sprint(seed)},
		{Name: "White", Value: fmt.Sprintf("Self-play bot %d", 1+seed%3)},
		{Name: "Black", Value: fmt.Sprintf("Self-play bot %d", 1+(seed+1)%3)},
		{Name: "Result", Value: "*"},
	}}
	if start != "" {
		fen := p.(interface{ FEN() string }).FEN()
		g.Tags = append(g.Tags, notation.Tag{Name: "Variant", Value: "Chess960"},
			notation.Tag{Name: "SetUp", Value: "1"}, notation.Tag{Name: "FEN", Value: fen})
	}
	rng := seed
	random := func(n int) int { // splitmix64
		rng += 0x9e3779b97f4a7c15
		z := (rng ^ rng>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return int((z ^ z>>31) % uint64(n))
	}
	g.Result = "*"
	for !p.Turn().Over() {
		if len(g.Moves) >= 240 { // adjudicated as drawn, as tournaments of programs do
			g.Result = "1/2-1/2"
			g.Tags = append(g.Tags, notation.Tag{Name: "Termination", Value: "adjudication"})
			break
		}
		seat := p.Turn().Seats()[0]
		best, choice := -1, engine.Move{}
		for _, m := range p.Legal(seat) {
			if score := like(m) + random(20); score > best && m.Notation != "" && m.Move[0] != 'c' || best < 0 {
				best, choice = score, m
			}
		}
		if err := p.Play(seat, choice.Move); err != nil {
			t.Fatal(err)
		}
		g.Moves = append(g.Moves, notation.PGNMove{SAN: choice.Notation})
	}
	if o, over := p.Outcome(); over {
		g.Result = map[int64]string{1: "1-0", 0: "1/2-1/2", -1: "0-1"}[o.Returns[0]]
	}
	for i := range g.Tags {
		if g.Tags[i].Name == "Result" {
			g.Tags[i].Value = g.Result
		}
	}
	return g
}

// like scores a move by its notation: mate, promotion, capture, castling, check.
func like(m engine.Move) int {
	score := 1
	for _, c := range m.Notation {
		switch c {
		case '#':
			score += 1000
		case '=':
			score += 60
		case 'x':
			score += 18
		case 'O':
			score += 15
		case '+':
			score += 6
		}
	}
	return score
}
