package project

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// inS3 is the unit in a directory, with its state at the key of the same name, and the units that it depends on.
func inS3(dir string, on ...string) terragrunt.Unit {
	key, _ := json.Marshal(dir + "/terraform.tfstate")
	return terragrunt.Unit{
		Dir: dir, Source: "modules/box", Reads: []string{"modules/box/main.tf", "root.hcl"}, DependsOn: on, Digest: "1", Backend: "s3",
		Config: map[string]json.RawMessage{"bucket": json.RawMessage(`"states"`), "region": json.RawMessage(`"eu-central-1"`), "key": key},
	}
}

var boxFiles = fstest.MapFS{
	"root.hcl":                {},
	"modules/box/main.tf":     {Data: []byte("terraform {\n  backend \"s3\" {}\n}\nmodule \"inner\" {\n  source = \"../inner\"\n}\n")},
	"modules/inner/main.tf":   {Data: []byte("output \"x\" {\n  value = 1\n}\n")},
	"live/net/terragrunt.hcl": {},
	"live/app/terragrunt.hcl": {},
}

// shownUnits describes projects in one line each.
func shownUnits(all []Project) string {
	var out []string
	for _, p := range all {
		where := p.Place.String()
		if p.Nowhere != "" {
			where = p.Nowhere
		}
		out = append(out, fmt.Sprintf("%s in %s at %s after %v", p.Name, p.Dir, where, p.DependsOn))
	}
	return strings.Join(out, "\n")
}

// TestUnits is a table of units, and of the projects that they make.
func TestUnits(t *testing.T) {
	t.Parallel()
	generated := inS3("live/.terragrunt-stack/app", "live/.terragrunt-stack/net")
	for _, c := range []struct {
		name, settings string
		units          []terragrunt.Unit
		want, wrong    string
	}{
		{"two", "", []terragrunt.Unit{inS3("live/app", "live/net"), inS3("live/net")},
			"live/app in live/app at s3://states/live/app/terraform.tfstate after [live/net]\nlive/net in live/net at s3://states/live/net/terraform.tfstate after []", ""},
		{"a stack", "", []terragrunt.Unit{generated, inS3("live/.terragrunt-stack/net")},
			"live/app in live/.terragrunt-stack/app at s3://states/live/.terragrunt-stack/app/terraform.tfstate after [live/net]\nlive/net in live/.terragrunt-stack/net at s3://states/live/.terragrunt-stack/net/terraform.tfstate after []", ""},
		{"excluded", "exclude = [\"live/net\"]\n", []terragrunt.Unit{inS3("live/app", "live/net"), inS3("live/net")}, "live/app in live/app at s3://states/live/app/terraform.tfstate after []", ""},
		{"excluded by the unit", "", []terragrunt.Unit{inS3("live/app"), changed(inS3("live/net"), func(u *terragrunt.Unit) { u.Excluded = true })}, "live/app in live/app at s3://states/live/app/terraform.tfstate after []", ""},
		{"a block", "discover = true\nproject \"shop\" {\n  dir = \"live/app\"\n}\n", []terragrunt.Unit{inS3("live/app", "live/net"), inS3("live/net")},
			"live/net in live/net at s3://states/live/net/terraform.tfstate after []\nshop in live/app at s3://states/live/app/terraform.tfstate after [live/net]", ""},
		{"blocks for many", "project \"u-*\" {\n  dir = \"live/*\"\n}\n", []terragrunt.Unit{inS3("live/app", "live/net"), inS3("live/net")},
			"u-app in live/app at s3://states/live/app/terraform.tfstate after [u-net]\nu-net in live/net at s3://states/live/net/terraform.tfstate after []", ""},
		{"a circle", "", []terragrunt.Unit{inS3("live/app", "live/net"), inS3("live/net", "live/app")}, "", "depend on each other in a circle: live/app -> live/net -> live/app"},
		{"no such unit", "", []terragrunt.Unit{inS3("live/app", "live/none")}, "live/app in live/app at it depends on the directory live/none, which has no terragrunt.hcl: correct its dependency block after []", ""},
		{"one state", "", []terragrunt.Unit{inS3("live/app"), changed(inS3("live/net"), func(u *terragrunt.Unit) { u.Config = inS3("live/app").Config })}, "", "keep their state at"},
		{"a problem", "", []terragrunt.Unit{{Dir: "live/app", Reads: []string{"modules/box/main.tf"}, Problem: "live/app/terragrunt.hcl:1: no"}}, "live/app in live/app at live/app/terragrunt.hcl:1: no after []", ""},
		{"another server", "", []terragrunt.Unit{changed(inS3("live/app"), func(u *terragrunt.Unit) { u.Config["endpoint"] = json.RawMessage(`"x"`) })}, "live/app in live/app at its backend names another server after []", ""},
		{"no state", "", []terragrunt.Unit{{Dir: "live/app", Source: "modules/inner", Reads: []string{"modules/box/main.tf"}, Digest: "1"}}, "", ""},
	} {
		files := fstest.MapFS{"lockstep.hcl": {Data: []byte(c.settings)}}
		for name, f := range boxFiles {
			files[name] = f
		}
		r, ds := Discover(files, c.units...)
		if got := shownUnits(r.Projects); got != c.want || !strings.Contains(fmt.Sprint(ds), c.wrong) || c.wrong == "" && ds.HasErrors() {
			t.Errorf("%s: %s\n%v", c.name, got, ds)
		}
		for _, p := range r.Projects {
			if q, ok := Find(files, p.Name, p.Workspace, c.units...); !ok || shownUnits([]Project{q}) != shownUnits([]Project{p}) && !strings.Contains(c.settings, "project") || q.Unit == nil {
				t.Errorf("%s: it finds %+v", c.name, q)
			}
		}
	}
}

func changed(u terragrunt.Unit, change func(*terragrunt.Unit)) terragrunt.Unit {
	change(&u)
	return u
}

// TestUnitInputs has the files on which the plan of a unit depends, and the units that a change touches.
func TestUnitInputs(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"live/app/below/terragrunt.hcl": {}, "live/app/own.yaml": {}, "live/app/.terragrunt-cache/a/b/main.tf": {}}
	for name, f := range boxFiles {
		files[name] = f
	}
	units := []terragrunt.Unit{inS3("live/app"), inS3("live/net")}
	r, _ := Discover(files, units...)
	got, err := Inputs(files, r.Projects[0])
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := "[live/app/own.yaml live/app/terragrunt.hcl lockstep.hcl modules/box/main.tf modules/inner/main.tf root.hcl]"; fmt.Sprint(names) != want {
		t.Errorf("%v, want %s", names, want)
	}
	for _, c := range []struct {
		name   string
		change func(fstest.MapFS, []terragrunt.Unit)
		want   string
	}{
		{"nothing", func(fstest.MapFS, []terragrunt.Unit) {}, "[]"},
		{"an included file", func(f fstest.MapFS, _ []terragrunt.Unit) { f["root.hcl"] = &fstest.MapFile{Data: []byte("#")} }, "[live/app live/net]"},
		{"a module", func(f fstest.MapFS, _ []terragrunt.Unit) {
			f["modules/inner/more.tf"] = &fstest.MapFile{}
		}, "[live/app live/net]"},
		{"a file of one", func(f fstest.MapFS, _ []terragrunt.Unit) {
			f["live/app/own.yaml"] = &fstest.MapFile{Data: []byte("a: 1")}
		}, "[live/app]"},
		{"what one evaluates to", func(_ fstest.MapFS, u []terragrunt.Unit) { u[1].Digest = "2" }, "[live/net]"},
		{"a working copy", func(f fstest.MapFS, _ []terragrunt.Unit) {
			f["live/app/.terragrunt-cache/a/b/main.tf"] = &fstest.MapFile{Data: []byte("#")}
		}, "[]"},
	} {
		now, later := fstest.MapFS{}, slices.Clone(units)
		for name, f := range files {
			now[name] = f
		}
		c.change(now, later)
		has, _ := Discover(now, later...)
		d, err := Touched(t.Context(), files, now, r.Projects, has.Projects, func(Project) []FilesRead { return nil })
		names := []string{}
		for _, p := range d.Projects {
			names = append(names, p.Name)
		}
		if err != nil || fmt.Sprint(names) != c.want {
			t.Errorf("%s: %v, %v", c.name, names, err)
		}
	}
}
