package requirements

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// TestParseTerragrunt is a table of terragrunt blocks, and of what is wrong with them.
func TestParseTerragrunt(t *testing.T) {
	t.Parallel()
	tools := map[string]string{"terragrunt": "ab"}
	for src, want := range map[string]string{
		"terragrunt {}": "",
		"terragrunt {\n  env = { TG_FEATURE = \"x=y\" }\n  network = true\n  timeout = \"5m\"\n}": "",
		"terragrunt {}\nterragrunt {}":                         "Second terragrunt block",
		"terragrunt {\n  env = { LD_PRELOAD = \"x\" }\n}":      "cannot be the name of an environment variable",
		"terragrunt {\n  timeout = \"1h\"\n}":                  `from "1s" to "600s"`,
		"terragrunt {\n  program = \"other\"\n}":               "Its arguments are env, network, timeout.",
		"terragrunt {\n  role = \"plan\"\n}":                   "Its arguments are env, network, timeout.",
		"terragrunt {\n  network = \"yes\"\n}":                 "must be true or false",
		"terragrunt {\n  env = { PATH = file(\"secret\") }\n}": "Function calls not allowed",
	} {
		f, ds := hclsyntax.ParseConfig([]byte(src), "lockstep.hcl", hcl.InitialPos)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		content, _ := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "terragrunt"}}})
		got, ds := ParseTerragrunt(content.Blocks, tools)
		if (got == nil) != (want != "") || !strings.Contains(ds.Error()+errorsOf(ds), want) || want == "" && ds.HasErrors() {
			t.Errorf("%s: %+v, %v", src, got, ds)
		}
		if got, ds := ParseTerragrunt(content.Blocks, nil); got != nil || !strings.Contains(ds.Error()+errorsOf(ds), "lockstep toolbox add terragrunt FILE") {
			t.Errorf("%s without the tool: %+v, %v", src, got, ds)
		}
	}
	if got, ds := ParseTerragrunt(nil, nil); got != nil || ds.HasErrors() {
		t.Errorf("no block: %+v, %v", got, ds)
	}
}

// errorsOf returns the texts of all diagnostics.
func errorsOf(ds hcl.Diagnostics) (text string) {
	for _, d := range ds {
		text += d.Detail + "\n"
	}
	return text
}
