package inputs

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// File reads a variables file, whose expressions must be literal. A value that is not literal is reported
// only when the value is needed. It does not matter for a variable that this configuration does not declare.
func File(origin Origin, name string, src []byte) (Source, diags.Diagnostics) {
	f, values, ds := parseFile(name, src, false)
	return Source{Origin: origin, Expressions: values, FileName: name, File: f}, diags.FromHCL(ds)
}

// ParseFile reads a variables file, as JSON if its name ends with .json. The expressions are literal:
// evaluate them without variables and functions.
func ParseFile(name string, src []byte) (map[string]hcl.Expression, diags.Diagnostics) {
	_, values, ds := parseFile(name, src, true)
	return values, diags.FromHCL(ds)
}

// parseFile reads a variables file. If evaluated is set, it leaves out values that are not literal, with an
// error for each.
func parseFile(name string, src []byte, evaluated bool) (*hcl.File, map[string]hcl.Expression, hcl.Diagnostics) {
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
		if broken || !evaluated {
			continue // In a broken file, an error in one part may be only a consequence of the first error.
		}
		if _, more := attrs[n].Expr.Value(nil); more.HasErrors() {
			ds = append(ds, more...)
			delete(values, n)
		}
	}
	return f, values, ds
}

// declarations returns an error if a variables file has a variable block, which belongs into a .tf file.
func declarations(name string, body hcl.Body) *hcl.Diagnostic {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "variable", LabelNames: []string{"name"}}}})
	if _, native := body.(*hclsyntax.Body); !native || len(content.Blocks) == 0 {
		return nil
	}
	b := content.Blocks[0]
	return diags.HCLError(&b.TypeRange, "Variable declaration in .tfvars file",
		"%s gives values to variables that .tf files declare; write %s = VALUE here, and move the variable block into a .tf file.", name, b.Labels[0])
}

// AutoFiles returns the variables files among the given file names that are read even if no option names them.
// They are in the order in which they are read: later files override earlier ones.
func AutoFiles(names []string) []string {
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
