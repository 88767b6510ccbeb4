package main

import (
	"strings"
	"testing"
)

// TestDocs reads the documentation on the command line.
func TestDocs(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                                "  reference/settings ",
		"reference/settings":              "# Settings",
		"settings":                        "# Settings",
		"settings#gate":                   "## gate\n",
		"-search=deployment\trunner":      "reference/settings#environment\n",
		"setings":                         "lockstep: error: there is no topic \"setings\"; the nearest are reference/settings",
		"settings#gat":                    "lockstep: error: reference/settings has no section \"gat\"; the nearest are gate, ",
		"../../etc/passwd":                "lockstep: error: there is no topic \"../../etc/passwd\"; the nearest are ",
		"-search=zzzz":                    "lockstep: error: no page has the words \"zzzz\"",
		"settings reference/settings":     "\nError: Too many command line arguments",
		"-search=gate reference/settings": "\nError: Too many command line arguments",
	} {
		line := append([]string{"docs"}, strings.Fields(args)...)
		if strings.Contains(args, "\t") {
			line = []string{"docs", strings.ReplaceAll(args, "\t", " ")}
		}
		r := inProcess(line...)
		if out := r.Out + r.Stderr; r.Code != 0 != strings.Contains(want, "rror: ") || !strings.Contains(out, want) {
			t.Errorf("docs %s: %+v", args, r)
		}
	}
}
