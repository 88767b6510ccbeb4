package early_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// TestSources loads a root module that calls modules by what main.tf says. wants are the
// directories of all modules, or a part of what is said.
func TestSources(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ main, want string }{
		"literal":          {`module "a" { source = "./x" }`, ". x"},
		"a default":        {"variable \"v\" { default = \"x\" }\nmodule \"a\" { source = \"./${var.v}\" }", ". x"},
		"given":            {"variable \"v\" { default = \"x\" }\nvariable \"g\" {}\nmodule \"a\" { source = \"./${var.g}\" }", ". y"},
		"a local value":    {"locals {\n  d = \"./${local.e}\"\n  e = lower(\"X\")\n}\nmodule \"a\" { source = local.d }", ". x"},
		"the workspace":    {`module "a" { source = "./${terraform.workspace}" }`, ". y"},
		"one in the other": {"module \"a\" {\n  source = \"./nest\"\n  d = \"x\"\n}\nmodule \"b\" {\n  source = \"./nest\"\n  d = \"y\"\n}", ". nest x nest y"},
		"a resource":       {"resource \"terraform_data\" \"r\" {}\nmodule \"a\" { source = terraform_data.r.id }", "Value is not known early enough"},
		"unset":            {"variable \"v\" {}\nmodule \"a\" { source = var.v }", "Variable has no value"},
		"undeclared":       {`module "a" { source = var.v }`, "Reference to undeclared input variable"},
		"sensitive":        {"variable \"v\" {\n  default = \"./x\"\n  sensitive = true\n}\nmodule \"a\" { source = var.v }", "Value not allowed here"},
		"a circle":         {"locals {\n  a = local.b\n  b = local.a\n}\nmodule \"a\" { source = local.a }", "Circular reference"},
		"a file":           {`module "a" { source = file("/etc/hostname") }`, "permission"},
		"a time":           {`module "a" { source = timestamp() }`, "Value is not known early enough"},
		"null":             {"variable \"v\" { default = null }\nmodule \"a\" { source = var.v }", "is null here"},
	} {
		files := map[string][]byte{
			"main.tf": []byte(c.main), "x/x.tf": nil, "y/y.tf": nil,
			"nest/nest.tf": []byte("variable \"d\" {}\nmodule \"n\" { source = \"../${var.d}\" }"),
		}
		cfg, ds := loading.Load(loading.Input{Tree: source.Files(files), Early: early.New(early.Input{
			Workspace: "y",
			Sources: func() []inputs.Source {
				return []inputs.Source{{Origin: inputs.FromOption, Literals: map[string]string{"g": "y"}}}
			},
		})})
		var dirs []string
		for _, m := range cfg.Order {
			dirs = append(dirs, m.Dir)
		}
		got := strings.Join(dirs, " ")
		if ds.HasErrors() {
			got = ds.Error()
		}
		if got != c.want && !(ds.HasErrors() && strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestInit: a variable has the value that init was given, and another value is an error. Used tells of values from elsewhere than
// files that are always read.
func TestInit(t *testing.T) {
	t.Parallel()
	given := func(o inputs.Origin, value string) inputs.Source {
		return inputs.Source{Origin: o, Literals: map[string]string{"v": value}}
	}
	for name, c := range map[string]struct {
		now        []inputs.Source
		init       inputs.Source
		want, used string
	}{
		"nothing":         {nil, inputs.Source{}, ". x", ""},
		"at init":         {nil, given(inputs.FromEnvironment, "y"), ". y", "y"},
		"the same":        {[]inputs.Source{given(inputs.FromOption, "y")}, given(inputs.FromEnvironment, "y"), ". y", "y"},
		"another":         {[]inputs.Source{given(inputs.FromOption, "x")}, given(inputs.FromEnvironment, "y"), "Variable has another value than at init", "x"},
		"another, a file": {[]inputs.Source{given(inputs.FromAutoFile, "x")}, given(inputs.FromEnvironment, "y"), "Variable has another value than at init", ""},
		"only now":        {[]inputs.Source{given(inputs.FromNamedFile, "y")}, inputs.Source{}, ". y", "y"},
		"a file":          {[]inputs.Source{given(inputs.FromAutoFile, "y")}, inputs.Source{}, ". y", ""},
	} {
		files := map[string][]byte{"main.tf": []byte("variable \"v\" {\n  default = \"x\"\n  const = true\n}\nmodule \"a\" { source = \"./${var.v}\" }"), "x/x.tf": nil, "y/y.tf": nil}
		used := ""
		cfg, ds := loading.Load(loading.Input{Tree: source.Files(files), Early: early.New(early.Input{
			Sources: func() []inputs.Source { return c.now }, Init: c.init, Used: func(name string, v cty.Value) { used = v.AsString() },
		})})
		var dirs []string
		for _, m := range cfg.Order {
			dirs = append(dirs, m.Dir)
		}
		got := strings.Join(dirs, " ")
		if ds.HasErrors() {
			got = ds.Error()
		}
		if got != c.want && !(ds.HasErrors() && strings.Contains(got, c.want)) || used != c.used {
			t.Errorf("%s: %s, want %s; used %q, want %q", name, got, c.want, used, c.used)
		}
	}
}
