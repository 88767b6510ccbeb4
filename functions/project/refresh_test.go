package project

import (
	"strings"
	"testing"
)

// TestRefresh is a table of the arguments refresh and refresh_data. The base branch's project decides, then its
// environment, then the defaults.
func TestRefresh(t *testing.T) {
	t.Parallel()
	net := Project{Name: "net", Dir: "net", Workspace: DefaultWorkspace, Refresh: Refresh{Objects: "affected", Data: "affected"}} // what the pull request says has no effect
	const (
		env      = "environment \"prod\" {\n  refresh = \"affected\"\n}\n"
		defaults = "defaults {\n  refresh = \"affected\"\n  refresh_data = \"affected\"\n}\n"
	)
	for _, c := range []struct {
		base    string
		objects string
		data    string
	}{
		{"", "", ""},
		{"project \"net\" {\n  dir = \"net\"\n}\n", "", ""},
		{"project \"net\" {\n  dir = \"net\"\n  refresh = \"affected\"\n}\n", "affected", ""},
		{"project \"net\" {\n  dir = \"net\"\n  refresh = \"affected\"\n  refresh_data = \"affected\"\n}\n", "affected", "affected"},
		{"project \"*\" {\n  dir = \"*\"\n  refresh = \"affected\"\n}\n", "affected", ""},
		{defaults, "affected", "affected"},
		{defaults + "project \"net\" {\n  dir = \"net\"\n}\n", "affected", "affected"},
		{defaults + "project \"net\" {\n  dir = \"net\"\n  refresh = \"all\"\n}\n", "all", "affected"},
		{env + "project \"net\" {\n  dir = \"net\"\n  environment = \"prod\"\n}\n", "affected", ""},
		{env + "project \"net\" {\n  dir = \"net\"\n}\n", "", ""},
		{env + "project \"net\" {\n  dir = \"net\"\n  environment = \"prod\"\n  refresh = \"all\"\n}\n", "all", ""},
		{env + "defaults {\n  environment = \"prod\"\n}\n", "affected", ""},
		{env + "defaults {\n  environment = \"prod\"\n  refresh = \"all\"\n}\n", "affected", ""},
		{"environment \"prod\" {\n  refresh = \"all\"\n}\n" + defaults + "project \"net\" {\n  dir = \"net\"\n  environment = \"prod\"\n}\n", "all", "affected"},
		// Two blocks match, one by its name and one by its place: both have to agree.
		{"project \"net\" {\n  dir = \"a\"\n  refresh = \"affected\"\n}\nproject \"b\" {\n  dir = \"net\"\n}\n", "", ""},
		{"project \"net\" {\n  dir = \"a\"\n}\nproject \"b\" {\n  dir = \"net\"\n  refresh = \"affected\"\n}\n", "", ""},
		{"project \"net\" {\n  dir = \"net\"\n  refresh = \"affected\"\n  mode = \"shadow\"\n}\n", "", ""},
	} {
		s, ds := Parse(FileName, []byte(c.base))
		if got := s.RefreshOf(net); string(got.Objects) != c.objects || string(got.Data) != c.data || ds.HasErrors() {
			t.Errorf("%s: %+v, %v", c.base, got, ds)
		}
	}
	var none *Settings
	if none.RefreshOf(net) != (Refresh{}) {
		t.Error("without a file")
	}
	for _, block := range []string{"project \"net\" {\n  dir = \"net\"\n", "defaults {\n", "environment \"prod\" {\n"} {
		for _, value := range []string{"\"changed\"", "true", "null", "[\"affected\"]", "var.x"} {
			if _, ds := Parse(FileName, []byte(block+"  refresh = "+value+"\n}\n")); !ds.HasErrors() || !strings.Contains(said(ds), "lockstep.hcl:") {
				t.Errorf("%s%s: %s", block, value, said(ds))
			}
		}
		_, ds := Parse(FileName, []byte(block+"  refresh = \"changed\"\n}\n"))
		if !strings.Contains(said(ds), `"refresh" can be "all" or "affected" only`) {
			t.Error(said(ds))
		}
	}
}
