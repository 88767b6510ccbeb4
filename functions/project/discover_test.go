package project

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestDiscoverByDirectories(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  []string
		says  string // part of a diagnostic; "" for none
	}{
		{"nothing", map[string]string{"README.md": "", "a/b.txt": ""}, []string{}, ""},
		{"the root", map[string]string{"main.tf": backend}, []string{". (s3):"}, ""},
		{"JSON", map[string]string{"a/main.tf.json": `{"terraform": {"backend": {"local": {}}}}`}, []string{"a (local):"}, ""},
		{"OpenTofu's files", map[string]string{
			"a/main.tofu": backend + calls("../m"), "b/main.tofu.json": `{"terraform": {"backend": {"s3": {}}}}`,
			"c/main.tf": backend, "c/main.tofu": "", "d/x.tofutest.hcl": "", "m/x.tofu": "",
		}, []string{"a (s3): m", "b (s3):"}, ""},
		{"an editor's backup", map[string]string{"a/.#main.tf": "", "b/main.tf": backend}, []string{"b (s3):"}, ""},
		{"a shared module", map[string]string{
			"envs/prod/main.tf": backend + calls("../../modules/net"), "envs/stage/main.tf": backend + calls("../../modules/net"),
			"modules/net/main.tf": calls("./sub"), "modules/net/sub/x.tf": "",
		}, []string{"envs/prod (s3): modules/net modules/net/sub", "envs/stage (s3): modules/net modules/net/sub"}, ""},
		{"a module below its caller", map[string]string{"main.tf": backend + calls("./m"), "m/x.tf": backend}, []string{". (s3): m"}, ""},
		{"examples without a backend", map[string]string{"a/main.tf": backend, "examples/x/main.tf": ""}, []string{"a (s3):"}, ""},
		{"no backend at all", map[string]string{"a/main.tf": "", "b/main.tf": ""}, []string{}, "warning: No projects"},
		{"hidden", map[string]string{".terraform/modules/x/main.tf": backend, ".git/x.tf": backend, "a/main.tf": backend}, []string{"a (s3):"}, ""},
		{"broken", map[string]string{"a/main.tf": "resource {", "b/main.tf": backend}, []string{"a ():", "b (s3):"}, ""},
		{"a module made of variables", map[string]string{"a/main.tf": backend + "variable \"x\" {}\n" + calls("../${var.x}"), "main.tf": backend}, []string{". (s3):", "a (s3): ."}, ""},
		{"a module elsewhere", map[string]string{"a/main.tf": backend + calls("git::https://git.example/x.git")}, []string{"a (s3):"}, ""},
		{"a module outside", map[string]string{"a/main.tf": backend + calls("../../../etc")}, []string{"a (s3):"}, ""},
		{"a module calls itself", map[string]string{"a/main.tf": backend + calls("../b"), "b/main.tf": calls("../b")}, []string{"a (s3): b"}, ""},
		{"a name for no command", map[string]string{"my app/main.tf": backend, "b/main.tf": backend}, []string{"b (s3):"}, `Lockstep does not plan the root module in the directory "my app"`},
		{"permissions alone", map[string]string{"a/main.tf": backend, FileName: "allow {\n}\n"}, []string{"a (s3):"}, ""},
	}
	for _, test := range tests {
		got, ds := discovered(tree(test.files))
		if diff := cmp.Diff(test.want, describe(got)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if s := said(ds); (s == "") != (test.says == "") || !strings.Contains(s, test.says) {
			t.Errorf("%s: %s", test.name, s)
		}
	}
}

func TestDiscoverByFile(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"envs/prod/main.tf": backend + calls("../../net"), "net/x.tf": "", "other/main.tf": backend,
		FileName: "project \"prod\" {\n  dir = \"envs/prod\"\n}\nproject \"blue\" {\n  dir = \"envs/prod\"\n  workspace = \"blue\"\n}\n",
	}
	got, ds := discovered(tree(files))
	if diff := cmp.Diff([]string{"blue (s3): net", "prod (s3): net"}, describe(got)); diff != "" || ds != nil {
		t.Errorf("%s%v", diff, ds)
	}
	files[FileName] += "project \"gone\" {\n  dir = \"gone\"\n}\n"
	got, ds = discovered(tree(files))
	if len(got) != 2 || !ds.HasErrors() || !strings.Contains(said(ds), `lockstep.hcl:8: Nothing to plan: The directory gone of the project "gone" has no configuration files`) {
		t.Errorf("%v\n%s", describe(got), said(ds))
	}
	files[FileName] = "project {\n"
	if got, ds = discovered(tree(files)); len(got) != 0 || !ds.HasErrors() {
		t.Errorf("a broken file: %v %v", got, ds)
	}
}

func TestTooManyProjects(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	text := ""
	for i := range MaxProjects + 1 {
		files[fmt.Sprintf("p%d/main.tf", i)] = backend
		text += fmt.Sprintf("project \"p%d\" {\n  dir = \"p%d\"\n}\n", i, i)
	}
	if _, ds := discovered(tree(files)); !strings.Contains(said(ds), "2001") {
		t.Errorf("by directories: %v", ds)
	}
	files[FileName] = text
	if all, ds := discovered(tree(files)); !strings.Contains(said(ds), "2001") || len(all) > MaxProjects {
		t.Errorf("by file: %v", ds)
	}
	last := fmt.Sprintf("project \"p%[1]d\" {\n  dir = \"p%[1]d\"\n}\n", MaxProjects)
	files[FileName] = strings.TrimSuffix(text, last)
	if all, ds := discovered(tree(files)); len(ds) != 0 || len(all) != MaxProjects {
		t.Errorf("as many as are allowed: %d, %v", len(all), ds)
	}
}

// TestUnreadableDirectory holds that a directory that cannot be listed is an error, and not a repository
// with fewer projects.
func TestUnreadableDirectory(t *testing.T) {
	t.Parallel()
	files := unlisted{tree(map[string]string{"app/main.tf": backend, "net/main.tf": backend}), "net"}
	if all, ds := discovered(files); len(all) != 0 || !strings.Contains(said(ds), "Looking for projects failed: Open net: input/output error") {
		t.Errorf("%v, %s", describe(all), said(ds))
	}
}

// unlisted is a file system with a directory that cannot be listed.
type unlisted struct {
	fstest.MapFS
	dir string
}

func (f unlisted) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == f.dir {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EIO}
	}
	return f.MapFS.ReadDir(name)
}

func TestTouched(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"main.tf": backend, "README.md": "", "app/main.tf": backend + calls("../modules/net"), "app/worker/main.tf": backend, "apple/main.tf": backend, "db/main.tf": backend + calls("../modules/net", "../modules/db"),
		"docs/main.tf": backend + calls("../modules/docs"), "never/main.tf": backend, "modules/net/x.tf": "", "modules/db/x.tf": "", "modules/docs/x.tf": "", "modules/docs/x.md": "", "vars/app.tfvars": "", "vars/x.md": "",
		FileName: "project \".\" {\n  dir = \".\"\n}\nproject \"app\" {\n  dir = \"app\"\n  var_files = [\"vars/app.tfvars\"]\n}\n" + declare("app/worker") + declare("apple") + declare("db") +
			"project \"db-blue\" {\n  dir = \"db\"\n  workspace = \"blue\"\n}\n" +
			"project \"docs\" {\n  dir = \"docs\"\n  when_changed = [\"docs/**/*.{tf,txt}\", \"shared/{a,b}.json\", \"**/all.txt\", \"!docs/old/**\"]\n}\n" +
			"project \"never\" {\n  dir = \"never\"\n  when_changed = []\n}\n",
	}
	for _, test := range []struct{ changes, want string }{
		{"", ""},
		{"app/main.tf=x", "app"},
		{"app/files/init.sh=x", "app"},
		{"app/worker/main.tf=" + backend + "#", "app/worker"},
		{"apple/main.tf=" + backend + "#", "apple"},
		{"main.tf=" + backend + "#", "."},
		{"README.md=x", "."},
		{"README.md", "."},
		{"vars/app.tfvars=x", ". app"},
		{"vars/x.md=x", "."},
		{"db/x.tf=", "db db-blue"},
		{"modules/db/x.tf=#", "db db-blue"},
		{"modules/net/x.tf=# app/main.tf=" + backend + "#", "app db db-blue"},
		{"docs/x.tf=", "docs"},
		{"docs/deep/x.txt=", "docs"},
		{"docs/README.md=", ""},
		{"docs/old/x.txt=x", ""},
		{"modules/docs/x.tf=#", "docs"}, // what the plan reads counts whatever the patterns say
		{"modules/docs/x.md=#", ""},
		{"docs/.terraform.lock.hcl=x", "docs"},
		{"docs/terraform.tfvars=x", "docs"},
		{"shared/a.json=x", ". docs"},
		{"apple/all.txt=x", "apple docs"},
		{"never/main.tf=" + backend + "#", ""},
	} {
		changes := []string{test.changes}
		if first, second, two := strings.Cut(test.changes, "# "); two {
			changes = []string{first + "#", second}
		}
		if test.changes == "" {
			changes = nil
		}
		if got := touchedBy(t, files, with(files, changes...)); got != test.want {
			t.Errorf("%q touches %q, want %q", changes, got, test.want)
		}
	}
}

func TestTwoProjectsWithOneState(t *testing.T) {
	t.Parallel()
	kept := func(more string) string {
		return "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n" + more + "  }\n}\n"
	}
	net := kept("    key = \"net\"\n")
	tests := []struct {
		name  string
		files map[string]string
		want  []string
		says  string
	}{
		{"a directory was copied", map[string]string{"a/main.tf": net, "b/main.tf": net, "c/main.tf": kept("    key = \"c\"\n")}, []string{"c (s3):"},
			"error: b/main.tf:2: Two projects with one state: The projects a and b keep their state at s3://states/net:"},
		{"in JSON", map[string]string{"a/main.tf": net, "b/main.tf.json": `{"terraform": {"backend": {"s3": {"bucket": "states", "key": "net"}}}}`}, []string{},
			"The projects a and b keep their state at s3://states/net:"},
		{"named in the file", map[string]string{"a/main.tf": net, "b/main.tf": net, FileName: declare("a") + declare("b")}, []string{}, "error: lockstep.hcl:4: Two projects with one state"},
		{"workspaces", map[string]string{"a/main.tf": net, FileName: declare("a") + "project \"x\" {\n  dir = \"a\"\n  workspace = \"x\"\n}\n"}, []string{"a (s3):", "x (s3):"}, ""},
		{"a key that looks like a workspace's", map[string]string{"a/main.tf": net, "b/main.tf": kept("    key = \"env:/x/net\"\n"),
			FileName: "project \"x\" {\n  dir = \"a\"\n  workspace = \"x\"\n}\n" + declare("b")}, []string{}, "The projects b and x keep their state at s3://states/env:/x/net:"},
		{"the prefix of workspaces", map[string]string{"a/main.tf": kept("    key = \"net\"\n    workspace_key_prefix = \"w\"\n"), "b/main.tf": kept("    key = \"w/x/net\"\n"),
			FileName: "project \"x\" {\n  dir = \"a\"\n  workspace = \"x\"\n}\n" + declare("b")}, []string{}, "s3://states/w/x/net"},
		{"other servers", map[string]string{"a/main.tf": net, "b/main.tf": kept("    key = \"net\"\n    endpoints = { s3 = \"https://s3.example\" }\n")}, []string{"a (s3):", "b (s3):"}, ""},
		{"a module is no project", map[string]string{"a/main.tf": net + calls("../b"), "b/main.tf": net}, []string{"a (s3): b"}, ""},
		{"unknown here", map[string]string{"a/main.tf": backend, "b/main.tf": backend}, []string{"a (s3):", "b (s3):"}, ""},
	}
	for _, test := range tests {
		got, ds := discovered(tree(test.files))
		if diff := cmp.Diff(test.want, describe(got)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if s := said(ds); (s == "") != (test.says == "") || !strings.Contains(s, test.says) {
			t.Errorf("%s: %s", test.name, s)
		}
	}
}

// declare describes a project with the name of its directory.
func declare(name string) string { return fmt.Sprintf("project %q {\n  dir = %q\n}\n", name, name) }

// TestEncrypts holds which projects have an encryption block, as far as that can be told, and that it is no
// input by itself.
func TestEncrypts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"resource \"x\" \"a\" {}\n":                          false,
		"terraform {\n  backend \"local\" {}\n}\n":           false,
		"terraform {\n  encryption {}\n}\n":                  true,
		"resource {\n":                                       true,
		"# terraform { encryption {} }\nvariable \"a\" {}\n": false,
	} {
		files := fstest.MapFS{"lockstep.hcl": {Data: []byte("project \"net\" {\n  dir = \"net\"\n}\n")}, "net/main.tf": {Data: []byte(text)}}
		found, ds := Discover(files)
		if ds.HasErrors() || len(found.Projects) != 1 || found.Projects[0].Encrypts != want {
			t.Errorf("%s: %+v, %v", text, found.Projects, ds)
			continue
		}
		p := found.Projects[0]
		with, err := Inputs(files, p)
		if err != nil {
			t.Fatal(err)
		}
		p.Encrypts = !p.Encrypts
		if without, err := Inputs(files, p); err != nil || with.Hash() != without.Hash() {
			t.Errorf("%s: %v, %v", text, with.Diff(without), err)
		}
	}
}
