package testvectors

import (
	"os/exec"
	"testing"
)

// TestJavaScript runs an implementation in another language, which knows nothing but the published texts,
// on the vectors of chance.
func TestJavaScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIPPED: there is no Node on this machine, so chance.mjs is not run: ", err)
	}
	out, err := exec.Command(node, "chance/chance.mjs").CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
