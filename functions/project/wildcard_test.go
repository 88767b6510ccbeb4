package project

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPatterns is a table of settings, and the projects of the checkout below by them.
func TestPatterns(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"services/api/main.tf": backend, "services/web/main.tf": backend, "services/docs/readme.md": "",
		"services/.old/main.tf": backend, "services/api/sub/main.tf": backend, "services/my app/x.txt": "",
		"envs/prod/eu/main.tf": backend, "envs/prod/us/main.tf": backend, "envs/dev/eu/main.tf": backend,
		"net/main.tf": backend, "examples/a/main.tf": backend + calls("../../net"), "examples/a/b/main.tf": backend, "x/readme.md": "",
	}
	for _, test := range []struct{ name, settings, want string }{
		{"a directory", "project \"svc-*\" {\n  dir = \"services/*\"\n}", "svc-api=services/api svc-web=services/web"},
		{"two", "project \"*-*\" {\n  dir = \"envs/*/*\"\n}", "dev-eu=envs/dev/eu prod-eu=envs/prod/eu prod-us=envs/prod/us"},
		{"in the middle", "project \"*/e\" {\n  dir = \"envs/*/eu\"\n  workspace = \"w\"\n}", "dev/e=envs/dev/eu@w prod/e=envs/prod/eu@w"},
		{"a part of a name", "project \"w*\" {\n  dir = \"services/w*\"\n}", "web=services/web"},
		{"never no character", "project \"w*\" {\n  dir = \"services/web*\"\n}", `warning: lockstep.hcl:1: Pattern without projects: No directory with configuration files is at services/web*, or all are excluded.`},
		{"hidden by its name", "project \"*\" {\n  dir = \"services/.*\"\n}", "old=services/.old"},
		{"an own block", "project \"*\" {\n  dir = \"services/*\"\n}\nproject \"website\" {\n  dir = \"services/web\"\n  apply = \"merge\"\n}", "api=services/api website=services/web!"},
		{"an own workspace", "project \"*\" {\n  dir = \"services/*\"\n}\nproject \"b\" {\n  dir = \"services/web\"\n  workspace = \"b\"\n}", "api=services/api b=services/web@b web=services/web"},
		{"excluded", "exclude = [\"services/a*\"]\nproject \"*\" {\n  dir = \"services/*\"\n}", "web=services/web"},
		{"defaults", "project \"*\" {\n  dir = \"services/*\"\n}\nproject \"net\" {\n  dir = \"net\"\n  apply = \"comment\"\n  var_files = []\n}\ndefaults {\n  apply = \"merge\"\n  workspace = \"w\"\n  var_files = [\"x.tfvars\"]\n  when_changed = [\"x/**\"]\n}",
			"api=services/api@w!+x.tfvars~x/** net=net@w~x/** web=services/web@w!+x.tfvars~x/**"},
		{"defaults of directories", "exclude = [\"examples\", \"envs/**\", \"services/a*\", \"services/.*\"]\ndefaults {\n  apply = \"merge\"\n}", "net=net! services/web=services/web!"},
		{"one name", "project \"net\" {\n  dir = \"net\"\n}\nproject \"n*\" {\n  dir = \"envs/prod/*\"\n}\nproject \"*\" {\n  dir = \"examples/*\"\n}\nproject \"?\" {\n  dir = \"x\"\n}",
			"a=examples/a net=net neu=envs/prod/eu nus=envs/prod/us error: lockstep.hcl:10: Invalid name of a project: " + nameRule},
		{"a name twice", "project \"*\" {\n  dir = \"envs/prod/*\"\n}\nproject \"*u\" {\n  dir = \"envs/dev/*u\"\n}",
			`eu=envs/prod/eu us=envs/prod/us error: lockstep.hcl:4: Two projects with one name: The directory envs/dev/eu would be the project "eu", and there is one at lockstep.hcl:1,1-12. Give it a project block of its own with another name.`},
		{"a place twice", "project \"*\" {\n  dir = \"envs/dev/*\"\n}\nproject \"x*\" {\n  dir = \"envs/dev/e*\"\n}",
			`eu=envs/dev/eu error: lockstep.hcl:4: Two projects with one state: The project "eu" has the directory envs/dev/eu and the workspace "default", too: they would share their state. Change one of the patterns, or give its block another workspace.`},
	} {
		files[FileName] = test.settings
		all, ds := discovered(tree(files))
		var got []string
		for _, p := range all {
			got = append(got, brief(p))
		}
		if ds != nil {
			got = append(got, said(ds))
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

// brief writes a project as name=dir@workspace, with ! if it is applied on merge, + before its
// variable files and ~ before its patterns.
func brief(p Project) string {
	s := p.Name + "=" + p.Dir
	if p.Workspace != DefaultWorkspace {
		s += "@" + p.Workspace
	}
	if p.Apply == OnMerge {
		s += "!"
	}
	for _, f := range p.VarFiles {
		s += "+" + f
	}
	for _, f := range p.WhenChanged {
		s += "~" + f
	}
	return s
}

// TestManyDirectories holds that a pattern makes no more projects than are allowed.
func TestManyDirectories(t *testing.T) {
	t.Parallel()
	files := map[string]string{FileName: "project \"*\" {\n  dir = \"p/*\"\n}\nproject \"q-*\" {\n  dir = \"q/*\"\n}\n", "q/a/main.tf": ""}
	for i := range MaxProjects {
		files[fmt.Sprintf("p/%d/main.tf", i)] = ""
	}
	all, ds := discovered(tree(files))
	if len(all) != MaxProjects || !strings.Contains(said(ds), "lockstep.hcl:4: Too many projects: With this block there are more than 2000 projects") {
		t.Errorf("%d projects: %s", len(all), said(ds))
	}
	delete(files, "q/a/main.tf")
	if all, ds = discovered(tree(files)); len(all) != MaxProjects || ds.HasErrors() {
		t.Errorf("%d projects: %s", len(all), said(ds))
	}
}

// TestOccasionOfPatterns attacks the occasion of the base branch with projects that its patterns and
// defaults, and not its names, are about.
func TestOccasionOfPatterns(t *testing.T) {
	t.Parallel()
	const careful = "project \"svc-*\" {\n  dir = \"services/*\"\n  apply = \"merge\"\n}\n"
	const easy = "project \"net\" {\n  dir = \"net\"\n}\n"
	for _, test := range []struct {
		name, base, project, dir, workspace string
		want                                ApplyOn
	}{
		{"of the pattern", careful + easy, "svc-a", "services/a", "default", OnMerge},
		{"another name in the same place", careful + easy, "net", "services/a", "default", OnMerge},
		{"the name elsewhere", careful + easy, "svc-a", "net", "default", OnMerge},
		{"a new workspace", careful + easy, "new", "services/a", "w", OnMerge},
		{"below the pattern's directories", careful + easy, "new", "services/a/b", "default", OnMerge},
		{"another block's", careful + easy, "net", "net", "default", OnComment},
		{"a block of its own", careful + "project \"svc-a\" {\n  dir = \"services/a\"\n}\n", "svc-a", "services/a", "default", OnComment},
		{"the place of a block of its own, with a name of the pattern", careful + "project \"a\" {\n  dir = \"services/a\"\n}\n", "svc-a", "services/a", "default", OnMerge},
		{"an easy pattern", "project \"svc-*\" {\n  dir = \"services/*\"\n}\n" + strings.ReplaceAll(strings.ReplaceAll(careful, "svc", "x"), "services", "x"), "svc-a", "services/a", "default", OnComment},
		{"a default, and no block", "defaults {\n  apply = \"merge\"\n}\n", "net", "net", "default", OnMerge},
		{"a default, and a block", "defaults {\n  apply = \"merge\"\n}\n" + easy, "net", "net", "default", OnMerge},
		{"a default, and a new project", "defaults {\n  apply = \"merge\"\n}\nproject \"net\" {\n  dir = \"net\"\n  apply = \"comment\"\n}\n", "new", "new", "default", OnMerge},
		{"a broken default", "defaults {\n  apply = \"mrege\"\n}\n", "net", "net", "default", OnMerge},
	} {
		base, _ := Parse(FileName, []byte(test.base))
		if got := base.ApplyOn(Project{Name: test.project, Dir: test.dir, Workspace: test.workspace}); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

// BenchmarkDiscover reads as many projects as are allowed.
func BenchmarkDiscover(b *testing.B) {
	for _, n := range []int{500, MaxProjects} {
		files, blocks := map[string]string{}, ""
		for i := range n {
			files[fmt.Sprintf("p/%d/main.tf", i)] = backend
			blocks += fmt.Sprintf("project \"p%d\" {\n  dir = \"p/%d\"\n  when_changed = [\"p/%d/**\"]\n}\n", i, i, i)
		}
		for name, text := range map[string]string{"blocks": blocks, "pattern": "project \"p*\" {\n  dir = \"p/*\"\n}\n"} {
			files[FileName] = text
			dir := b.TempDir()
			if err := os.CopyFS(dir, tree(files)); err != nil {
				b.Fatal(err)
			}
			checkout := os.DirFS(dir)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if all, ds := discovered(checkout); len(all) != n {
						b.Fatal(len(all), said(ds))
					}
				}
			})
		}
	}
}
