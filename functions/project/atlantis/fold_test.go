package atlantis

import (
	"strings"
	"testing"
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
		{"required of some", "- {dir: svc/a, apply_requirements: [approved]}\n- {dir: svc/b, apply_requirements: [approved]}\n- {dir: svc/c}\n- {dir: net}\n", "svc/a svc/b svc/c net", "", "svc/* net require svc/a svc/b"},
	} {
		doc, ds := Options{}.Parse(FileName, []byte(head+test.src))
		if ds.HasErrors() {
			t.Fatalf("%s: %s", test.name, ds)
		}
		got := doc.folded(strings.Fields(test.configured), func(name string) bool { return name == test.files })
		var all []string
		for _, p := range got.Projects {
			all = append(all, p.Name.Value)
		}
		for _, r := range got.Require {
			all = append(append(all, "require"), r.Projects...)
		}
		if text := strings.Join(all, " "); text != test.want {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
		if len(doc.Projects) != strings.Count(test.src, "dir:") {
			t.Errorf("%s: the document was changed", test.name)
		}
		if test.name == "files of their own" {
			if text := string(doc.HCL(strings.Fields(test.configured), func(string) bool { return false })); !strings.Contains(text, `when_changed = ["{dir}/*.tf", "modules/**"]`) {
				t.Errorf("%s: %s", test.name, text)
			}
		}
	}
}
