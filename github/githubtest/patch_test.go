package githubtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPatch holds that a patch, applied by git, makes the new file of the old one.
func TestPatch(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := func() string {
			var b strings.Builder
			for range r.IntN(30) {
				fmt.Fprintf(&b, "line %d\n", r.IntN(12))
			}
			return strings.TrimSuffix(b.String(), []string{"", "\n"}[r.IntN(2)])
		}
		before, after := text(), text()
		body := patch(before, after)
		if before == after || before == "" || after == "" {
			continue // git wants other headers for new and removed files
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		git := exec.Command("git", "apply", "--unsafe-paths", "--unidiff-zero", "-")
		git.Dir, git.Stdin = dir, strings.NewReader("--- a/f\n+++ b/f\n"+body+"\n")
		git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %s\n%s", seed, out, body)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, []byte(after)) {
			t.Errorf("seed %d: %q, want %q, %v\n%s", seed, got, after, err, body)
		}
	}
}
