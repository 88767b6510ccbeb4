package project

import (
	"fmt"
	"testing"
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
	if (*Settings)(nil).OnApplied() != nil {
		t.Error("no settings merge")
	}
}
