package terragrunt

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const foundUnits = `[
 {"type": "stack", "path": "live"},
 {"type": "unit", "path": "live/app", "dependencies": ["live/net", "../../elsewhere"], "reading": ["root.hcl", "modules/app/main.tf", "/etc/passwd"]},
 {"type": "unit", "path": "live/net", "reading": ["root.hcl"]},
 {"type": "unit", "path": "/etc"}, {"type": "unit", "path": "../elsewhere"}, {"type": "unit", "path": "live/../../.terragrunt-stack/x"}
]`

// TestRead is a table of what Terragrunt has evaluated, and of the unit live/app that it makes.
func TestRead(t *testing.T) {
	t.Parallel()
	base := Unit{Dir: "live/app", Reads: []string{"modules/app/main.tf", "root.hcl"}, DependsOn: []string{"live/net"}}
	for _, c := range []struct {
		name, rendered, errors string
		want                   Unit
	}{
		{"a local module", `{"terraform": {"source": "../../modules//app"}}`, "", Unit{Source: "modules/app"}},
		{"an absolute path", `{"terraform": {"source": "/repo/modules/app"}}`, "", Unit{Source: "modules/app"}},
		{"no source", `{"terraform": null}`, "", Unit{Source: "live/app"}},
		{"a remote module", `{"terraform": {"source": "git::https://example.com/m.git//app?ref=v1"}}`, "", Unit{Remote: "git::https://example.com/m.git//app?ref=v1"}},
		{"outside of the repository", `{"terraform": {"source": "../../../m"}}`, "", Unit{Remote: "../../../m"}},
		{"a state", `{"remote_state": {"backend": "s3", "config": {"key": "k", "skip_bucket_versioning": true}}}`, "", Unit{Source: "live/app", Backend: "s3", Config: map[string]json.RawMessage{"key": json.RawMessage(`"k"`)}}},
		{"a generated backend", `{"generate": {"b": {"path": "b.tf", "contents": "terraform {\n  backend \"s3\" {\n    key = \"k\"\n    region = var.x\n  }\n}\n"}}}`, "", Unit{Source: "live/app", Generates: true, Backend: "s3", Config: map[string]json.RawMessage{"key": json.RawMessage(`"k"`)}}},
		{"a generated file that is not generated", `{"generate": {"b": {"path": "b.tf", "disable": true, "contents": "terraform {\n  backend \"s3\" {}\n}\n"}}}`, "", Unit{Source: "live/app", Generates: true}},
		{"excluded", `{"exclude": {"if": true, "actions": ["plan"]}}`, "", Unit{Source: "live/app", Excluded: true}},
		{"excluded from applies", `{"exclude": {"if": true, "actions": ["apply"]}}`, "", Unit{Source: "live/app"}},
		{"no JSON", `{`, "", Unit{Problem: "Terragrunt has not printed JSON for it: unexpected end of JSON input"}},
		{"an error", "", "warn x\nerror a multi-line text\nerror /repo/live/net/terragrunt.hcl:1: other\nerror /repo/live/app/terragrunt.hcl:11,2-3: Unknown variable.\n", Unit{Problem: "Terragrunt cannot evaluate it: live/app/terragrunt.hcl:11,2-3: Unknown variable"}},
		{"an error in another file", "", "/repo/root.hcl:1,2-3: no\n", Unit{Problem: "Terragrunt cannot evaluate it: root.hcl:1,2-3: no"}},
		{"an unknown error", "", "error no flag --json\n", Unit{Problem: "Terragrunt cannot evaluate it: no flag --json"}},
	} {
		o := Output{Root: "/repo", Find: []byte(foundUnits), Errors: c.errors, Rendered: map[string][]byte{"live/net": []byte("{}")}}
		if c.rendered != "" {
			o.Rendered["live/app"] = []byte(c.rendered)
		}
		all, err := Read(o)
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: %+v, %v", c.name, all, err)
		}
		got := all[0]
		if (got.Digest == "") != (got.Problem != "") {
			t.Errorf("%s: the digest is %q", c.name, got.Digest)
		}
		got.Digest = ""
		c.want.Dir, c.want.Reads, c.want.DependsOn = base.Dir, base.Reads, base.DependsOn
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	if _, err := Read(Output{Find: []byte("no JSON")}); err == nil {
		t.Error("no list of units")
	}
}

// TestReadOthers has directories that Terragrunt does not list: units in a circle, templates of stacks, and included files.
func TestReadOthers(t *testing.T) {
	t.Parallel()
	all, err := Read(Output{
		Root: "/repo", Find: []byte(`[{"type": "unit", "path": "live/app", "reading": ["live/terragrunt.hcl"]}, {"type": "unit", "path": "catalog/x"}]`),
		Rendered: map[string][]byte{"live/app": []byte("{}")}, Dirs: []string{"catalog/x", "live", "live/app", "live/one"},
		Errors: "error /repo/catalog/x/terragrunt.hcl:1,2-3: Unknown variable; There is no variable named \"values\".\n",
	})
	var got []string
	for _, u := range all {
		got = append(got, u.Dir+" "+u.Problem)
	}
	if want := `["live/app " "live/one Terragrunt does not list it as a unit. Units that depend on each other in a circle are not listed: remove one of their dependency blocks"]`; err != nil || fmt.Sprintf("%q", got) != want {
		t.Errorf("%q, %v", got, err)
	}
}

// TestReadNeedsOutputs has a unit with the output of another one in a generated file. Its backend is asked for alone.
func TestReadNeedsOutputs(t *testing.T) {
	t.Parallel()
	o := Output{Root: "/repo", Find: []byte(foundUnits), Rendered: map[string][]byte{"live/net": []byte("{}")}, Errors: "error /repo/live/app/terragrunt.hcl:1,2-3: Unsuitable value type; Unsuitable value: value must be known\n"}
	if dirs, err := o.NeedsOutputs(); err != nil || fmt.Sprint(dirs) != "[live/app]" {
		t.Fatal(dirs, err)
	}
	o.Backends = map[string]string{"live/app": "terraform {\n  backend \"s3\" {\n    key = \"k\"\n  }\n}\n"}
	all, err := Read(o)
	want := Unit{Dir: "live/app", Reads: []string{"modules/app/main.tf", "root.hcl", "**"}, DependsOn: []string{"live/net"}, Source: "modules/app", Backend: "s3", Config: map[string]json.RawMessage{"key": json.RawMessage(`"k"`)}}
	if d := cmp.Diff(want, all[0]); err != nil || d != "" {
		t.Error(d, err)
	}
}

// TestModuleSource is a table of sources, and of the arguments of a module block for them.
func TestModuleSource(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][2]string{
		"":                                  {},
		"git::https://example.com/m?ref=v1": {"git::https://example.com/m?ref=v1", ""},
		"tfr:///acme/net/aws?version=1.2.0": {"acme/net/aws", "1.2.0"},
		"tfr://r.example.com/a/b/c//sub?version=2": {"r.example.com/a/b/c//sub", "2"},
		"tfr:///acme/net/aws":                      {"acme/net/aws", ""},
	} {
		if address, version := ModuleSource(source); [2]string{address, version} != want {
			t.Errorf("%s: %s %s", source, address, version)
		}
	}
}
