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
	"functions/janitor": {"engine/applying", "engine/planning", "engine/provider/process", "functions/pipeline/executor"},
	"cmd/release":       {"..."},
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
			case ours && matches(dir, patterns):
				t.Errorf("%s links %s", main, dir)
			}
		}
		if !seen {
			t.Errorf("%s was not looked at", main)
		}
	}
}
