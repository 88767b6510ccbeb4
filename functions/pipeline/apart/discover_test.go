package apart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiscovered holds that the words about a file with settings come from the child without our secrets.
func TestDiscovered(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.Redact = func(s string, _ []string) string { return strings.ReplaceAll(s, "hunter2hunter2", "(hidden)") }
	dir := t.TempDir()
	const file = "version: 3\nprojects:\n- {dir: ., workflow: w}\n- {dir: hunter2hunter2}\nworkflows: {w: {plan: {steps: [plan: {extra_args: [-hunter2hunter2]}]}}}\n"
	for name, text := range map[string]string{"atlantis.yaml": file, "main.tf": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := e.Discover(t.Context(), dir)
	if err != nil || len(d.Projects) != 1 || d.Settings != "atlantis.yaml" || len(d.Notes) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	for what, text := range map[string]string{"note": d.Notes[0], "problem": d.Problem} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, "(hidden)") {
			t.Errorf("the %s is %s", what, text)
		}
	}
}
