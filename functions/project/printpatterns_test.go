package project

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/project/atlantis"
)

// TestFolded folds equal projects into patterns, and none that a pattern would change.
func TestFolded(t *testing.T) {
	t.Parallel()
	const head = "version: 3\nprojects:\n"
	for _, test := range []struct {
		name, src, configured, files string
		want                         string // the project blocks and the projects of require blocks
	}{
		{"equal ones", "- {dir: svc/a}\n- {dir: svc/b}\n- {dir: svc/c}\n", "svc/a svc/b svc/c", "", "svc/*"},
		{"two", "- {dir: svc/a}\n- {dir: svc/b}\n", "svc/a svc/b", "", "svc/a svc/b"},
		{"another directory", "- {dir: svc/a}\n- {dir: svc/b}\n- {dir: svc/c}\n", "svc/a svc/b svc/c svc/d", "", "svc/a svc/b svc/c"},
		{"names", "- {dir: svc/a, name: a-live}\n- {dir: svc/b, name: b-live}\n- {dir: svc/c, name: c-live}\n", "svc/a svc/b svc/c", "", "*-live"},
		{"a name of its own", "- {dir: svc/a, name: x}\n- {dir: svc/b}\n- {dir: svc/c}\n- {dir: svc/d}\n", "svc/a svc/b svc/c svc/d", "", "x svc/b svc/c svc/d"},
		{"in the middle", "- {dir: live/a/net}\n- {dir: live/b/net}\n- {dir: live/c/net}\n- {dir: live/a/app}\n", "live/a/net live/b/net live/c/net live/a/app", "", "live/*/net live/a/app"},
		{"files of their own", "- {dir: svc/a, autoplan: {when_modified: ['*.tf', '../../modules/**']}}\n- {dir: svc/b, autoplan: {when_modified: ['*.tf', '../../modules/**']}}\n- {dir: svc/c, autoplan: {when_modified: ['*.tf', '../../modules/**']}}\n", "svc/a svc/b svc/c", "", "svc/*"},
		{"files that differ", "- {dir: svc/a, autoplan: {when_modified: ['*.tf']}}\n- {dir: svc/b}\n- {dir: svc/c}\n", "svc/a svc/b svc/c", "", "svc/a svc/b svc/c"},
		{"a file of values", "- {dir: svc/a}\n- {dir: svc/b}\n- {dir: svc/c}\n", "svc/a svc/b svc/c", "svc/b/env/default.tfvars", "svc/a svc/b svc/c"},
		{"required of all of them", "- {dir: svc/a, apply_requirements: [approved]}\n- {dir: svc/b, apply_requirements: [approved]}\n- {dir: svc/c, apply_requirements: [approved]}\n- {dir: net}\n", "svc/a svc/b svc/c net", "", "svc/* net require svc/*"},
		{"a hidden directory", "- {dir: svc/a}\n- {dir: svc/b}\n- {dir: svc/c}\n- {dir: svc/.d, name: svc/d}\n", "svc/a svc/b svc/c svc/.d", "", "svc/* svc/d"},
		{"a pattern of its own", "- {dir: 'svc/*'}\n- {dir: svc/a}\n- {dir: svc/b}\n- {dir: svc/c}\n", "svc/a svc/b svc/c", "", "svc/* svc/a svc/b svc/c"},
		{"another pattern", "- {dir: 'svc/*-x'}\n- {dir: svc/a-x}\n- {dir: svc/b-x}\n- {dir: svc/c-x}\n", "svc/a-x svc/b-x svc/c-x", "", "svc/*-x svc/a-x svc/b-x svc/c-x"},
		{"two workspaces", "- {dir: svc/a, name: a-x, workspace: x}\n- {dir: svc/a, name: a-y, workspace: y}\n- {dir: svc/b, name: b-x, workspace: x}\n- {dir: svc/b, name: b-y, workspace: y}\n- {dir: svc/c, name: c-x, workspace: x}\n- {dir: svc/c, name: c-y, workspace: y}\n", "svc/a svc/b svc/c", "", "*-x *-y"},
		{"required of some", "- {dir: svc/a, apply_requirements: [approved]}\n- {dir: svc/b, apply_requirements: [approved]}\n- {dir: svc/c}\n- {dir: net}\n", "svc/a svc/b svc/c net", "", "svc/* net require svc/a svc/b"},
	} {
		files := map[string]string{}
		for _, name := range strings.Fields(test.files) {
			files[name] = ""
		}
		for _, dir := range strings.Fields(test.configured) {
			files[dir+"/main.tf"] = ""
		}
		text, _, ds := Imported(tree(files), []byte(head+test.src), atlantis.Options{})
		if ds.HasErrors() {
			t.Fatalf("%s: %s", test.name, said(ds))
		}
		same(t, tree(files), []byte(head+test.src))
		got, _ := Parse(FileName, text)
		var all []string
		for _, p := range got.blocks() {
			all = append(all, p.Name)
		}
		for _, r := range got.Require {
			all = append(append(all, "require"), r.Projects...)
		}
		if names := strings.Join(all, " "); names != test.want {
			t.Errorf("%s: %s, want %s", test.name, names, test.want)
		}
		if test.name == "files of their own" && !strings.Contains(string(text), `when_changed = ["{dir}/*.tf", "modules/**"]`) {
			t.Errorf("%s: %s", test.name, text)
		}
	}
}
