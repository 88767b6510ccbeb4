package project

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/functions/project/atlantis"
	"github.com/lockstep-iac/lockstep/functions/project/order"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// samples are the files that package atlantis reads in its test.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("atlantis/testdata/*.txtar")
	if err != nil || len(names) < 40 {
		t.Fatalf("%d samples: %v", len(names), err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = a.Files[0].Data
	}
	return out
}

// same compares the settings of an atlantis.yaml with those of its lockstep.hcl, all but the places in the files, and the
// projects that they make of a checkout in which each listed directory has a configuration.
func same(t testing.TB, files fstest.MapFS, src []byte) {
	t.Helper()
	was, _, _ := foreignSettings(src)
	for _, p := range was.Projects {
		files[path.Join(p.Dir, "main.tf")] = &fstest.MapFile{Mode: 0o644}
	}
	text, _, ds := Imported(files, src, atlantis.Options{})
	if ds.HasErrors() {
		return
	}
	is, ds := Parse(FileName, text)
	if ds.HasErrors() {
		t.Fatalf("%s: %s\n%s", src, said(ds), text)
	}
	made := func(s *Settings) []Project {
		all, _, ds := s.expanded(files)
		if ds.HasErrors() {
			t.Fatalf("%s: %s\n%s", src, said(ds), text)
		}
		for i, p := range all {
			all[i] = s.completed(p)
		}
		return slices.SortedFunc(slices.Values(all), byName)
	}
	was.spell(regular(files))
	if diff := cmp.Diff(made(was), made(is), withoutPlaces); diff != "" {
		t.Fatalf("%s\n%s\n%s", src, text, diff)
	}
	was.fold(files)
	if diff := cmp.Diff(was, is, withoutPlaces); diff != "" {
		t.Fatalf("%s\n%s\n%s", src, text, diff)
	}
	again, _, _ := Imported(files, src, atlantis.Options{})
	if string(again) != string(text) {
		t.Errorf("two texts:\n%s\n%s", text, again)
	}
}

// withoutPlaces compares settings, but for where they stand in their files.
var withoutPlaces = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.FilterPath(func(p cmp.Path) bool {
		return slices.Contains([]string{".At", ".Files", ".at", ".ranges", ".depends", ".guards", ".excludeAt"}, p.Last().String())
	}, cmp.Ignore()),
	cmp.Comparer(func(a, b *regexp.Regexp) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b json.RawMessage) bool { return string(a) == string(b) }),
	cmpopts.SortSlices(func(a, b Project) bool { return a.Name < b.Name }),
}

// TestImported holds that the settings of the written file are those of atlantis.yaml, of all samples.
func TestImported(t *testing.T) {
	t.Parallel()
	for _, src := range samples(t) {
		same(t, tree(map[string]string{"app/env/staging.tfvars": "", "dns/env/default.tfvars": "", "services/x/env/default.tfvars": ""}), src)
	}
}

// FuzzImported holds that nothing in an atlantis.yaml makes us fail, that what is written can be read,
// and says the same.
func FuzzImported(f *testing.F) {
	for _, src := range samples(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) { same(t, tree(nil), src) })
}

// TestOrderOfAtlantis holds which projects of an atlantis.yaml wait for which others, and that the written file says
// the same.
func TestOrderOfAtlantis(t *testing.T) {
	t.Parallel()
	const src = `version: 3
projects:
- {name: net, dir: net}
- {name: dns, dir: dns, depends_on: [net, gone]}
- {name: db, dir: db, execution_order_group: 5}
- {name: app, dir: app, execution_order_group: 7, depends_on: [dns]}
- {name: web, dir: web, execution_order_group: 7}
- {name: early, dir: early, execution_order_group: -1}
`
	files := map[string]string{}
	for _, dir := range strings.Fields("net dns db app web early") {
		files[dir+"/main.tf"] = backend
	}
	const want = "app:[db dns early net] db:[dns early net] dns:[early net] early:[] net:[early] web:[db dns early net]"
	waits := func(files map[string]string) string {
		all, ds := discovered(tree(files))
		if ds.HasErrors() {
			t.Fatal(said(ds))
		}
		progress, out := map[string]order.Progress{}, []string{}
		for _, p := range all {
			progress[p.Name] = order.Pending
		}
		for _, p := range all {
			out = append(out, fmt.Sprint(p.Name, ":", order.Waits(EdgesOf(all), progress, p.Name)))
		}
		return strings.Join(out, " ")
	}
	files[atlantis.FileName] = src
	if got := waits(files); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	text, notices, ds := Imported(tree(files), []byte(src), atlantis.Options{})
	if ds.HasErrors() || len(notices) != 1 || notices[0].Key != "depends_on gone" {
		t.Errorf("%v, %s", notices, said(ds))
	}
	files[FileName] = string(text)
	if got := waits(files); got != want {
		t.Errorf("written: %s, want %s\n%s", got, want, text)
	}
	if s, _ := Parse(FileName, text); !s.Orders() {
		t.Error("the written settings have no order")
	}
	if s, _ := Read(atlantis.FileName, []byte(src)); !s.Orders() {
		t.Error("the settings have no order")
	}
	if s, _ := Read(atlantis.FileName, []byte("version: 3\nprojects:\n- {name: net, dir: net, execution_order_group: 2}\n- {name: dns, dir: dns, execution_order_group: 2}\n")); s.Orders() {
		t.Error("one group has an order")
	}
}

// TestImportedText is one written file, whole.
func TestImportedText(t *testing.T) {
	t.Parallel()
	const src = `version: 3
automerge: true
projects:
- name: app
  dir: app
  workspace: live
  workflow: w
  apply_requirements: [approved, undiverged]
  autoplan: {when_modified: ["*.tf", "!*_test.tf"]}
- dir: dns
workflows:
  w:
    plan:
      steps:
      - init: {extra_args: [-backend-config=live.hcl]}
      - run: "make # $(id)"
      - plan: {extra_args: ['-var=zones=["a"]', "-var=text=${x}"]}
`
	files := tree(map[string]string{"app/env/live.tfvars": ""})
	if _, _, ds := Imported(files, []byte(src), atlantis.Options{}); !strings.Contains(said(ds), "Steps that decide on an apply") {
		t.Errorf("a step that decides is not refused: %s", said(ds))
	}
	if _, _, ds := Imported(files, []byte(src), atlantis.Options{DropSteps: true}); !strings.Contains(said(ds), "contains $x") {
		t.Errorf("a variable of the server is not refused: %s", said(ds))
	}
	got, notices, ds := Imported(files, []byte(strings.Replace(src, "${x}", "%{x}", 1)), atlantis.Options{DropSteps: true})
	const want = `# Written from atlantis.yaml.
#
# run (atlantis.yaml:16): not carried over.
#   Lockstep runs no commands of atlantis.yaml, and you chose to leave out this step. If the step decided about applies, write a step block, a gate block, or a require block with checks. If it generated files, write a step block on "generate", or commit them.

automerge {
}

project "app" {
  dir          = "app"
  workspace    = "live"
  when_changed = ["app/*.tf", "!app/*_test.tf"]
  var_files    = ["app/env/live.tfvars"]
  variables = {
    text  = "%%{x}"
    zones = ["a"]
  }
  backend_config = ["app/live.hcl"]
}

project "dns" {
  dir = "dns"
}

require "apply" {
  projects   = ["app"]
  approvals  = 1
  up_to_date = true
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" || len(notices) != 1 || ds.HasErrors() {
		t.Errorf("%s\n%v %s", diff, notices, said(ds))
	}
}

// TestImportedSteps is a written file with step blocks, whole.
func TestImportedSteps(t *testing.T) {
	t.Parallel()
	const src = `version: 3
projects:
- {name: app, dir: app, workflow: w}
- {name: dns, dir: dns}
workflows:
  w:
    plan:
      steps:
      - env: {name: TFLINT_LOG, value: "${x}"}
      - run: tflint --format=sarif '--chdir=a "b"'
      - plan
      - run: make check | tee log
    policy_check:
      steps:
      - run: conftest test $SHOWFILE
`
	if _, _, ds := Imported(tree(nil), []byte(src), atlantis.Options{Steps: true}); !strings.Contains(said(ds), "because it has a pipe (|)") {
		t.Errorf("a step with a pipe is not refused: %s", said(ds))
	}
	got, notices, ds := Imported(tree(nil), []byte(src), atlantis.Options{Steps: true, DropSteps: true})
	const want = `# Written from atlantis.yaml.
#
# env TFLINT_LOG (atlantis.yaml:9): not carried over.
#   Write the environment variables of providers into an environment block of lockstep.hcl, on the base branch.
#
# run (atlantis.yaml:10): carried over in another form.
#   The step block "tflint" replaces it. Add the program tflint to the toolbox.
#
# run (atlantis.yaml:12): not carried over.
#   No step block can replace it, because it has a pipe (|). You chose to leave out the step. If it decided about applies, write a gate block, or a require block with checks. If it generated files, commit them.
#
# policy_check (atlantis.yaml:13): not carried over.
#   For conftest policies, write a policy block in lockstep.hcl; the directory stays as it is. For approvals, checks and limits of changes, write a require block.
#
# run (atlantis.yaml:15): carried over in another form.
#   The step block "conftest" replaces it. Add the program conftest to the toolbox.

project "app" {
  dir = "app"
}

project "dns" {
  dir = "dns"
}

step "tflint" {
  on       = "before_plan"
  program  = ["tflint", "--format=sarif", "--chdir=a \"b\""]
  projects = ["app"]
  env = {
    TFLINT_LOG = "$${x}"
  }
}

step "conftest" {
  on       = "after_plan"
  program  = ["conftest", "test", "{plan_json}"]
  projects = ["app"]
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" || len(notices) != 5 || ds.HasErrors() {
		t.Errorf("%s\n%v %s", diff, notices, said(ds))
	}
}

// TestAtlantisDiscovered holds which file counts, and the projects that it makes.
func TestAtlantisDiscovered(t *testing.T) {
	t.Parallel()
	const yaml = "version: 3\nparallel_plan: false\nprojects:\n- {dir: app}\n- {dir: db, workspace: live}\n- {dir: gone}\n"
	files := map[string]string{"app/main.tf": backend, "db/main.tf": "", "db/env/live.tfvars": "x = 1", "other/main.tf": backend, atlantis.FileName: yaml}
	got, ds := Discover(tree(files))
	var names []string
	for _, p := range got.Projects {
		names = append(names, fmt.Sprintf("%s %s %s %v", p.Name, p.Workspace, p.At, p.VarFiles))
	}
	if diff := cmp.Diff([]string{"app default atlantis.yaml:4 []", "db/live live atlantis.yaml:5 [db/env/live.tfvars]"}, names); diff != "" {
		t.Error(diff)
	}
	if got.Settings != atlantis.FileName || got.Ignored || len(got.Notices) != 1 || !strings.Contains(said(ds), `The directory gone of the project "gone" has no configuration files`) {
		t.Errorf("%+v %s", got, said(ds))
	}
	if d := ds[0].Subject; d.Filename != atlantis.FileName || d.Start.Line != 6 {
		t.Errorf("the error is at %s", d)
	}
	files[FileName] = "project \"one\" {\n  dir = \"other\"\n}\n"
	got, ds = Discover(tree(files))
	if len(got.Projects) != 1 || got.Settings != FileName || !got.Ignored || got.Notices != nil || len(ds) > 0 {
		t.Errorf("%+v %s", got, said(ds))
	}
	got, ds = Discover(tree(map[string]string{"app/main.tf": backend, "modules/x/main.tf": backend, atlantis.FileName: "version: 3\nautodiscover: {ignore_paths: ['modules/*']}\n"}))
	if len(got.Projects) != 1 || got.Projects[0].Name != "app" || len(ds) > 0 {
		t.Errorf("%+v %s", got, said(ds))
	}
	got, ds = Discover(tree(map[string]string{"app/main.tf": backend, atlantis.FileName: "version: 3\nautodiscover: {mode: disabled}\n"}))
	if len(got.Projects) != 0 {
		t.Errorf("%+v %s", got, said(ds))
	}
	// Listed projects, patterns and other directories mix.
	state := func(key string) string {
		return "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    region = \"r\"\n    key = \"" + key + "\"\n  }\n}\n"
	}
	for _, enabled := range []string{"version: 3\nautodiscover: {mode: enabled, ignore_paths: ['old/*']}\nprojects:\n- {name: main, dir: app}\n- {dir: 'svc/*'}\n", "discover = true\nexclude = [\"old/*\"]\nproject \"main\" {\n  dir = \"app\"\n}\nproject \"svc/*\" {\n  dir = \"svc/*\"\n}\n"} {
		files := map[string]string{"app/main.tf": state("app"), "svc/a/main.tf": state("svc/a"), "old/x/main.tf": state("old"), "other/main.tf": state("other"), "plain/main.tf": ""}
		files[FileName] = enabled
		if strings.HasPrefix(enabled, "version") {
			delete(files, FileName)
			files[atlantis.FileName] = enabled
		}
		got, ds = Discover(tree(files))
		if names := namesOf(got.Projects); names != "main other svc/a" || ds.HasErrors() {
			t.Errorf("%s: %s\n%s", enabled, names, said(ds))
		}
		if p, ok := Find(tree(files), "other", "default"); !ok || p.Dir != "other" {
			t.Errorf("%s: other is not found: %+v", enabled, p)
		}
		files["again/main.tf"], files["main/main.tf"] = state("svc/a"), state("main")
		if _, ds = Discover(tree(files)); !strings.Contains(said(ds), "Two projects with one state") || !strings.Contains(said(ds), `would be the project "main"`) {
			t.Errorf("%s: clashes are not found: %s", enabled, said(ds))
		}
	}
	got, ds = Discover(tree(map[string]string{"app/main.tf": backend, FileName: "discover = false\n"}))
	if len(got.Projects) != 0 || ds.HasErrors() {
		t.Errorf("%+v %s", got, said(ds))
	}
}

// TestAtlantisRefused is a table of mistakes that package atlantis leaves to us.
func TestAtlantisRefused(t *testing.T) {
	t.Parallel()
	for projects, want := range map[string]string{
		"- {dir: a, name: x}\n- {dir: b, name: x}":     "There is another project \"x\" at atlantis.yaml:4",
		"- {dir: a}\n- {dir: a}":                       "Two projects with one name",
		"- {dir: a, name: x}\n- {dir: ./a/, name: y}":  "The project \"x\" has the directory a and the workspace \"default\", too",
		"- {dir: /etc}\n":                              "",
		"- {dir: a, name: -x}":                         "Invalid name of a project",
		"- {dir: 'a b'}":                               "Invalid name of a project",
		"- {dir: a, workspace: ../x}":                  "Invalid workspace",
		"- {dir: 'a\\b'}":                              "is not in the repository",
		"- {dir: a, autoplan: {when_modified: ['[']}}": "is not a pattern of files",
		"- {dir: a, workflow: secret}":                 "contains $TOKEN, and only Atlantis' server knows its value",
		"- {dir: a, workflow: up}":                     "The file \"../x.tfvars\" is not in the repository",
		"- {dir: a, autoplan: {when_modified: [" + strings.Repeat("a.tf,", 101) + "]}}": "has 101 patterns",
	} {
		src := "version: 3\nworkflows: {up: {plan: {steps: [plan: {extra_args: [-var-file=../../x.tfvars]}]}}, secret: {plan: {steps: [plan: {extra_args: [-var=t=$TOKEN]}]}}}\nprojects:\n" + projects + "\n"
		s, _, ds := foreignSettings([]byte(src))
		if !strings.Contains(said(ds), want) || (want == "") == ds.HasErrors() {
			t.Errorf("%s: %s\nwant %s", projects, said(ds), want)
		}
		if want != "" && len(s.Projects) >= strings.Count(projects, "dir:") {
			t.Errorf("%s: %v", projects, s.Projects)
		}
	}
}

// TestAtlantisGrants holds that the file has requirements, and no other right.
func TestAtlantisGrants(t *testing.T) {
	t.Parallel()
	s, ds := Read(atlantis.FileName, []byte("version: 3\nprojects:\n- {dir: a, apply_requirements: [approved]}\n- {dir: b}\n"))
	if ds.HasErrors() {
		t.Fatal(said(ds))
	}
	rules := requirements.Rules{Approvals: 1}
	for _, p := range []Project{{Name: "a", Dir: "a", Workspace: "default"}, {Name: "renamed", Dir: "a", Workspace: "default"}, {Name: "new", Dir: "new", Workspace: "default"}} {
		got := s.Required("apply", p, nil)
		if len(got) != 1 || !cmp.Equal(got[0].Rules, rules) || got[0].At != "atlantis.yaml:3" {
			t.Errorf("%s: %+v", p.Name, got)
		}
	}
	if got := s.Required("apply", Project{Name: "b", Dir: "b", Workspace: "default"}, nil); len(got) != 0 {
		t.Errorf("b: %+v", got)
	}
	g, err := GrantsOf(s, nil)
	if err != nil || g.Programs() || g.ModuleHost("modules.example.com") == nil || g.Repository("acme", "x") || s.Names("release/1") {
		t.Errorf("it grants %+v %v", g, err)
	}
	if s.ApplyOn(Project{Name: "a", Dir: "a", Workspace: "default"}) != OnComment || s.OnWaiting() != WaitingPasses {
		t.Error("it decides on more than requirements")
	}
	for src, unreadable := range map[string]bool{
		"version: 3\nprojects:\n- {dir: a, apply_requirement: [approved]}\n": true,
		"version: 3\nprojects: [": true,
		"version: 2\nprojects:\n- {dir: a, apply_requirements: [approved]}\n": true,
		"version: 3\nprojects:\n- {dir: a}\n- {dir: a}\n":                     false,
	} {
		if s, _ := Read(atlantis.FileName, []byte(src)); s.Unreadable != unreadable {
			t.Errorf("%s: unreadable %t", src, s.Unreadable)
		}
	}
}

// TestAtlantisTouched holds that the file's change plans the projects that it changes, and that moving to
// lockstep.hcl plans none.
func TestAtlantisTouched(t *testing.T) {
	t.Parallel()
	const yaml = "version: 3\nprojects:\n- {dir: a, autoplan: {when_modified: ['**/*.tf', '!old']}}\n- {dir: b}\n"
	files := map[string]string{"a/main.tf": "", "b/main.tf": "", "b/env/default.tfvars": "", atlantis.FileName: yaml}
	for change, want := range map[string]string{"a/x/y.tf": "a", "a/old/y.tf": "", "a/README.md": "", "b/README.md": "b", "b/env/default.tfvars": "b"} {
		if got := touchedBy(t, files, with(files, change+"=x")); got != want {
			t.Errorf("%s touches %q", change, got)
		}
	}
	if got := touchedBy(t, files, with(files, atlantis.FileName+"="+yaml+"# the same\n")); got != "" {
		t.Errorf("a comment touches %q", got)
	}
	text, _, _ := Imported(tree(files), []byte(yaml), atlantis.Options{})
	if got := touchedBy(t, files, with(files, FileName+"="+string(text))); got != "" {
		t.Errorf("moving to lockstep.hcl plans %s", got)
	}
	if got := touchedBy(t, files, with(files, atlantis.FileName+"="+strings.Replace(yaml, "{dir: b}", "{dir: b, autoplan: {enabled: false}}", 1))); got != "b" {
		t.Errorf("a changed project is %q", got)
	}
}

// TestAtlantisBroken holds that an error of one project is no error of those that depend on it.
func TestAtlantisBroken(t *testing.T) {
	t.Parallel()
	const yaml = "version: 3\nprojects:\n- {name: a, dir: a, workflow: w}\n- {name: b, dir: b, depends_on: [a]}\nworkflows:\n  w: {plan: {steps: [run: x]}}\n"
	got, ds := Discover(tree(map[string]string{"a/main.tf": backend, "b/main.tf": backend, atlantis.FileName: yaml}))
	if names := namesOf(got.Projects); names != "b" || !strings.Contains(said(ds), `the project "a": run (line 6)`) || strings.Contains(said(ds), "does not exist") {
		t.Errorf("%s, %s", names, said(ds))
	}
}

// namesOf returns the names of projects.
func namesOf(all []Project) string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}
