package testfiles

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/internal/configtest"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// TestDiagnostics loads and validates every case of testdata/*.txtar and compares its diagnostics.
// Cases with a directory "checks" have their tests there.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	configtest.Run(t, "testdata/*.txtar", func(t *testing.T, files map[string][]byte) string {
		dir := DefaultDirectory
		if strings.Contains(t.Name(), "directory") {
			dir = "checks"
		}
		s, ds := Load(loading.Input{Tree: source.Files(files)}, dir)
		if !ds.HasErrors() {
			ds = append(ds, s.Validate()...)
		}
		return configtest.Lines(ds)
	})
}

// A test file without mistakes is here as data, whatever a later run makes of it.
func TestContent(t *testing.T) {
	t.Parallel()
	files := txtar.Parse([]byte(`
-- main.tf --
variable "name" {}
resource "lab_thing" "a" {
  name = var.name
}
-- a.tftest.hcl --
variables {
  name = "x"
}
provider "lab" {
  alias = "real"
  size  = 1
}
mock_provider "lab" {
  source          = "./mocks"
  override_during = plan
  mock_resource "lab_thing" {
    defaults = { id = "mocked" }
  }
}
override_module {
  target  = module.m
  outputs = { id = 1 }
}
run "first" {
  command = plan
  plan_options {
    mode    = refresh-only
    target  = [lab_thing.a]
    replace = [lab_thing.a, lab_thing.b]
  }
}
run "second" {
  state_key = "other"
  providers = { lab = lab.real }
  variables {
    name = run.first.id
  }
  override_data {
    target          = data.lab_thing.d[0]
    override_during = apply
  }
  assert {
    condition     = lab_thing.a.name == "x"
    error_message = "no"
  }
  expect_failures = [var.name, lab_thing.a]
  module {
    source = "./m"
  }
}
-- m/main.tf --
module "inner" {
  source = "../m2"
}
-- m2/main.tf --
-- mocks/lab.tfmock.hcl --
mock_resource "lab_thing" {
  defaults = { id = "not this one" }
}
mock_data "lab_thing" {
  override_during = apply
}
`))
	s, ds := Load(loading.Input{Tree: source.Files(treeOf(files))}, DefaultDirectory)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	want := `variable name
provider lab mock during plan from "./mocks"
  data lab_thing during apply {}
  managed lab_thing during unset {"id":"mocked"}
provider lab.real
override module.m during unset {"id":1}
run first plan refresh-only target 1 replace 2 asserts 0 expected 0
run second apply target 0 replace 0 asserts 1 expected 2 state "other" lab=lab.real module ./m
  variable name
  override data.lab_thing.d[0] during apply {}
`
	if diff := cmp.Diff(want, describe(s.Files[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	manifest, err := s.Manifest().Encode()
	if err != nil {
		t.Fatal(err)
	}
	wantManifest := `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"test.a.second","Source":"./m","Dir":"m"},{"Key":"test.a.second.inner","Source":"../m2","Dir":"m2"}]}`
	if diff := cmp.Diff(wantManifest, string(manifest)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Two runs of one name with the same module, as in OpenTofu, share one entry of the manifest.
func TestManifestOfDuplicateRuns(t *testing.T) {
	t.Parallel()
	const runs = "run \"a\" {\n  module {\n    source = \"./m\"\n  }\n}\n"
	s, ds := Load(loading.Input{Tree: source.Files(map[string][]byte{"a.tofutest.hcl": []byte(runs + runs), "m/main.tf": nil})}, DefaultDirectory)
	if ds.HasErrors() || len(s.Files) != 1 || len(s.Files[0].Runs) != 2 {
		t.Fatal(ds)
	}
	manifest, err := s.Manifest().Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"test.a.a","Source":"./m","Dir":"m"}]}`
	if diff := cmp.Diff(want, string(manifest)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func treeOf(a *txtar.Archive) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range a.Files {
		out[f.Name] = f.Data
	}
	return out
}

func describe(f *File) string {
	var b strings.Builder
	variables(&b, "", f.Variables)
	for _, addr := range slices.SortedFunc(maps.Keys(f.Providers), func(x, y addrs.LocalProviderConfig) int { return strings.Compare(x.String(), y.String()) }) {
		p := f.Providers[addr]
		fmt.Fprintf(&b, "provider %s", addr)
		if p.Mock == nil {
			b.WriteString("\n")
			continue
		}
		fmt.Fprintf(&b, " mock during %s from %q\n", during[p.Mock.During], p.Mock.Source)
		var lines []string
		for key, x := range p.Mock.Objects {
			lines = append(lines, fmt.Sprintf("  %s %s during %s %s\n", modes[key.Mode], key.Type, during[x.During], values(x.Defaults)))
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
		overrides(&b, "  ", p.Mock.Overrides)
	}
	overrides(&b, "", f.Overrides)
	for _, r := range f.Runs {
		run(&b, r)
	}
	return b.String()
}

func run(b *strings.Builder, r *Run) {
	fmt.Fprintf(b, "run %s %s", r.Name, map[bool]string{true: "plan", false: "apply"}[r.PlanOnly])
	if r.Options.RefreshOnly {
		b.WriteString(" refresh-only")
	}
	fmt.Fprintf(b, " target %d replace %d asserts %d expected %d", len(r.Options.Target), len(r.Options.Replace), len(r.Asserts), len(r.ExpectFailures))
	if r.StateKey != "" {
		fmt.Fprintf(b, " state %q", r.StateKey)
	}
	for _, p := range r.Providers {
		fmt.Fprintf(b, " %s=%s", p.InChild, p.InParent)
	}
	if r.Module != nil {
		fmt.Fprintf(b, " module %s", r.Module.Address)
	}
	b.WriteString("\n")
	variables(b, "  ", r.Variables)
	overrides(b, "  ", r.Overrides)
}

var (
	during = map[During]string{unset: "unset", apply: "apply", plan: "plan"}
	modes  = map[addrs.ResourceMode]string{addrs.Managed: "managed", addrs.Data: "data"}
)

func variables(b *strings.Builder, indent string, all map[string]hcl.Expression) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(b, "%svariable %s\n", indent, name)
	}
}

func overrides(b *strings.Builder, indent string, list []*Override) {
	for _, o := range list {
		fmt.Fprintf(b, "%soverride %s during %s %s\n", indent, o.Target, during[o.During], values(o.Values))
	}
}

func values(v cty.Value) string {
	if v == cty.NilVal {
		return "{}"
	}
	var parts []string
	for name, x := range v.AsValueMap() {
		if x.Type() == cty.String {
			parts = append(parts, fmt.Sprintf("%q:%q", name, x.AsString()))
			continue
		}
		parts = append(parts, fmt.Sprintf("%q:%s", name, x.AsBigFloat().String()))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ",") + "}"
}

// FuzzLoad loads one text as a test file, as a file of mocks and as the module of a run. Nothing may
// panic, and what has no errors of shape can be validated.
func FuzzLoad(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range a.Files {
			if !strings.HasSuffix(x.Name, "/want") {
				f.Add(string(x.Data), strings.HasSuffix(x.Name, ".json"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, isJSON bool) {
		ext := ".hcl"
		if isJSON {
			ext = ".json"
		}
		s, ds := Load(loading.Input{Tree: source.Files(map[string][]byte{
			"main.tf":            []byte(`resource "lab_thing" "a" {}`),
			"a.tftest" + ext:     []byte(text),
			"tests/b.tftest.hcl": []byte("mock_provider \"lab\" {\n  source = \"./m\"\n}\nrun \"a\" {\n  module {\n    source = \"./m\"\n  }\n}"),
			"m/x.tfmock" + ext:   []byte(text),
			"m/main.tf":          []byte(text),
		})}, DefaultDirectory)
		if _, err := s.Manifest().Encode(); err != nil {
			t.Fatal(err)
		}
		if !ds.HasErrors() {
			s.Validate()
		}
	})
}
