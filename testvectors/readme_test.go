package testvectors

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// TestReadme: the README has a section for every area, and names every file in it.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(FS, "*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d vector files, %v", len(files), err)
	}
	for _, name := range files {
		_, section, ok := strings.Cut(string(text), "\n## "+path.Dir(name)+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !ok || !strings.Contains(section, "`"+name+"`") {
			t.Errorf("README.md does not describe %s in a section %s", name, path.Dir(name))
		}
	}
}
