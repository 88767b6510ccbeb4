package architecture

import (
	"os/exec"
	"strings"
	"testing"
)

// foreign holds the packages of ours that a main must not link, by its directory: what it
// links it loads at each cold start, and is one more thing that an attacker of it could use.
var foreign = map[string][]string{
	"functions/webhook": {"engine/...", "statebackend/...", "functions/project", "functions/pipeline/runs", "functions/pipeline/jobs", "functions/pipeline/dispatch", "functions/pipeline/executor"},
	"functions/janitor": {"engine/internal/applying", "engine/internal/planning", "engine/provider/process", "functions/pipeline/executor"},
	"functions/web":     {"engine/internal/applying", "engine/internal/planning", "engine/provider/process", "functions/pipeline/executor", "functions/pipeline/dispatch"},
	"cmd/release":       {"..."},
}

// leaves holds plain values that every main may link, although they stand in a foreign place: they
// import nothing at all, so that they bring no code along.
var leaves = []string{"engine/plans/counting"}

// TestLeaves holds that leaves import nothing, not even of the standard library.
func TestLeaves(t *testing.T) {
	for _, leaf := range leaves {
		out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}", module+leaf).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != module+leaf {
			t.Errorf("%q, %v: a leaf must import nothing", got, err)
		}
	}
}

// TestLinks holds that mains link nothing that is foreign to them, on whatever way.
func TestLinks(t *testing.T) {
	for main, patterns := range foreign {
		out, err := exec.Command("go", "list", "-deps", module+main).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		seen := false
		for path := range strings.Lines(string(out)) {
			dir, ours := strings.CutPrefix(strings.TrimSpace(path), module)
			switch {
			case dir == main:
				seen = true
			case ours && matches(dir, patterns) && !matches(dir, leaves):
				t.Errorf("%s links %s", main, dir)
			}
		}
		if !seen {
			t.Errorf("%s was not looked at", main)
		}
	}
}
