package patches

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/causes"
)

// TestPlace reads patches of git, and finds them in a file to which the base branch has added lines.
func TestPlace(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		var base, head []string
		for i := range 40 + r.IntN(40) {
			base = append(base, fmt.Sprintf("line %d %d", i, r.IntN(5)))
		}
		for _, line := range base {
			switch r.IntN(12) {
			case 0:
			case 1:
				head = append(head, line, "added "+line)
			case 2:
				head = append(head, "other "+line)
			default:
				head = append(head, line)
			}
		}
		moved := append(slices.Repeat([]string{"# of the base branch"}, r.IntN(9)), head...)
		f := Place(diff(t, base, head), []byte(strings.Join(moved, "\n")))
		var added, placed []string
		for _, line := range head {
			if !slices.Contains(base, line) {
				added = append(added, line)
			}
		}
		gone := 0
		for _, e := range f.Edits {
			gone += len(e.Removed)
			for n := e.First; n <= e.Last; n++ {
				placed = append(placed, moved[n-1])
				if at := f.Head(n); head[at-1] != moved[n-1] {
					t.Errorf("seed %d: line %d is said to be line %d of the head", seed, n, at)
				}
			}
		}
		if diff := cmp.Diff(added, placed); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
		if want := len(base) + len(added) - len(head); gone != want {
			t.Errorf("seed %d: %d lines are removed, want %d", seed, gone, want)
		}
	}
}

// diff returns the change of a file as GitHub lists it.
func diff(t *testing.T, before, after []string) string {
	t.Helper()
	dir := t.TempDir()
	for name, lines := range map[string][]string{"a": before, "b": after} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := exec.Command("git", "diff", "--no-index", "a", "b")
	git.Dir = dir
	out, _ := git.Output() // the exit code says that the files differ
	_, hunks, _ := strings.Cut(string(out), "\n@@ ")
	return strings.TrimSuffix("@@ "+hunks, "\n")
}

func TestPlaceInFiles(t *testing.T) {
	for _, c := range []struct {
		name, patch, content string
		want                 []causes.Edit
	}{
		{"a new file", "@@ -0,0 +1,2 @@\n+a\n+b", "a\nb\n", []causes.Edit{{First: 1, Last: 2, Added: []string{"a", "b"}}}},
		{"lines that are gone", "@@ -1,3 +1,2 @@\n a\n-b\n c", "a\nc\n", []causes.Edit{{First: 2, Last: 1, Added: []string{}, Removed: []string{"b"}}}},
		{"no lines are left", "@@ -1 +0,0 @@\n-a", "", []causes.Edit{{First: 1, Last: 0, Removed: []string{"a"}}}},
		{"the base branch has changed the line", "@@ -1 +1 @@\n-a\n+b", "c\n", nil},
		{"no line end at the end", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file", "b", []causes.Edit{{First: 1, Last: 1, Added: []string{"b"}, Removed: []string{"a"}}}},
		{"no patch", "", "a\n", nil},
		{"not a patch", "GIT binary patch\nx", "a\n", nil},
		{"a number that is too large", "@@ -1 +99999999999999999999 @@\n+a", "a\n", nil},
		{"a line far from where it was", "@@ -90 +90 @@\n-a\n+b", "b\n", []causes.Edit{{First: 1, Last: 1, Added: []string{"b"}, Removed: []string{"a"}}}},
	} {
		if diff := cmp.Diff(c.want, Place(c.patch, []byte(c.content)).Edits); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}

// TestPlaceEnds holds that a hostile patch does not cost much: equal lines everywhere, in thousands of hunks.
func TestPlaceEnds(t *testing.T) {
	patch := strings.Repeat("@@ -1,3 +1,3 @@\n x\n+x\n+y", 1)
	patch = strings.Repeat(patch+"\n", 20_000)
	content := strings.Repeat("x\n", 200_000)
	if f := Place(strings.TrimSuffix(patch, "\n"), []byte(content)); len(f.Edits) != 0 {
		t.Errorf("%d edits", len(f.Edits))
	}
}
