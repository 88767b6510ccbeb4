package loading

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

func TestModuleFiles(t *testing.T) {
	t.Parallel()
	primary, override := moduleFiles(strings.Fields(
		"#lock.tf# .hidden.tf a.tf a.tofu b.tf.json b.tofu.json c.tf.json c.tofu d.tf~ e.txt " +
			"override.tf x_override.tf.json x_override.tofu y_override.tf y_override.tofu z.tfvars notoverride.tf"))
	if diff := cmp.Diff(strings.Fields("a.tofu b.tofu.json c.tf.json c.tofu notoverride.tf"), primary); diff != "" {
		t.Errorf("primary: %s", diff)
	}
	if diff := cmp.Diff(strings.Fields("override.tf x_override.tf.json x_override.tofu y_override.tofu"), override); diff != "" {
		t.Errorf("override: %s", diff)
	}
}

// load loads files that must have no errors.
func load(t *testing.T, files map[string]string) *config.Config {
	t.Helper()
	b := map[string][]byte{}
	for name, text := range files {
		b[name] = []byte(text)
	}
	cfg, ds := Load(Input{Tree: source.Files(b)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return cfg
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	cfg := load(t, map[string]string{
		"main.tf": `
variable "v" {
  type    = number
  default = "1"
}
resource "lab_shape" "s" {
  name  = "s"
  color = "red"
  count = 1
  disk {
    label = "one"
  }
  disk {
    label = "two"
  }
  dynamic "zone" {
    for_each = []
    content {}
  }
  port { n = 1 }
  lifecycle {
    prevent_destroy = true
    ignore_changes  = [color]
  }
}
module "m" {
  source = "./m"
  a      = "main"
  b      = "main"
}
output "o" {
  value     = 1
  sensitive = true
}
provider "lab" {
  region = "main"
  zone   = "main"
}
terraform {
  backend "local" {}
}
`,
		"m/main.tf": "variable \"a\" {}\nvariable \"b\" {}\n",
		"x_override.tf": `
variable "v" { type = string }
resource "lab_shape" "s" {
  color    = "blue"
  for_each = {}
  disk {
    label = "over"
  }
  zone {}
  lifecycle {
    create_before_destroy = true
  }
}
module "m" { b = "over" }
output "o" { value = 2 }
provider "lab" { region = "over" }
terraform {
  backend "s3" {}
}
`,
	})
	root := cfg.Root
	x := root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "lab_shape", Name: "s"}]
	body, ds := x.Body.Content(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "name", Required: true}, {Name: "color"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "disk"}, {Type: "port"}, {Type: "zone"}, {Type: "dynamic", LabelNames: []string{"type"}}},
	})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var blocks []string
	for _, b := range body.Blocks {
		blocks = append(blocks, b.Type+" "+b.DefRange.Filename)
	}
	if diff := cmp.Diff([]string{"port main.tf", "disk x_override.tf", "zone x_override.tf"}, blocks); diff != "" {
		t.Errorf("an override replaces all blocks of a type, dynamic ones too: %s", diff)
	}
	if name, color := attr(t, body, "name"), attr(t, body, "color"); name != "s" || color != "blue" {
		t.Errorf("name %q, color %q", name, color)
	}
	if x.Count == nil || x.ForEach != nil || !x.PreventDestroy || !x.CreateBeforeDestroy || len(x.IgnoreChanges) != 1 {
		t.Errorf("meta-arguments: %+v", x)
	}
	if v := root.Variables["v"]; !v.Default.RawEquals(cty.StringVal("1")) || !v.ParseLiteral {
		t.Errorf("the default follows the type: %#v", v.Default)
	}
	args := root.Calls["m"].Args
	if f := args["a"].Range.Filename + " " + args["b"].Range.Filename; f != "main.tf x_override.tf" {
		t.Errorf("arguments of the call stand in %s", f)
	}
	if o := root.Outputs["o"]; !o.Sensitive || o.Expr.Range().Filename != "x_override.tf" {
		t.Errorf("output %+v", o)
	}
	provider, _ := root.Providers[addrs.LocalProviderConfig{LocalName: "lab"}].Body.JustAttributes()
	if f := provider["region"].Range.Filename + " " + provider["zone"].Range.Filename; f != "x_override.tf main.tf" {
		t.Errorf("arguments of the provider stand in %s", f)
	}
	if root.Backend.Type != "s3" {
		t.Errorf("backend %q", root.Backend.Type)
	}
}

// TestMissingInOverride checks that an argument missing in both bodies is reported
// once, and that an unknown one is reported where it stands.
func TestMissingInOverride(t *testing.T) {
	t.Parallel()
	cfg := load(t, map[string]string{
		"main.tf":     `resource "lab_thing" "a" {}`,
		"override.tf": "resource \"lab_thing\" \"a\" {\n  nope = 1\n}",
	})
	x := cfg.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "a"}]
	_, ds := x.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "name", Required: true}}})
	var got []string
	for _, d := range ds {
		got = append(got, d.Subject.Filename+": "+d.Summary)
	}
	if diff := cmp.Diff([]string{"override.tf: Unsupported argument", "main.tf: Missing required argument"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestEscape checks that the block named _ holds arguments whose names mean
// something else outside.
func TestEscape(t *testing.T) {
	t.Parallel()
	cfg := load(t, map[string]string{
		"main.tf": `
resource "lab_thing" "a" {
  name  = "a"
  count = 2
  _ {
    count = 3
  }
}
module "m" {
  source = "./m"
  _ {
    versions = 2
  }
}
`,
		"m/main.tf":      `variable "versions" { default = 1 }`,
		"m/more.tf.json": `{"resource": {"lab_thing": {"b": {"name": "b", "count": 1, "_": {"count": 2}}}}}`,
	})
	for module, name := range map[addrs.Module]string{addrs.RootModule: "a", addrs.NewModule("m"): "b"} {
		x := cfg.Modules[module].Resources[addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: name}]
		body, ds := x.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "name"}, {Name: "count"}}})
		if ds.HasErrors() || len(body.Attributes) != 2 {
			t.Fatalf("%s: %v, %v", name, body.Attributes, ds)
		}
		if v, _ := body.Attributes["count"].Expr.Value(nil); v.RawEquals(func() cty.Value { c, _ := x.Count.Value(nil); return c }()) {
			t.Errorf("%s: the provider's count is the meta-argument", name)
		}
	}
}

func attr(t *testing.T, c *hcl.BodyContent, name string) string {
	t.Helper()
	v, ds := c.Attributes[name].Expr.Value(nil)
	if ds.HasErrors() || v.Type() != cty.String {
		t.Fatalf("%s: %v %v", name, v, ds)
	}
	return v.AsString()
}
