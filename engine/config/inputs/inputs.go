// Package inputs finds the values of the root module's variables: in the environment, in
// files, in options, by a prompt.
//
// It refuses to know validation rules, marks and modules that are called: those are
// evaluation. Start at [Collect].
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
	// Given is the value as given, before conversion; the default if none was.
	Given cty.Value
	// Value is the converted value, without marks.
	Value cty.Value
	// Origin is 0 if the value is the default.
	Origin Origin
	// Range is the value's place, if it stands in a file.
	Range *hcl.Range
	// Problem is the error if Given does not fit the variable; Value is unknown then.
	Problem diags.Diagnostics
}

// Values returns the value of every variable of the root module: the last
// of sources that gives one, converted to the variable's type, or the default. The
// sources stand in the order of their precedence, lowest first: the environment, the
// files of [AutoFiles], then -var and -var-file options as they were given.
//
// Beside errors, variables without a good value are unknown. Marks for sensitive and
// ephemeral variables are not set, and validation rules not checked: that is
// evaluation.
func Values(root *config.Content, sources []Source) (map[string]cty.Value, diags.Diagnostics) {
	inputs, ds := Collect(root, sources)
	out := make(map[string]cty.Value, len(inputs))
	for name, x := range inputs {
		out[name] = x.Value
		ds = append(ds, x.Problem...)
	}
	return out, ds
}

// Collect is [Values] with more about each value. If one does not fit its variable, this is
// not an error but the Problem of that value.
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

// Unset returns the variables that nothing gives a value to although they need one,
// by name: those to ask a person for.
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
