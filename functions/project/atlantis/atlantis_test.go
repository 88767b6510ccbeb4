package atlantis

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestFiles reads the files of testdata: each archive has an atlantis.yaml, and what it means.
func TestFiles(t *testing.T) {
	t.Parallel()
	testFiles(t, "testdata/*.txtar", 40, Options{})
}

// TestSteps is like TestFiles, for files whose run steps become step blocks.
func TestSteps(t *testing.T) {
	t.Parallel()
	testFiles(t, "testdata/steps/*.txtar", 1, Options{Steps: true})
}

func testFiles(t *testing.T, pattern string, least int, o Options) {
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) < least {
		t.Fatalf("%d files: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if a.Files[0].Name != FileName {
				t.Fatalf("it begins with %s", a.Files[0].Name)
			}
			got := meaning(o, a.Files[0].Data)
			if golden.Updating() {
				a.Files = append(a.Files[:1], txtar.File{Name: "means", Data: []byte(got)})
				golden.Update(t, name, string(txtar.Format(a)))
				return
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// meaning is what a file means, as text: a line for each project, requirement, notice and error.
func meaning(o Options, src []byte) string {
	doc, ds := o.Parse(FileName, src)
	var b strings.Builder
	for _, p := range doc.Projects {
		fmt.Fprintf(&b, "project %s: dir %s", p.Name.Value, p.Dir.Value)
		if p.Workspace.Value != "" {
			fmt.Fprintf(&b, " workspace %s", p.Workspace.Value)
		}
		if p.Group != 0 {
			fmt.Fprintf(&b, " group %d", p.Group)
		}
		if p.Language != "" {
			fmt.Fprintf(&b, " language %s", p.Language)
		}
		for _, on := range p.DependsOn {
			fmt.Fprintf(&b, " after %s", on.Value)
		}
		if p.Broken {
			b.WriteString(" broken")
		}
		b.WriteString("\n")
		if p.WhenChanged != nil {
			fmt.Fprintf(&b, "  when_changed %s\n", strings.Join(values1(p.WhenChanged), " "))
		}
		if p.VarFiles != nil {
			fmt.Fprintf(&b, "  var_files %s\n", strings.Join(values1(p.VarFiles), " "))
		}
		for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
			fmt.Fprintf(&b, "  variable %s = %s\n", name, p.Variables[name])
		}
		if p.BackendFiles != nil {
			fmt.Fprintf(&b, "  backend_config %s\n", strings.Join(values1(p.BackendFiles), " "))
		}
		for _, name := range slices.Sorted(maps.Keys(p.BackendConfig)) {
			fmt.Fprintf(&b, "  backend_config %s = %s\n", name, p.BackendConfig[name])
		}
	}
	if doc.Discover != (len(doc.Projects) == 0) {
		fmt.Fprintf(&b, "discover %t\n", doc.Discover)
	}
	for _, x := range doc.Exclude {
		fmt.Fprintf(&b, "exclude %s\n", x.Value)
	}
	for _, r := range doc.Require {
		fmt.Fprintf(&b, "require %s at %s: approvals %d, mergeable %t, up_to_date %t, of %q\n", r.Command, r.At, r.Approvals, r.Mergeable, r.UpToDate, r.Projects)
	}
	for _, x := range doc.Steps {
		fmt.Fprintf(&b, "step %s at line %d, %s: %q", x.Name, x.At.Start.Line, x.On, x.Program)
		for _, name := range slices.Sorted(maps.Keys(x.Env)) {
			fmt.Fprintf(&b, " %s=%q", name, x.Env[name])
		}
		fmt.Fprintf(&b, " of %q\n", x.Projects)
	}
	if doc.Automerge {
		fmt.Fprintf(&b, "automerge, delete branch %t\n", doc.DeleteBranch)
	}
	if doc.Unreadable {
		b.WriteString("unreadable\n")
	}
	for _, n := range doc.Notices {
		fmt.Fprintf(&b, "notice %v %s: %s\n", n.Lines, n.Key, n.Instead)
	}
	for _, d := range ds {
		fmt.Fprintf(&b, "error %d:%d %s: %s\n", d.Subject.Start.Line, d.Subject.Start.Column, d.Summary, d.Detail)
	}
	return b.String()
}
