package project

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/project/environments"
)

// described is a lockstep.hcl with two environments.
const described = `
environment "production" {
  plan_role   = "arn:aws:iam::111111111111:role/plan"
  apply_role  = "arn:aws:iam::111111111111:role/apply"
  external_id = "lockstep-acme"
  region      = "eu-central-1"
  variables   = { size = 3, zones = ["a", "b"], name = "prod" }
  env         = { TEAM = "net", LEVEL = "1" }
  branches    = ["main", "release/*"]
}

environment "staging" {
  plan_role  = "arn:aws:iam::222222222222:role/plan"
  apply_role = "arn:aws:iam::222222222222:role/apply"
  variables  = { size = 1 }
}
`

// of is the project of a lockstep.hcl with the two environments, by its name.
func of(t *testing.T, more, name string) (*Settings, Project) {
	t.Helper()
	s, ds := Parse(FileName, []byte(described+more))
	if ds != nil {
		t.Fatal(said(ds))
	}
	files := tree(map[string]string{FileName: described + more, "net/main.tf": backend, "db/main.tf": backend, "svc/api/main.tf": backend})
	all, ds := discovered(files)
	if ds != nil {
		t.Fatal(said(ds))
	}
	for _, p := range all {
		if p.Name == name {
			return s, p
		}
	}
	t.Fatalf("there is no project %s", name)
	return nil, Project{}
}

func block(name, dir, more string) string {
	return fmt.Sprintf("project %q {\n  dir = %q\n%s}\n", name, dir, more)
}

const production, staging = "  environment = \"production\"\n", "  environment = \"staging\"\n"

// TestGrant is a table of the attacks on the roles of others, and of honest requests: the settings of
// the base commit, and of the pull request.
func TestGrant(t *testing.T) {
	t.Parallel()
	defaults := "defaults {\n" + staging + "}\n"
	for name, test := range map[string]struct {
		base, head, project, branch string
		want, no                    string
	}{
		"the same":                               {block("net", "net", production), block("net", "net", production), "net", "main", "production", ""},
		"a pattern of branches":                  {block("net", "net", production), block("net", "net", production), "net", "release/1", "production", ""},
		"another branch":                         {block("net", "net", production), block("net", "net", production), "net", "hotfix", "", "is only for pull requests into main, release/*, and this pull request is into hotfix"},
		"any branch":                             {block("net", "net", staging), block("net", "net", staging), "net", "hotfix", "staging", ""},
		"none":                                   {block("net", "net", ""), block("net", "net", ""), "net", "main", "", ""},
		"another one":                            {block("net", "net", staging), block("net", "net", production), "net", "main", "", `the environment "production" (lockstep.hcl:17), but the base branch gives it the environment "staging" (lockstep.hcl:17)`},
		"another one by the defaults":            {block("net", "net", "") + defaults, block("net", "net", "") + strings.ReplaceAll(defaults, staging, production), "net", "main", "", `but the base branch gives it the environment "staging"`},
		"away from its own":                      {block("net", "net", production), block("net", "net", ""), "net", "main", "", "no environment (lockstep.hcl:17), but the base branch gives it"},
		"another one by a new name":              {block("net", "net", staging), block("other", "net", production), "other", "main", "", `but the base branch gives it the environment "staging"`},
		"another one by the name of another":     {block("net", "net", production) + block("db", "db", staging), block("net", "db", production), "net", "main", "", `but the base branch gives it the environment "staging"`},
		"another one out of a pattern":           {block("svc-*", "svc/*", staging), block("svc-api", "svc/api", production), "svc-api", "main", "", `but the base branch gives it the environment "staging"`},
		"another one out of a pattern, by place": {block("svc-*", "svc/*", staging), block("x", "svc/api", production), "x", "main", "", `but the base branch gives it the environment "staging"`},
		"a new project":                          {block("net", "net", production), block("net", "net", production) + block("db", "db", staging), "db", "main", "staging", ""},
		"a new project, away from the defaults":  {defaults, block("db", "db", ""), "db", "main", "", "no environment (lockstep.hcl:17), but the base branch gives it"},
		"a directory, by the defaults":           {defaults, defaults, "net", "main", "staging", ""},
	} {
		base, _ := Parse(FileName, []byte(described+test.base))
		_, p := of(t, test.head, test.project)
		g, err := base.Grant(p, Grantee{Branch: test.branch})
		if (err == nil) != (test.no == "") || err != nil && !strings.Contains(err.Error(), test.no) || g.Name() != test.want {
			t.Errorf("%s: %q, %v; want %q %s", name, g.Name(), err, test.want, test.no)
		}
	}
}

// TestGrantOfTheBase holds that an environment's rights are those of the base commit, whatever the
// pull request writes into its block, and that one of the pull request alone has none.
func TestGrantOfTheBase(t *testing.T) {
	t.Parallel()
	_, p := of(t, block("net", "net", production), "net")
	role := func(account string) string {
		return "environment \"production\" {\n  plan_role = \"arn:aws:iam::" + account + ":role/p\"\n  apply_role = \"arn:aws:iam::" + account + ":role/a\"\n}\n"
	}
	for base, want := range map[string]string{
		role("333333333333") + block("net", "net", production): "arn:aws:iam::333333333333:role/p",
		role("333333333333"):  "arn:aws:iam::333333333333:role/p", // a new project
		block("db", "db", ""): "which the base branch does not have, and only the base branch grants roles and secrets. Merge the block environment \"production\"",
		"":                    "(lockstep.hcl:17), which the base branch does not have",
		"environment \"production\" {\n  region = 1\n}\n":                     "has errors on the base branch (lockstep.hcl:1), so Lockstep does not use its roles",
		"environment \"production\" {\n  plan_role = \"arn:aws:iam::3\"\n}\n": "has errors on the base branch",
	} {
		s, _ := Parse(FileName, []byte(base))
		g, err := s.Grant(p, Grantee{Branch: "main"})
		got, _ := g.Role(false)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || err != nil && g.Name() != "" {
			t.Errorf("%s:\n%s\nwant %s", base, got, want)
		}
	}
	if g, err := (*Settings)(nil).Grant(p, Grantee{Branch: "main"}); err == nil || g.Name() != "" {
		t.Errorf("a base without lockstep.hcl grants %q", g.Name())
	}
	if g, err := (*Settings)(nil).Grant(Project{Name: "net"}, Grantee{Branch: "main"}); err != nil || g.Name() != "" {
		t.Errorf("a base without lockstep.hcl: %q, %v", g.Name(), err)
	}
	s, _ := Parse(FileName, []byte(described))
	g, err := s.Grant(p, Grantee{Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	arn, id := g.Role(true)
	if d := cmp.Diff([]string{"arn:aws:iam::111111111111:role/apply", "lockstep-acme", "eu-central-1", "LEVEL=1", "TEAM=net"}, append([]string{arn, id, g.Region()}, g.Env()...)); d != "" {
		t.Error(d)
	}
	if arn, id := (environments.Granted{}).Role(true); arn != "" || id != "" {
		t.Error("the zero value grants a role")
	}
}

// TestVariables holds whose values win, and that projects of one block do not share theirs.
func TestVariables(t *testing.T) {
	t.Parallel()
	text := func(p Project) string {
		var out []string
		for name, v := range p.Variables {
			out = append(out, name+"="+string(v))
		}
		for name, v := range p.BackendConfig {
			out = append(out, "backend."+name+"="+string(v))
		}
		return strings.Join(slices.Sorted(slices.Values(out)), " ")
	}
	for src, want := range map[string]string{
		block("net", "net", production): `name="prod" size=3 zones=["a","b"]`,
		block("net", "net", production+"  variables = { size = { a = null, b = [true] } }\n"):                                                                  `name="prod" size={"a":null,"b":[true]} zones=["a","b"]`,
		"defaults {\n" + staging + "  variables = { x = 1 }\n}\n" + block("net", "net", ""):                                                                    `size=1 x=1`,
		"defaults {\n" + staging + "  variables = { x = 1 }\n}\n" + block("net", "net", "  variables = {}\n"):                                                  `size=1`,
		block("net", "net", "  backend_config = { key = \"k\", bucket = \"bbb\" }\n"):                                                                          `backend.bucket="bbb" backend.key="k"`,
		"defaults {\n  backend_config = [\"b.hcl\"]\n}\n" + block("net", "net", "  backend_config = { key = \"k\" }\n"):                                        `backend.key="k"`,
		"defaults {\n  backend_config = { key = \"k\" }\n}\n" + block("net", "net", "  variables = { y = \"é\" }\n") + block("db", "db", "  variables = {}\n"): `backend.key="k" y="é"`,
	} {
		all, _ := discovered(tree(map[string]string{FileName: described + src, "net/main.tf": backend, "db/main.tf": backend}))
		for _, p := range all {
			if p.Name == "net" && text(p) != want {
				t.Errorf("%s: %s\nwant %s", src, text(p), want)
			}
		}
		if len(all) == 0 {
			t.Errorf("%s: no project", src)
		}
	}
}

// TestPartialBackends holds that the address of a state is that of the whole backend, wherever its
// parts stand.
func TestPartialBackends(t *testing.T) {
	t.Parallel()
	const partial = "terraform {\n  backend \"s3\" {\n    bucket = \"old\"\n    region = \"eu-west-1\"\n  }\n}\n"
	for name, test := range map[string]struct {
		block, main, want string
	}{
		"values":        {"  backend_config = { bucket = \"bbb\", key = \"k\" }\n", partial, "s3://bbb/k"},
		"files":         {"  backend_config = [\"b.hcl\", \"c.tfbackend\"]\n", partial, "s3://bbb/c"},
		"json":          {"  backend_config = [\"b.json\"]\n", partial, "s3://bbb/j"},
		"no block":      {"  backend_config = { key = \"k\" }\n", "locals {}\n", "local warning: lockstep.hcl:1: Missing backend configuration: The project \"net\" has a backend_config, but its configuration has no backend block"},
		"missing":       {"  backend_config = [\"x.hcl\"]\n", partial, "error: lockstep.hcl:1: File of backend_config is missing: The backend_config of the project \"net\" names the file x.hcl, which is not in the repository."},
		"a function":    {"  backend_config = [\"f.hcl\"]\n", partial, "error: f.hcl:1: Function calls not allowed"},
		"other servers": {"  backend_config = { key = \"k\", endpoints = { s3 = \"https://evil.example\" } }\n", partial, " its backend names another server"},
		"outside":       {"  backend_config = [\"../b.hcl\"]\n", partial, "error: lockstep.hcl:3: Invalid path: The file \"../b.hcl\" is not in the repository"},
	} {
		all, ds := discovered(tree(map[string]string{
			FileName: block("net", "net", test.block), "net/main.tf": test.main, "b.hcl": "bucket = \"bbb\"\nkey = \"k\"\n", "c.tfbackend": "key = \"c\"\n",
			"b.json": `{"bucket": "bbb", "key": "j"}`, "f.hcl": "key = upper(\"k\")\n",
		}))
		got := ""
		for _, p := range all {
			got += p.Place.String() + " " + p.Nowhere
		}
		if got = strings.TrimSpace(got) + " " + said(ds); !strings.Contains(strings.TrimSpace(got), strings.TrimSpace(test.want)) {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
	// The files are inputs of the plan.
	files := tree(map[string]string{FileName: block("net", "net", "  backend_config = [\"b.hcl\"]\n"), "net/main.tf": partial, "b.hcl": "key = \"k\"\n"})
	all, _ := discovered(files)
	in, err := Inputs(files, all[0])
	if err != nil || in["b.hcl"] == "" {
		t.Errorf("%v, %v", in, err)
	}
	if got := touchedIn(t, files, tree(map[string]string{FileName: string(files[FileName].Data), "net/main.tf": partial, "b.hcl": "key = \"j\"\n"}), all, all); got != "net" {
		t.Error("a change of a backend's file touches nothing")
	}
}

// TestChangesOfSettings is a table of changes of lockstep.hcl alone, and of the projects that they
// plan.
func TestChangesOfSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ base, head, want string }{
		"nothing":                          {block("net", "net", "") + block("db", "db", ""), "# a comment\n" + block("net", "net", "") + block("db", "db", ""), ""},
		"one block":                        {block("net", "net", "") + block("db", "db", ""), block("net", "net", "  var_files = [\"x\"]\n") + block("db", "db", ""), "net"},
		"a new block":                      {block("net", "net", ""), block("net", "net", "") + block("db", "db", ""), "db"},
		"the defaults":                     {block("net", "net", "") + block("db", "db", "  workspace = \"x\"\n"), "defaults {\n  workspace = \"y\"\n}\n" + block("net", "net", "") + block("db", "db", "  workspace = \"x\"\n"), "net"},
		"an environment's variables":       {described + block("net", "net", staging) + block("db", "db", production), strings.ReplaceAll(described, "size = 1", "size = 2") + block("net", "net", staging) + block("db", "db", production), "net"},
		"an environment's roles":           {described + block("net", "net", staging), strings.ReplaceAll(described, "222222222222", "333333333333") + block("net", "net", staging), ""},
		"another environment":              {described + block("net", "net", staging), described + block("net", "net", production), "net"},
		"the occasion, which is no input":  {block("net", "net", ""), block("net", "net", "  apply = \"merge\"\n"), ""},
		"a pattern":                        {block("svc-*", "svc/*", ""), block("svc-*", "svc/*", "  workspace = \"x\"\n"), "svc-api"},
		"the same, as a block":             {block("svc-*", "svc/*", ""), block("svc-*", "svc/*", "") + block("svc-api", "svc/api", ""), ""},
		"files of a backend":               {block("net", "net", "  backend_config = [\"b.hcl\"]\n"), block("net", "net", "  backend_config = [\"c.hcl\"]\n"), "net"},
		"the same files of a backend":      {block("net", "net", "  backend_config = [\"b.hcl\"]\n"), block("net", "net", "  backend_config = [\"b.hcl\"]\n"), ""},
		"a first file, for the same":       {"", "defaults {\n}\n", ""},
		"a first file, with a variable":    {"", "defaults {\n  variables = { x = 1 }\n}\n", "db net svc/api"},
		"blocks in the place of defaults":  {"", block("net", "net", ""), ""},
		"a name in the place of defaults'": {"", block("n", "net", ""), "n"},
	} {
		files := map[string]string{"net/main.tf": backend, "db/main.tf": backend, "svc/api/main.tf": backend, "b.hcl": "key = \"b\"\n", "c.hcl": "key = \"c\"\n", "x": ""}
		was, now := files, with(files, FileName+"="+test.head)
		if test.base != "" {
			was = with(files, FileName+"="+test.base)
		}
		if _, ds := discovered(tree(now)); ds.HasErrors() {
			t.Fatalf("%s: %s", name, said(ds))
		}
		if s := touchedBy(t, was, now); s != test.want {
			t.Errorf("%s: %q, want %q", name, s, test.want)
		}
	}
}
