// Package inputs finds the values of the root module's variables: in the environment, in files, in options,
// by a prompt.
//
// It does not know validation rules, marks and called modules: these belong to evaluation. Start at
// [Collect].
package inputs

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Value is the value of a root variable.
type Value struct {
	// Given is the value before conversion; the default if no value was given.
	Given cty.Value
	// Value is the converted value, without marks.
	Value cty.Value
	// Origin is the kind of source that gave the value; 0 if the value is the default.
	Origin Origin
	// Range is the range of the value if it is in a file; otherwise nil.
	Range *hcl.Range
	// Expr is the expression of the value if it was given as one; nil for the default and for plain text.
	Expr hcl.Expression
	// Problem is the error if Given does not fit the variable. Value is unknown then.
	Problem diags.Diagnostics
}

// Values returns the value of every variable of the root module, converted to the variable's type. If several
// sources have a value for a variable, the last of them decides; if none has, the default does. Pass the
// sources in the order of their precedence, lowest first: the environment, the files of [AutoFiles], then
// -var and -var-file options in their order.
//
// With errors, variables without a valid value are unknown. Values sets no marks for sensitive and ephemeral
// variables, and does not check validation rules: evaluation does both.
func Values(root *config.Content, sources []Source) (map[string]cty.Value, diags.Diagnostics) {
	inputs, ds := Collect(root, sources)
	out := make(map[string]cty.Value, len(inputs))
	for name, x := range inputs {
		out[name] = x.Value
		ds = append(ds, x.Problem...)
	}
	return out, ds
}

// Collect returns the values as [Values] does, with their origin. A value that does not fit its variable is
// not an error, but the Problem of that value.
func Collect(root *config.Content, sources []Source) (map[string]Value, diags.Diagnostics) {
	given, ds := givenValues(root, sources)
	out := make(map[string]Value, len(root.Variables))
	for _, name := range slices.Sorted(maps.Keys(root.Variables)) {
		v := root.Variables[name]
		g, set := given[name]
		if (!set || g.bad) && v.Default == cty.NilVal {
			ds = append(ds, diags.Errorf(&v.Range, "No value for required variable",
				"The root module's variable %q has no default value, and nothing sets it. Use the option -var or -var-file, the environment variable TF_VAR_%s or a .tfvars file.", name, name)...)
		}
		out[name] = g.input(v)
	}
	return out, ds
}

// Unset returns the variables that need a value and have none, sorted by name. The command line asks the user
// for them.
func Unset(root *config.Content, sources []Source) []*config.Variable {
	var out []*config.Variable
	for _, name := range slices.Sorted(maps.Keys(root.Variables)) {
		v := root.Variables[name]
		set := slices.ContainsFunc(sources, func(s Source) bool {
			_, literal := s.Literals[name]
			return literal || s.Expressions[name] != nil
		})
		if !set && v.Default == cty.NilVal {
			out = append(out, v)
		}
	}
	return out
}
