package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// A VariableOrigin says by which way a value for a root variable came.
type VariableOrigin byte

const (
	FromEnvironment VariableOrigin = 'e' // TF_VAR_name
	FromAutoFile    VariableOrigin = 'a' // terraform.tfvars, *.auto.tfvars, and their JSON forms
	FromNamedFile   VariableOrigin = 'f' // -var-file
	FromOption      VariableOrigin = 'o' // -var
	FromPrompt      VariableOrigin = 'p' // typed in by a person
)

// A VariableSource is one place that gives values to root variables: a file, the
// environment, one option.
type VariableSource struct {
	Origin VariableOrigin
	// Literals are values as text, which the variable's type decides how to read.
	Literals map[string]string
	// Expressions are a file's values.
	Expressions map[string]hcl.Expression
	// FileName and File are the file that was read, for snippets.
	FileName string
	File     *hcl.File
}

// EnvironmentVariables returns the values in an environment of the form KEY=value.
func EnvironmentVariables(environ []string) VariableSource {
	s := VariableSource{Origin: FromEnvironment, Literals: map[string]string{}}
	for _, kv := range environ {
		if rest, ok := strings.CutPrefix(kv, "TF_VAR_"); ok {
			if name, value, ok := strings.Cut(rest, "="); ok {
				s.Literals[name] = value
			}
		}
	}
	return s
}

// OptionVariable reads the argument of a -var option, name=value.
func OptionVariable(arg string) (VariableSource, diags.Diagnostics) {
	s := VariableSource{Origin: FromOption}
	name, value, ok := strings.Cut(arg, "=")
	if !ok {
		return s, diags.Errorf(nil, "Invalid -var option", "The option needs a variable's name and a value, as in -var=\"name=value\", but there is no equals sign in what was given.")
	}
	if trimmed := strings.TrimRight(name, " \t"); trimmed != name {
		return s, diags.Errorf(nil, "Invalid -var option", "The name %q ends with a space: write -var=\"%s=...\", without spaces around the equals sign.", name, trimmed)
	}
	s.Literals = map[string]string{name: value}
	return s, nil
}

// FileVariables reads a variables file.
func FileVariables(origin VariableOrigin, name string, src []byte) (VariableSource, diags.Diagnostics) {
	f, values, ds := parseVarsFile(name, src)
	return VariableSource{Origin: origin, Expressions: values, FileName: name, File: f}, diags.FromHCL(ds)
}

// ParseVarsFile reads a variables file, as JSON if its name ends with .json. The
// expressions are literal: their values need no variables or functions.
func ParseVarsFile(name string, src []byte) (map[string]hcl.Expression, diags.Diagnostics) {
	_, values, ds := parseVarsFile(name, src)
	return values, diags.FromHCL(ds)
}

func parseVarsFile(name string, src []byte) (*hcl.File, map[string]hcl.Expression, hcl.Diagnostics) {
	var f *hcl.File
	var ds hcl.Diagnostics
	if strings.HasSuffix(name, ".json") {
		f, ds = parsing.JSON(src, name)
	} else {
		f, ds = parsing.Config(src, name)
	}
	if f == nil || f.Body == nil {
		return f, nil, ds
	}
	if d := declarations(name, f.Body); d != nil {
		return f, nil, append(ds, d)
	}
	attrs, more := f.Body.JustAttributes()
	ds = append(ds, more...)
	values, broken := make(map[string]hcl.Expression, len(attrs)), ds.HasErrors()
	for _, n := range slices.Sorted(maps.Keys(attrs)) {
		values[n] = attrs[n].Expr
		if broken {
			continue // what a part of a broken file says may be a mere consequence
		}
		if _, more := attrs[n].Expr.Value(nil); more.HasErrors() {
			ds = append(ds, more...)
			delete(values, n)
		}
	}
	return f, values, ds
}

// declarations reports variable blocks in a file that is there to give values.
func declarations(name string, body hcl.Body) *hcl.Diagnostic {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "variable", LabelNames: []string{"name"}}}})
	if _, native := body.(*hclsyntax.Body); !native || len(content.Blocks) == 0 {
		return nil
	}
	b := content.Blocks[0]
	return problem(&b.TypeRange, "Variable declaration in .tfvars file",
		"%s gives values to variables that .tf files declare; write %s = VALUE here, and move the variable block into a .tf file.", name, b.Labels[0])
}

// AutoVariableFiles picks the variables files that need not be named out of a
// directory's files, in the order in which they are read: later ones win.
func AutoVariableFiles(names []string) []string {
	var out []string
	for _, n := range []string{"terraform.tfvars", "terraform.tfvars.json"} {
		if slices.Contains(names, n) {
			out = append(out, n)
		}
	}
	for _, n := range slices.Sorted(slices.Values(names)) {
		if strings.HasSuffix(n, ".auto.tfvars") || strings.HasSuffix(n, ".auto.tfvars.json") {
			out = append(out, n)
		}
	}
	return out
}
