package project

import (
	"fmt"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/project/atlantis"
)

// TestOnApplied holds which settings merge: none that can only partly be read does.
func TestOnApplied(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"":                 "<nil>",
		"automerge {\n}\n": "&{merge false}",
		"automerge {\n  method = \"squash\"\n  delete_branch = true\n}\n": "&{squash true}",
		"automerge {\n  method = \"quash\"\n}\n":                          "<nil>",
		"automerge {\n  delete_branch = 7\n}\n":                           "<nil>",
		"automerge {\n}\nproject \"p\" {":                                 "<nil>",
		"automerge {\n}\nrequire \"apply\" {\n  approval = 1\n}\n":        "<nil>",
	} {
		s, _ := Parse(FileName, []byte(src))
		if got := fmt.Sprint(s.OnApplied()); got != want {
			t.Errorf("%q: %s, want %s", src, got, want)
		}
	}
	for src, want := range map[string]string{
		"version: 3\n":                     "<nil>",
		"version: 3\nautomerge: false\n":   "<nil>",
		"version: 3\nautomerge: perhaps\n": "<nil>",
		"version: 3\nautomerge: true\n":    "&{merge false}",
		"version: 3\nautomerge: true\ndelete_source_branch_on_merge: true\n": "&{merge true}",
		"version: 3\ndelete_source_branch_on_merge: true\n":                  "<nil>",
		"version: 3\nautomerge: true\nunknown: true\n":                       "<nil>",
	} {
		s, _ := Read(atlantis.FileName, []byte(src))
		if got := fmt.Sprint(s.OnApplied()); got != want {
			t.Errorf("%q: %s, want %s", src, got, want)
		}
		text, _, ds := Imported(tree(map[string]string{atlantis.FileName: src}), []byte(src), atlantis.Options{})
		if ds.HasErrors() {
			continue
		}
		if s, _ := Parse(FileName, text); fmt.Sprint(s.OnApplied()) != want {
			t.Errorf("%q is written as %s", src, text)
		}
	}
	if (*Settings)(nil).OnApplied() != nil {
		t.Error("no settings merge")
	}
}
