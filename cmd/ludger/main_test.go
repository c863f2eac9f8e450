package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ludger": main})
}

// TestScripts runs the stories in testdata/script. Besides testscript's own commands they use
//
//	exits N ludger …   run a command that ends with exit code N
//	flip FILE TEXT     change the first byte after TEXT in a file into another digit
//	games N FILE       write N different small games
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../..")
			env.Setenv("ROOT", root)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exits N command …")
				}
				got := "exit status 0"
				if err := ts.Exec(args[1], args[2:]...); err != nil {
					got = err.Error()
				}
				if got != "exit status "+args[0] {
					ts.Fatalf("%s, want exit status %s", got, args[0])
				}
			},
			"flip": func(ts *testscript.TestScript, neg bool, args []string) {
				name := ts.MkAbs(args[0])
				data, err := os.ReadFile(name)
				ts.Check(err)
				i := bytes.Index(data, []byte(args[1]))
				if i < 0 {
					ts.Fatalf("%s does not hold %q", args[0], args[1])
				}
				i += len(args[1])
				if data[i]++; data[i] > '9' {
					data[i] = '0'
				}
				ts.Check(os.WriteFile(name, data, 0o666))
			},
			"games": func(ts *testscript.TestScript, neg bool, args []string) {
				var n int
				_, err := fmt.Sscan(args[0], &n)
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), manyGames(n), 0o666))
			},
		},
	})
}

// manyGames returns n games that differ in their Round tag: a short one and the first of the demo
// in turn.
func manyGames(n int) []byte {
	var out bytes.Buffer
	long, _, _ := strings.Cut(string(demoGames), "\n[Event ")
	_, long, _ = strings.Cut(long, "\n\n")
	for i := range n {
		moves, result := "1. f3 e5 2. g4 Qh4# 0-1\n", "0-1"
		if i%2 == 1 {
			moves, result = long, long[strings.LastIndexAny(strings.TrimSpace(long), " \n")+1:]
			result = strings.TrimSpace(result)
		}
		fmt.Fprintf(&out, "[White \"Ann\"]\n[Black \"Bob\"]\n[Round \"%d\"]\n[Result \"%s\"]\n\n%s\n", i, result, moves)
	}
	return out.Bytes()
}

// TestReadme runs the commands of the README's first screen, as they stand there.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "The same by hand")
	_, rest, ok2 := strings.Cut(rest, "```\n")
	block, _, ok3 := strings.Cut(rest, "```")
	if !ok || !ok2 || !ok3 || strings.Count(block, "\n") < 5 {
		t.Fatal("README.md: the commands of the first screen are not where they were")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "cmd"), filepath.Join(dir, "cmd")); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir = dir
		if strings.HasPrefix(line, "go build -o ludger ") { // needs the sources around it
			cmd = exec.Command("bash", "-c", strings.Replace(line, "-o ludger", "-o "+filepath.Join(dir, "ludger"), 1))
			cmd.Dir = root
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		t.Logf("$ %s\n%s", line, out)
		if strings.Contains(line, " verify ") {
			compareReport(t, dir, string(text), string(out))
		}
	}
}

// compareReport holds the report in the README against that of the first match. The README writes
// an ellipsis for what differs from run to run.
func compareReport(t *testing.T, dir, readme, verified string) {
	_, rest, ok := strings.Cut(readme, "<!-- report -->\n```\n")
	sample, _, ok2 := strings.Cut(rest, "```\n<!-- /report -->")
	if !ok || !ok2 {
		t.Fatal("README.md: the sample report is not where it was")
	}
	first := ""
	for line := range strings.Lines(verified) {
		if strings.Contains(line, " match 1, ") {
			first, _, _ = strings.Cut(line, ":")
		}
	}
	cmd := exec.Command("./ludger", "verify", "--policy", "hall/policy", first)
	cmd.Dir = dir
	got, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, got)
	}
	rest = string(got)
	for _, piece := range strings.Split(sample, "…") {
		if _, rest, ok = strings.Cut(rest, piece); !ok {
			t.Fatalf("the README shows\n%s\nbut after what fits, %q is missing in\n%s", sample, piece, got)
		}
	}
}
