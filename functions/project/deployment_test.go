package project

import (
	"strings"
	"testing"
)

// units are environments of two deployments.
const units = `
environment "a" {
  deployment = "ou-a"
}

environment "b" {
}
`

// badUnits are environments with errors.
const badUnits = `
environment "bad" {
  deployment = "ou-c"
  region     = 1
}

environment "worse" {
  deployment = "OU"
}
`

// TestDeployment is a table of the deployments that serve a project, and whose rights it has from them, by the settings
// of the base commit: beside these, found has the projects of the base commit that are in no block.
func TestDeployment(t *testing.T) {
	t.Parallel()
	in := func(name string) string { return "  environment = \"" + name + "\"\n" }
	for name, test := range map[string]struct {
		base, head, project string
		found               []Project
		want                string
	}{
		"its environment's":                      {units + block("net", "net", in("a")), units + block("net", "net", in("a")), "net", nil, "ou-a"},
		"an environment without one":             {units + block("net", "net", in("b")), units + block("net", "net", in("b")), "net", nil, ""},
		"no environment":                         {units + block("net", "net", ""), units + block("net", "net", ""), "net", nil, ""},
		"no environment, but that of all":        {units + "defaults {\n" + in("a") + "}\n", units, "net", nil, "ou-a"},
		"away from the defaults' environment":    {units + "defaults {\n" + in("a") + "}\n", units + block("net", "net", ""), "net", nil, "ou-a"},
		"of the pull request alone":              {strings.ReplaceAll(units, "ou-a", "ou-b") + block("net", "net", in("a")), units + block("net", "net", in("a")), "net", nil, "ou-b"},
		"none on the base branch":                {block("net", "net", ""), units + block("net", "net", in("a")), "net", nil, ""},
		"another environment":                    {units + block("net", "net", in("a")), units + block("net", "net", in("b")), "net", nil, "ou-a"},
		"away from its own":                      {units + block("net", "net", in("a")), units + block("net", "net", ""), "net", nil, "ou-a"},
		"a new name":                             {units + block("net", "net", in("a")), units + block("other", "net", in("b")), "other", nil, "ou-a"},
		"out of a pattern":                       {units + block("svc-*", "svc/*", in("a")), units + block("x", "svc/api", in("b")), "x", nil, "ou-a"},
		"a new project":                          {units + block("net", "net", in("b")), units + block("net", "net", in("b")) + block("db", "db", in("a")), "db", nil, "ou-a"},
		"a new project of an unknown one":        {units, units + "environment \"z\" {\n  deployment = \"ou-a\"\n}\n" + block("db", "db", in("z")), "db", nil, ""},
		"a directory without a block":            {units, units + "defaults {\n" + in("a") + "}\n", "net", []Project{{Name: "net", Dir: "net", Workspace: "default"}}, ""},
		"a directory, named by a block":          {units, units + block("x", "net", in("a")), "x", []Project{{Name: "net", Dir: "net", Workspace: "default", Environment: "b"}}, ""},
		"an environment with an error":           {badUnits + block("net", "net", in("bad")), badUnits + block("net", "net", in("bad")), "net", nil, "ou-c"},
		"an environment with an error in itself": {badUnits + block("net", "net", in("worse")), badUnits + block("net", "net", in("worse")), "net", nil, ""},
	} {
		base, _ := Parse(FileName, []byte(test.base))
		all, _ := discovered(tree(map[string]string{FileName: test.head, "net/main.tf": backend, "db/main.tf": backend, "svc/api/main.tf": backend}))
		for _, p := range all {
			if p.Name != test.project {
				continue
			}
			test.project = ""
			if got := base.Deployment(p, test.found); got != test.want {
				t.Errorf("%s: %q, want %q", name, got, test.want)
			}
			for _, asked := range []string{"", "ou-a", "ou-b", "ou-c"} {
				g, err := base.Grant(p, Grantee{Branch: "main", Base: test.found, Deployment: asked})
				if asked != test.want && (err == nil || g.Name() != "" || !strings.Contains(err.Error(), DeploymentName(test.want)+" serves the project ")) {
					t.Errorf("%s: %q has rights: %q, %v", name, asked, g.Name(), err)
				}
				if asked == test.want && err != nil && strings.Contains(err.Error(), " serves the project ") {
					t.Errorf("%s: %q: %v", name, asked, err)
				}
			}
		}
		if test.project != "" {
			t.Errorf("%s: there is no project %s", name, test.project)
		}
	}
	if got := (*Settings)(nil).Deployment(Project{Name: "net", Environment: "a"}, nil); got != "" {
		t.Errorf("without settings: %q", got)
	}
}
