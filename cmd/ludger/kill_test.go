package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestKill kills an import without warning, again and again. Whatever it acknowledged by a line of
// its output must be in the log, once, and the next run must go on.
func TestKill(t *testing.T) {
	rounds := 50
	if n, err := strconv.Atoi(os.Getenv("LUDGER_KILLS")); err == nil {
		rounds = n
	}
	dir := t.TempDir()
	hall, games := filepath.Join(dir, "hall"), filepath.Join(dir, "games.pgn")
	const count = 2000
	if err := os.WriteFile(games, manyGames(count), 0o666); err != nil {
		t.Fatal(err)
	}
	ludger := func(args ...string) *exec.Cmd {
		cmd := exec.Command("ludger", args...)
		cmd.Dir = dir
		return cmd
	}
	if out, err := ludger("keygen", "--origin", "example.com/log", "--data", hall).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	acked := make(map[string]string) // match id to its line, without the first words
	read := func(out []byte) (fresh int) {
		lines := bufio.NewScanner(bytes.NewReader(out))
		for lines.Scan() {
			line := lines.Text()
			was := strings.HasPrefix(line, "was there ")
			_, rest, ok := strings.Cut(line, "match ")
			if !ok || !strings.HasSuffix(rest, "index "+rest[strings.LastIndexByte(rest, ' ')+1:]) {
				continue // the kill cut the line
			}
			id, rest, _ := strings.Cut(rest, " ")
			before, known := acked[id]
			if known && !strings.HasPrefix(before, rest) && !strings.HasPrefix(rest, before) {
				t.Fatalf("match %s was acknowledged as\n%s\nand is now\n%s", id, before, rest)
			}
			if known && !was {
				t.Fatalf("match %s was imported twice: %s", id, line)
			}
			if !known {
				fresh++
			}
			acked[id] = rest
		}
		return fresh
	}

	killed := 0
	for round := range rounds {
		cmd := ludger("import", "--data", hall, "--seed", "a long enough secret", games)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(30+round*37%170)*time.Millisecond)
		go func() {
			<-ctx.Done()
			cmd.Process.Kill()
		}()
		if err := cmd.Wait(); err != nil {
			killed++
		}
		cancel()
		read(out.Bytes())
	}
	if killed < rounds/2 {
		t.Errorf("only %d of %d imports were killed before their end: give them more games", killed, rounds)
	}
	t.Logf("%d of %d imports killed, %d matches acknowledged on the way", killed, rounds, len(acked))

	out, err := ludger("import", "--data", hall, "--seed", "a long enough secret", games).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	read(out)
	if len(acked) != count {
		t.Errorf("%d matches acknowledged in the end, want %d", len(acked), count)
	}
	out, err = ludger("fsck", "--data", hall).Output()
	if err != nil || !strings.Contains(string(out), strconv.Itoa(count)+" matches sealed, 0 open: 0 findings") {
		t.Errorf("fsck: %v\n%s", err, out)
	}
}
