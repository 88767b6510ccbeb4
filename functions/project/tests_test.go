package project

import (
	"strings"
	"testing"
)

// TestTests is a table of the argument test: the base branch's project with the same name or place decides, then its defaults.
func TestTests(t *testing.T) {
	t.Parallel()
	net := Project{Name: "net", Dir: "net", Workspace: DefaultWorkspace, Test: true} // what the pull request says has no effect
	for _, c := range []struct {
		base string
		of   Project
		want bool
	}{
		{"", net, false},
		{"project \"net\" {\n  dir = \"net\"\n}\n", net, false},
		{"project \"net\" {\n  dir = \"net\"\n  test = true\n}\n", net, true},
		{"project \"net\" {\n  dir = \"elsewhere\"\n  test = true\n}\n", net, true},
		{"project \"other\" {\n  dir = \"net\"\n  test = true\n}\n", net, true},
		{"project \"other\" {\n  dir = \"other\"\n  test = true\n}\n", net, false},
		{"project \"*\" {\n  dir = \"*\"\n  test = true\n}\n", net, true},
		{"defaults {\n  test = true\n}\n", net, true},
		{"defaults {\n  test = true\n}\nproject \"net\" {\n  dir = \"net\"\n  test = false\n}\n", net, false},
		{"defaults {\n  test = true\n}\nproject \"other\" {\n  dir = \"other\"\n  test = false\n}\n", net, true},
	} {
		s, ds := Parse(FileName, []byte(c.base))
		if got := s.Tests(c.of); got != c.want || ds.HasErrors() {
			t.Errorf("%s: %t, %v", c.base, got, ds)
		}
	}
	var none *Settings
	if none.Tests(net) {
		t.Error("without a file")
	}
	s, ds := Parse(FileName, []byte("project \"net\" {\n  dir = \"net\"\n  test = \"yes\"\n}\n"))
	if s.Projects != nil || !strings.Contains(said(ds), "lockstep.hcl:3: Invalid value: The argument \"test\" must be true or false.") {
		t.Error(said(ds))
	}
}
