package project

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

func TestParse(t *testing.T) {
	t.Parallel()
	s, ds := Parse(FileName, []byte(`
# everything
project "prod" {
  dir          = "./envs//prod/"
  workspace    = "blue"
  when_changed = ["envs/**", "./modules/{net,db}/*.tf"]
  var_files    = ["vars/../prod.tfvars"]
  apply        = "merge"
}

project "a/b" {
  dir = "."
}

project "quiet" {
  dir          = "quiet"
  when_changed = []
}

check {
  waiting = "action_required"
}

allow {
  providers    = ["hashicorp/*", "registry.example.com/acme/thing"]
  provisioners = true
  external     = "true"
  modules      = ["modules.example.com", "GitHub.com/Acme/*", "github.com/acme/net"]
  branches     = ["release/*", "hotfix"]
  forks        = true
  bots         = ["Renovate[bot]", "@mend[bot]"]
  commands     = ["atlantis", "tofu"]
  states       = ["s3://states/acme/infra/**", "s3://other/x"]
}
`))
	if ds != nil {
		t.Fatal(said(ds))
	}
	if s.OnWaiting() != WaitingFails {
		t.Errorf("a waiting plan is %q", s.OnWaiting())
	}
	want := []Project{
		{Name: "prod", Dir: "envs/prod", Workspace: "blue", WhenChanged: []string{"envs/**", "modules/{net,db}/*.tf"}, VarFiles: []string{"prod.tfvars"}, Apply: OnMerge, At: "lockstep.hcl:3"},
		{Name: "a/b", Dir: ".", Workspace: "default", Apply: OnComment, At: "lockstep.hcl:11"},
		{Name: "quiet", Dir: "quiet", Workspace: "default", WhenChanged: []string{}, Apply: OnComment, At: "lockstep.hcl:15"},
	}
	if diff := cmp.Diff(want, s.Projects); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(s.Allow); got != "{[registry.terraform.io/hashicorp/* registry.example.com/acme/thing] true true [modules.example.com github.com/acme/* github.com/acme/net] [release/* hotfix] [renovate[bot] mend[bot]] [atlantis tofu] true [s3://states/acme/infra/** s3://other/x]}" {
		t.Error(got)
	}
	for branch, want := range map[string]bool{"release/1": true, "hotfix": true, "release": false, "release/1/2": false, "mine": false, "": false} {
		if s.Names(branch) != want {
			t.Errorf("%q is named: %v", branch, !want)
		}
	}
	if (*Settings)(nil).Names("main") {
		t.Error("no settings name a branch")
	}
	if r := s.Range("a/b"); r.Start.Line != 11 {
		t.Errorf("the block of a/b is at %v", r)
	}
}

// TestParseRefuses is a table of mistakes: each is said with its line and the remedy,
// and none leaves a project.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	project := func(attrs string) string { return "project \"p\" {\n  dir = \"a\"\n  " + attrs + "\n}\n" }
	dir := func(dir string) string { return "project \"p\" {\n  dir = " + dir + "\n}\n" }
	for src, want := range map[string]string{
		"project {\n}\n":                                                             "lockstep.hcl:1: Missing name for project",
		"project \"p\" \"q\" {\n}\n":                                                 "lockstep.hcl:1: Extraneous label for project",
		"projects \"p\" {\n}\n":                                                      "has the arguments exclude, ignore_commands, discover, stateful, tools and apply_unseen, and blocks of the types project, defaults, environment, allow, check, automerge, drift, shadow, require, policy, gate, step, terragrunt, hook and notify only",
		"name = \"x\"\n":                                                             "lockstep.hcl:1: Unsupported argument",
		"check {\n  waiting = \"red\"\n}\n":                                          "lockstep.hcl:2: Invalid outcome of a check: While a plan waits to be applied, the check is \"neutral\"",
		"check {\n  color = \"red\"\n}\n":                                            "A check block can have waiting.",
		"automerge {\n  method = \"fast-forward\"\n}\n":                              "lockstep.hcl:2: Invalid way to merge: The method is \"merge\", \"squash\" or \"rebase\"",
		"automerge {\n  delete_branch = \"maybe\"\n}\n":                              "lockstep.hcl:2",
		"automerge {\n  when = true\n}\n":                                            "An automerge block can have method and delete_branch.",
		"automerge {\n}\nautomerge {\n}\n":                                           "lockstep.hcl:3: Second automerge block",
		"check {\n}\ncheck {\n}\n":                                                   "lockstep.hcl:3: Second check block",
		"project \"p\" {\n}\n":                                                       `argument "dir" is required`,
		"project \"p\" {":                                                            "lockstep.hcl:1: Unclosed configuration block",
		project("wrokspace = \"x\""):                                                 "lockstep.hcl:3: Unsupported argument: An argument named \"wrokspace\" is not expected here. Did you mean \"workspace\"? A project block can have dir, workspace,",
		project("allow {\n  }"):                                                      "lockstep.hcl:3: Unsupported block type",
		project("workspace = \"a b\""):                                               "lockstep.hcl:3: Invalid workspace",
		project("workspace = \"a/b\""):                                               "Invalid workspace",
		project("workspace = \"$(id)\""):                                             "Invalid workspace",
		project("workspace = \"\""):                                                  "Invalid workspace",
		project("workspace = null"):                                                  "must be a text, not null",
		project("workspace = var.x"):                                                 "lockstep.hcl:3: Variables not allowed",
		project("workspace = lower(\"x\")"):                                          "lockstep.hcl:3: Function calls not allowed",
		project("workspace = [1]"):                                                   "must be a text",
		project("apply = \"now\""):                                                   `lockstep.hcl:3: Invalid occasion: A project is applied on "comment"`,
		project("apply = true"):                                                      "Invalid occasion",
		project("when_changed = \"a\""):                                              "must be a list of texts",
		project("when_changed = [1]"):                                                "must be a list of texts",
		project("when_changed = [\"[\"]"):                                            "lockstep.hcl:3: Invalid pattern",
		project("when_changed = [\"../x\"]"):                                         "outside of the repository",
		project("when_changed = [\"/x\"]"):                                           "outside of the repository",
		project("when_changed = [\"" + strings.Repeat("{a,a}", 30) + "\"]"):          "lockstep.hcl:3: Invalid pattern: A pattern has at most",
		project("when_changed = [\"" + strings.Repeat("a", 201) + "\"]"):             "A pattern has at most 200 bytes",
		project("when_changed = [" + strings.Repeat("\"a\", ", 101) + "]"):           "Too many patterns: There are 101 patterns",
		project("when_changed = [\"\"]"):                                             "Invalid pattern",
		project("var_files = [\"../x\"]"):                                            "lockstep.hcl:3: Invalid path: The file \"../x\" is not in the repository",
		project("var_files = [\"/etc/x\"]"):                                          "is not in the repository",
		"defaults {\n  dir = \"a\"\n}\n":                                             "A defaults block can have workspace, environment, when_changed, var_files, variables, backend_config, provider_parallelism, language, refresh, refresh_data, test, mode and apply.",
		"defaults {\n}\ndefaults {\n}\n":                                             "lockstep.hcl:3: Second defaults block",
		"defaults {\n  apply = \"now\"\n}\n":                                         "lockstep.hcl:2: Invalid occasion",
		"defaults {\n  workspace = \"a b\"\n}\n":                                     "lockstep.hcl:2: Invalid workspace",
		"exclude = \"a\"\n":                                                          "must be a list of texts",
		"exclude = [\"../a\"]\n":                                                     "lockstep.hcl:1: Invalid pattern",
		"exclude = [\"a\"]\n" + dir(`"a/b"`):                                         "lockstep.hcl:3: Project is excluded: The directory a/b of the project \"p\" is excluded by the argument exclude",
		dir(`"a/*"`):                                                                 "lockstep.hcl:1: Invalid pattern of projects: The name \"p\" and the directory \"a/*\" must have the same number of *",
		"project \"p-*\" {\n  dir = \"a\"\n}\n":                                      "must have the same number of *",
		"project \"p-*\" {\n  dir = \"a/**\"\n}\n":                                   "lockstep.hcl:1: Invalid pattern of directories",
		"project \"-*\" {\n  dir = \"a/*\"\n}\n":                                     "lockstep.hcl:1: Invalid name of a project",
		"project \"p-*\" {\n  dir = \"../*\"\n}\n":                                   "lockstep.hcl:2: Invalid path",
		strings.Repeat("project \"p-*\" {\n  dir = \"a/*\"\n}\n", 2):                 "lockstep.hcl:4: Two projects with one name",
		dir(`"../.."`):                                                               "The directory \"../..\" is not in the repository",
		dir(`"a/../../b"`):                                                           "is not in the repository",
		dir(`"/etc"`):                                                                "is not in the repository",
		dir(`"a\\b"`):                                                                "is not in the repository",
		dir(`"a\nb"`):                                                                "is not in the repository",
		dir(`""`):                                                                    "must not be empty",
		dir("null"):                                                                  "must be a text, not null",
		"project \"; rm -rf /\" {\n  dir = \"a\"\n}\n":                               "lockstep.hcl:1: Invalid name of a project",
		"project \"-p\" {\n  dir = \"a\"\n}\n":                                       "Invalid name of a project",
		"project \"" + strings.Repeat("x", 201) + "\" {\n  dir = \"a\"\n}\n":         "at most 200 bytes",
		dir(`"a"`) + dir(`"b"`):                                                      "lockstep.hcl:4: Two projects with one name: There is another project \"p\" at lockstep.hcl:1",
		dir(`"a"`) + "project \"q\" {\n  dir = \"./a\"\n}\n":                         "lockstep.hcl:4: Two projects with one state: The project \"p\" has the directory a",
		"allow {\n}\nallow {\n}\n":                                                   "lockstep.hcl:3: Second allow block",
		"allow {\n  bots = [\"renovate\"]\n}\n":                                      "\"renovate\" is not the login of an App",
		"allow {\n  bots = [\"acme/bots\"]\n}\n":                                     "is not the login of an App",
		"allow {\n  bots = [\"[bot]\"]\n}\n":                                         "is not the login of an App",
		"allow {\n  shell = true\n}\n":                                               "An allow block can have providers, provisioners, external, modules, branches, bots, commands, forks and states.",
		"allow {\n  commands = [\"Atlantis\"]\n}\n":                                  "Lockstep does not know the commands of \"Atlantis\". Did you mean \"atlantis\"? Write one of atlantis, digger, terraform, tofu.",
		"allow {\n  modules = [\"github.com\"]\n}\n":                                 "lockstep.hcl:2: Invalid place of modules: \"github.com\" is not a repository: write github.com/OWNER/NAME",
		"allow {\n  modules = [\"github.com/acme\"]\n}\n":                            "is not a repository",
		"allow {\n  modules = [\"github.com/*/net\"]\n}\n":                           "is not a repository",
		"allow {\n  modules = [\"github.com/acme/net/sub\"]\n}\n":                    "is not a repository",
		"allow {\n  modules = [\"github.com/acme/..\"]\n}\n":                         "is not a repository",
		"allow {\n  modules = [\"example.com/acme/net/aws\"]\n}\n":                   "is a part of a host, and only a whole host can be allowed: write \"example.com\"",
		"allow {\n  modules = [\"https://example.com\"]\n}\n":                        "is not a host",
		"allow {\n  modules = [\"example.com:8443\"]\n}\n":                           "is not a host: write its name without a scheme and a port",
		"allow {\n  modules = [\"*\"]\n}\n":                                          "is not a host",
		"allow {\n  modules = [\"10.0.0.1\"]\n}\n":                                   "is not a host",
		"allow {\n  modules = \"example.com\"\n}\n":                                  "must be a list of texts",
		"allow {\n  modules = [" + strings.Repeat("\"a.b\", ", 101) + "]\n}\n":       "Too many patterns: There are 101 places",
		"allow {\n  branches = [\"[\"]\n}\n":                                         "lockstep.hcl:2: Invalid pattern: \"[\" is not a pattern of branches",
		"allow {\n  branches = [\"\"]\n}\n":                                          "is not a pattern of branches",
		"allow {\n  branches = \"main\"\n}\n":                                        "must be a list of texts",
		"allow {\n  branches = [" + strings.Repeat("\"a\", ", 101) + "]\n}\n":        "Too many patterns: There are 101 patterns",
		"allow {\n  branches = [\"" + strings.Repeat("{a,a}", 30) + "\"]\n}\n":       "A pattern has at most",
		"allow {\n  states = [\"states/net\"]\n}\n":                                  "lockstep.hcl:2: Invalid pattern of states: \"states/net\" is not a pattern of states: write s3://BUCKET/KEY",
		"allow {\n  states = [\"s3://*/net\"]\n}\n":                                  "with the bucket's own name",
		"allow {\n  states = \"s3://states/net\"\n}\n":                               "must be a list of texts",
		"allow {\n  states = [" + strings.Repeat("\"s3://abc/d\", ", 101) + "]\n}\n": "Too many patterns: There are 101 patterns of states",
		"allow {\n  provisioners = \"perhaps\"\n}\n":                                 "must be true or false",
		"allow {\n  providers = [\"a\"]\n}\n":                                        "lockstep.hcl:2: Invalid pattern of providers",
		"allow {\n  providers = [\"*/hashicorp/aws\"]\n}\n":                          "must not be followed by a name",
		"# " + strings.Repeat("x", maxSize) + "\n":                                   "at most 524288 are read",
		"x = " + strings.Repeat("(", maxSize/3) + "1" + strings.Repeat(")", maxSize/3) + "\n": "lockstep.hcl:1: Nested too deep",
		"x = " + strings.Repeat("!", maxSize/2) + "true\n":                                    "Nested too deep",
		"x = (\n" + strings.Repeat("!\n", maxSize/3) + "true)\n":                              "Nested too deep",
		"x = " + strings.Repeat("\"${", maxSize/5) + "\n":                                     "Nested too deep",
		"x = " + strings.Repeat("a?", maxSize/5) + "\n":                                       "Nested too deep",
		strings.Repeat("allow {\n", maxSize/10):                                               "Nested too deep",
	} {
		s, ds := Parse(FileName, []byte(src))
		short := src[:min(len(src), 60)]
		if !ds.HasErrors() || !strings.Contains(said(ds), want) {
			t.Errorf("%q: %.1000s\nwant %s", short, said(ds), want)
		}
		if len(s.Projects) > strings.Count(src, "project ")-1 && len(s.Projects) > 0 {
			t.Errorf("%q leaves %v", short, s.Projects)
		}
	}
}

// TestNames holds that a project's name is what a command can name, and the other
// way round.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", ".", "..", "a", "A0_", "a.b-c", "a/b", "a//b", "/a", "a/", "a/../b", "a/.b", ".a", "-a", "_a", "a/-b", "a b", "a;b", "a\nb", "é", "a\\b",
		strings.Repeat("x", 200), strings.Repeat("x", 201),
	} {
		if got, want := validName(name), grammar.ValidName(name); got != want {
			t.Errorf("%q: %v, and in commands %v", name, got, want)
		}
	}
}

func TestApplyOn(t *testing.T) {
	t.Parallel()
	base := &Settings{Projects: []Project{
		{Name: "prod", Dir: "envs/prod", Workspace: "default", Apply: OnMerge},
		{Name: "stage", Dir: "envs/stage", Workspace: "default", Apply: OnComment},
	}}
	easy := &Settings{Projects: base.Projects[1:]}
	behind := &Settings{Projects: []Project{
		base.Projects[0],
		{Name: "app", Dir: "app", Apply: OnComment, DependsOn: []string{"pr*"}}, {Name: "web", Dir: "web", Apply: OnComment, DependsOn: []string{"app", "web"}},
		{Name: "own", Dir: "own", Apply: OnComment, DependsOn: []string{"other", "svc-*"}}, {Name: "other", Dir: "other", Apply: OnComment, DependsOn: []string{"own"}},
		{Name: "ui", Dir: "ui", Apply: OnComment, DependsOn: []string{"job-a"}}, {Name: "jobs", Dir: "jobs", Apply: OnComment, DependsOn: []string{"job-*"}},
	}, wildcards: []wildcard{{Project: Project{Name: "job-*", Dir: "jobs/*", Apply: OnMerge}, name: starred("job-*"), dir: starred("jobs/*")}}}
	for _, test := range []struct {
		what string
		base *Settings
		p    Project
		want ApplyOn
	}{
		{"no file", nil, Project{Name: "x"}, OnComment},
		{"its own word does not count", nil, Project{Name: "x", Apply: OnMerge}, OnComment},
		{"as it says", base, Project{Name: "stage", Dir: "envs/stage", Workspace: "default"}, OnComment},
		{"as it says", base, Project{Name: "prod", Dir: "envs/prod", Workspace: "default", Apply: OnComment}, OnMerge},
		{"a new name for the same place", base, Project{Name: "fast", Dir: "envs/prod", Workspace: "default"}, OnMerge},
		{"the name of another in the same place", base, Project{Name: "stage", Dir: "envs/prod", Workspace: "default"}, OnMerge},
		{"the name in another place", base, Project{Name: "prod", Dir: "elsewhere", Workspace: "default"}, OnMerge},
		{"a new one, where some are careful", base, Project{Name: "new", Dir: "new", Workspace: "default"}, OnMerge},
		{"behind one on merge", behind, Project{Name: "app", Dir: "app"}, OnMerge},
		{"behind another one", behind, Project{Name: "web", Dir: "web"}, OnMerge},
		{"behind one of many directories", behind, Project{Name: "ui", Dir: "ui"}, OnMerge},
		{"behind all of them", behind, Project{Name: "jobs", Dir: "jobs"}, OnMerge},
		{"in a circle", behind, Project{Name: "own", Dir: "own"}, OnComment},
		{"a new one, where none is", easy, Project{Name: "new", Dir: "new", Workspace: "default", Apply: OnMerge}, OnComment},
	} {
		if got := test.base.ApplyOn(test.p); got != test.want {
			t.Errorf("%s: %s", test.what, got)
		}
	}
}

// FuzzParse holds that whatever is understood keeps the rules.
func FuzzParse(f *testing.F) {
	f.Add([]byte("project \"p\" {\n  dir = \"a/../b\"\n  when_changed = [\"**\"]\n  var_files = [\"x\"]\n  apply = \"merge\"\n}\n"))
	f.Add([]byte("allow {\n  providers = [\"hashicorp/*\"]\n  external = true\n}\n"))
	f.Add([]byte("project \"p\" {\n  dir = \"\\u0000\"\n}\nproject \"p\" {"))
	f.Add([]byte("exclude = [\"x/**\"]\ndefaults {\n  apply = \"merge\"\n  workspace = \"w\"\n}\nproject \"p-*\" {\n  dir = \"a/*\"\n}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, ds := Parse(FileName, src)
		seen := map[string]bool{}
		for _, p := range s.Projects {
			if !validName(p.Name) || !validName(p.Workspace) || seen[p.Name] || seen[p.Dir+" "+p.Workspace] {
				t.Errorf("%+v", p)
			}
			seen[p.Name], seen[p.Dir+" "+p.Workspace] = true, true
			for _, name := range append(p.VarFiles, p.Dir) {
				if strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") || name == "" {
					t.Errorf("the path %q", name)
				}
			}
			if p.Apply != OnComment && p.Apply != OnMerge {
				t.Errorf("%+v", p)
			}
		}
		for _, d := range ds {
			if d.Summary == "" || d.Detail == "" {
				t.Errorf("%+v says nothing", d)
			}
		}
	})
}
