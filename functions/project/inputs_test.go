package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInputs is a table of changes of a repository, and what of them a project's plan
// depends on.
func TestInputs(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"app/main.tf": "", "app/.terraform.lock.hcl": "", "app/files/init.sh": "x", "app/worker/main.tf": "", "app/sub/m/m.tf": "",
		"app/.terraform/x": "", "net/x.tf": "", "vars/app.tfvars": "", "data/a.json": "", "data/b.json": "", "other/main.tf": "", "docs/x.md": "",
	}
	app := Project{Name: "app", Dir: "app", Workspace: "default", Modules: []string{"app/sub/m", "net"}, VarFiles: []string{"vars/app.tfvars"}}
	patterned := app
	patterned.WhenChanged = []string{"docs/**"}
	read := []string{"app", "data/a.json", "data", "data/none.json"}
	for _, test := range []struct {
		what   string
		p      Project
		change func(map[string]string, *Project)
		want   string // paths that differ
	}{
		{"nothing", app, func(map[string]string, *Project) {}, ""},
		{"its own file", app, func(f map[string]string, _ *Project) { f["app/main.tf"] = "x" }, "app/main.tf"},
		{"its lock file", app, func(f map[string]string, _ *Project) { f["app/.terraform.lock.hcl"] = "x" }, "app/.terraform.lock.hcl"},
		{"a file below", app, func(f map[string]string, _ *Project) { f["app/files/init.sh"] = "y" }, "app/files/init.sh"},
		{"a file is new", app, func(f map[string]string, _ *Project) { f["app/new.tf"] = "" }, "app/* app/new.tf"},
		{"a file is gone", app, func(f map[string]string, _ *Project) { delete(f, "app/main.tf") }, "app/* app/main.tf"},
		{"another project below", app, func(f map[string]string, _ *Project) { f["app/worker/main.tf"] = "x" }, ""},
		{"a module below", app, func(f map[string]string, _ *Project) { f["app/sub/m/m.tf"] = "x" }, "app/sub/m/m.tf"},
		{"what init left", app, func(f map[string]string, _ *Project) { f["app/.terraform/x"] = "x" }, ""},
		{"a module", app, func(f map[string]string, _ *Project) { f["net/x.tf"] = "x" }, "net/x.tf"},
		{"values", app, func(f map[string]string, _ *Project) { f["vars/app.tfvars"] = "x" }, "vars/app.tfvars"},
		{"no values", app, func(f map[string]string, _ *Project) { delete(f, "vars/app.tfvars") }, "vars/app.tfvars"},
		{"a file that is read", app, func(f map[string]string, _ *Project) { f["data/a.json"] = "x" }, "data/a.json"},
		{"a file beside one that is read", app, func(f map[string]string, _ *Project) { f["data/b.json"] = "x" }, ""},
		{"a new file where names are read", app, func(f map[string]string, _ *Project) { f["data/c.json"] = "" }, "data/*"},
		{"a file that was looked for", app, func(f map[string]string, _ *Project) { f["data/none.json"] = "" }, "data/* data/none.json"},
		{"another project", app, func(f map[string]string, _ *Project) { f["other/main.tf"] = "x" }, ""},
		{"what no pattern matches", app, func(f map[string]string, _ *Project) { f["docs/x.md"] = "x" }, ""},
		{"what a pattern matches", patterned, func(f map[string]string, _ *Project) { f["docs/x.md"] = "x" }, "docs/x.md"},
		{"its own file, with patterns", patterned, func(f map[string]string, _ *Project) { f["app/main.tf"] = "x" }, "app/main.tf"},
		{"its settings", app, func(_ map[string]string, p *Project) { p.Workspace = "blue" }, "lockstep.hcl"},
		{"the order of its variable files", app, func(_ map[string]string, p *Project) { p.VarFiles = append([]string{"vars/app.tfvars"}, p.VarFiles...) }, "lockstep.hcl"},
		{"when it is applied", app, func(_ map[string]string, p *Project) { p.Apply = OnMerge }, ""},
	} {
		before, err := Inputs(tree(files), test.p, read...)
		if err != nil {
			t.Fatal(err)
		}
		changed, p := map[string]string{}, test.p
		for name, text := range files {
			changed[name] = text
		}
		test.change(changed, &p)
		after, err := Inputs(tree(changed), p, read...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Fields(test.want), append([]string{}, before.Diff(after)...)); diff != "" {
			t.Errorf("%s: %s", test.what, diff)
		}
		if diff := cmp.Diff(before.Diff(after), after.Diff(before)); diff != "" {
			t.Errorf("%s, the other way round: %s", test.what, diff)
		}
		if (before.Hash() == after.Hash()) != (test.want == "") {
			t.Errorf("%s: the hashes are %s and %s", test.what, before.Hash(), after.Hash())
		}
		data, err := json.Marshal(before)
		var again Tree
		if err == nil {
			err = json.Unmarshal(data, &again)
		}
		if err != nil || len(before.Diff(again)) > 0 || before.Hash() != again.Hash() {
			t.Errorf("through JSON: %v, %v", again, err)
		}
	}
}

// TestInputsBehindLinks holds that what a link leads to counts, and that nothing
// outside of the checkout does.
func TestInputsBehindLinks(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(parent, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, ok := strings.CutPrefix(text, "-> "); err == nil && ok {
			os.Remove(path)
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("checkout/app/main.tf", "")
	write("checkout/app/inside", "-> ../shared.json")
	write("checkout/app/outside", "-> ../../secret")
	write("checkout/app/dangling", "-> nowhere")
	write("checkout/app/directory", "-> ../dir")
	write("checkout/dir/x", "")
	write("checkout/shared.json", "1")
	write("secret", "1")
	root, err := os.OpenRoot(filepath.Join(parent, "checkout"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	inputs := func() Tree {
		t.Helper()
		tree, err := Inputs(root.FS(), Project{Name: "app", Dir: "app"}, "app", "dir")
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	before := inputs()
	write("checkout/shared.json", "2")
	write("secret", "2")
	write("checkout/app/dangling", "-> elsewhere")
	write("checkout/app/.terraform/modules/m/main.tf", "what planning puts there")
	if diff := cmp.Diff([]string{"app/dangling", "app/inside"}, before.Diff(inputs())); diff != "" {
		t.Error(diff)
	}
}

// TestEverything is a table of changes of a repository, all of which a project depends on
// whose programs can read them.
func TestEverything(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"lockstep.hcl": "allow {\n}\n", "app/main.tf": "", "app/.terraform/x": "", "app/worker/main.tf": "", "other/main.tf": "", "other/.terraform/x": "",
		"scripts/run.sh": "echo", ".github/workflows/ci.yml": "", ".git/index": "", "sub/.git/index": "",
	}
	for _, test := range []struct{ name, text, want string }{
		{"app/main.tf", "x", "app/main.tf"},
		{"app/worker/main.tf", "x", "app/worker/main.tf"},
		{"scripts/run.sh", "rm", "scripts/run.sh"},
		{"scripts/new.sh", "", "scripts/new.sh"},
		{".github/workflows/ci.yml", "x", ".github/workflows/ci.yml"},
		{"other/.terraform/x", "x", "other/.terraform/x"},
		{"lockstep.hcl", "allow {}\n", "lockstep.hcl"},
		{"app/.terraform/x", "x", ""},
		{".git/index", "x", ""},
		{"sub/.git/index", "x", ""},
	} {
		changed := map[string]string{}
		for name, text := range files {
			changed[name] = text
		}
		changed[test.name] = test.text
		p := Project{Name: "app", Dir: "app"}
		before, err := Everything(tree(files), p)
		if err != nil {
			t.Fatal(err)
		}
		after, err := Everything(tree(changed), p)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(before.Diff(after), " "); strings.TrimPrefix(got, "app/* ") != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
		p.Workspace = "blue"
		if moved, err := Everything(tree(files), p); err != nil || strings.Join(before.Diff(moved), " ") != "lockstep.hcl" {
			t.Errorf("other settings: %v %v", before.Diff(moved), err)
		}
	}
}
