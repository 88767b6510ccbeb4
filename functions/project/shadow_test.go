package project

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// texts returns errors and warnings as lines.
func texts(ds diags.Diagnostics) string {
	var out []string
	for _, d := range ds {
		out = append(out, d.String())
	}
	return strings.Join(out, "\n")
}

// TestShadow is a table of settings with the projects that are in shadow mode.
func TestShadow(t *testing.T) {
	t.Parallel()
	base := []Project{{Name: "net", Dir: "net", Workspace: "default"}, {Name: "db", Dir: "db", Workspace: "default"}}
	const block = "shadow {\n  tool   = \"atlantis\"\n  author = \"Acme-Atlantis[bot]\"\n}\n"
	for text, want := range map[string]struct {
		shadows string // of net, db and a new project
		only    bool
		problem string
	}{
		"":                                     {},
		"defaults {\n  mode = \"active\"\n}\n": {},
		"defaults {\n  mode = \"shadow\"\n}\n" + block:                                                      {"net db new", true, ""},
		"defaults {\n  mode = \"shadow\"\n}\nproject \"net\" {\n  dir  = \"net\"\n  mode = \"active\"\n}\n": {"db new", false, ""},
		"project \"net\" {\n  dir  = \"net\"\n  mode = \"shadow\"\n}\n":                                     {"net new", false, ""},
		"project \"n-*\" {\n  dir  = \"n*\"\n  mode = \"shadow\"\n}\n":                                      {"net new", false, ""},
		"defaults {\n  mode = \"off\"\n}\n":                                                                 {"net db new", true, "Invalid mode"},
		"defaults {\n  mode = null\n}\n":                                                                    {"net db new", true, "not null"},
		block:                                                                                               {"", false, "No project has mode"},
		block + block:                                                                                       {"", false, "Second shadow block"},
		"shadow {\n  tool = \"jenkins\"\n  author = \"a\"\n}\n":                                             {"", false, "Lockstep then compares its plans with the state after the apply"},
		"shadow {\n  tool = \"atlantis\"\n}\n":                                                              {"", false, "author"},
		"shadow {\n  tool = \"atlantis\"\n  author = \"a b\"\n}\n":                                          {"", false, "is not the login of a person or an App"},
		"shadow {\n  tool = \"atlantis\"\n  author = \"a/team\"\n}\n":                                       {"", false, "is not the login of a person or an App"},
	} {
		s, ds := Parse(FileName, []byte(text))
		if got := texts(ds); want.problem == "" && len(ds) > 0 || !strings.Contains(got, want.problem) {
			t.Errorf("%q: %s; want %q", text, got, want.problem)
		}
		var shadows []string
		for _, p := range append(base, Project{Name: "new", Dir: "elsewhere", Workspace: "default"}) {
			known := base
			if strings.Contains(text, "defaults") {
				known = nil // their mode is that of the defaults block, which Discover gives them
			}
			if s.Shadows(p, known) {
				shadows = append(shadows, p.Name)
			}
		}
		if got := strings.Join(shadows, " "); got != want.shadows || s.OnlyShadows() != want.only {
			t.Errorf("%q: shadow mode of %q, only: %t; want %q and %t", text, got, s.OnlyShadows(), want.shadows, want.only)
		}
	}
	if s := (*Settings)(nil); s.Shadows(base[0], base) || s.OnlyShadows() || s.ShadowsSome() {
		t.Error("without settings, projects are in shadow mode")
	}
	s, _ := Parse(FileName, []byte("defaults {\n  mode = \"shadow\"\n}\n"+block))
	if s.Shadow == nil || *s.Shadow != (Shadow{"atlantis", "acme-atlantis[bot]"}) {
		t.Errorf("the tool: %+v", s.Shadow)
	}
}

// TestShadowRenames holds that a project in shadow mode stays in it, whatever a pull request calls it and wherever it
// moves it.
func TestShadowRenames(t *testing.T) {
	t.Parallel()
	s, _ := Parse(FileName, []byte("project \"net\" {\n  dir  = \"net\"\n  mode = \"shadow\"\n}\nproject \"db\" {\n  dir = \"db\"\n}\n"))
	for _, p := range []Project{
		{Name: "net", Dir: "net", Workspace: "default"}, {Name: "net", Dir: "other", Workspace: "default"}, {Name: "net", Dir: "net", Workspace: "prod"},
		{Name: "other", Dir: "net", Workspace: "default"}, {Name: "other", Dir: "other", Workspace: "default"}, {Name: "db", Dir: "net", Workspace: "default"},
	} {
		if !s.Shadows(p, nil) {
			t.Errorf("%+v is not in shadow mode", p)
		}
	}
	if s.Shadows(Project{Name: "db", Dir: "db", Workspace: "default"}, nil) {
		t.Error("db is in shadow mode")
	}
}

// TestShadowWithoutEffect is a table of settings that shadow mode leaves without an effect.
func TestShadowWithoutEffect(t *testing.T) {
	t.Parallel()
	const only = "defaults {\n  mode = \"shadow\"\n}\n"
	for text, want := range map[string]string{
		only + "automerge {\n}\n":                                                       "lockstep.hcl:4: Automerge without effect",
		only + "check {\n  waiting = \"neutral\"\n}\n":                                  "lockstep.hcl:4: Block without effect",
		only + "drift {\n}\n":                                                           "The drift block counts once a project has mode",
		only + "require \"apply\" {\n  approvals = 1\n}\n":                              "Lockstep carries out no commands",
		only + "require \"plan\" {\n  by = [\"alice\"]\n}\n":                            "",
		"automerge {\n}\nproject \"net\" {\n  dir  = \"net\"\n  mode = \"shadow\"\n}\n": "Lockstep does not merge pull requests that change a project in shadow mode",
		"drift {\n}\nproject \"net\" {\n  dir  = \"net\"\n  mode = \"shadow\"\n}\n":     "",
	} {
		_, ds := Parse(FileName, []byte(text))
		if got := texts(ds); ds.HasErrors() || want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %s; want %q", text, got, want)
		}
	}
}
