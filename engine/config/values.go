package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// An InputValue is what a root variable is set to.
type InputValue struct {
	// Given is the value as given, before conversion; the default if none was.
	Given cty.Value
	// Value is what the configuration sees, without marks.
	Value cty.Value
	// Origin is 0 if the value is the default.
	Origin VariableOrigin
	// Range is the value's place, if it stands in a file.
	Range *hcl.Range
	// Problem says why Given does not fit the variable; Value is unknown then.
	Problem diags.Diagnostics
}

// CollectVariables returns the value of every variable of the root module: the last
// of sources that gives one, converted to the variable's type, or the default. The
// sources stand in the order of their precedence, lowest first: the environment, the
// files of [AutoVariableFiles], then -var and -var-file options as they were given.
//
// Beside errors, variables without a good value are unknown. Marks for sensitive and
// ephemeral variables are not set, and validation rules not checked: that is
// evaluation.
func CollectVariables(root *Content, sources []VariableSource) (map[string]cty.Value, diags.Diagnostics) {
	inputs, ds := CollectInputs(root, sources)
	out := make(map[string]cty.Value, len(inputs))
	for name, x := range inputs {
		out[name] = x.Value
		ds = append(ds, x.Problem...)
	}
	return out, ds
}

// CollectInputs is [CollectVariables] with more about each value. What does not fit its
// variable is not an error but a Problem of that value.
func CollectInputs(root *Content, sources []VariableSource) (map[string]InputValue, diags.Diagnostics) {
	given, ds := givenValues(root, sources)
	out := make(map[string]InputValue, len(root.Variables))
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
func Unset(root *Content, sources []VariableSource) []*Variable {
	var out []*Variable
	for _, name := range slices.Sorted(maps.Keys(root.Variables)) {
		v := root.Variables[name]
		set := slices.ContainsFunc(sources, func(s VariableSource) bool {
			_, literal := s.Literals[name]
			return literal || s.Expressions[name] != nil
		})
		if !set && v.Default == cty.NilVal {
			out = append(out, v)
		}
	}
	return out
}

// A givenValue is a variable's value before conversion; NilVal if there is none.
type givenValue struct {
	value  cty.Value
	origin VariableOrigin
	place  *hcl.Range
	bad    bool // reported already
}

// givenValues reads the values, later sources over earlier ones, and reports those
// that no variable is declared for.
func givenValues(root *Content, sources []VariableSource) (map[string]givenValue, diags.Diagnostics) {
	var ds diags.Diagnostics
	last := map[string]int{}
	for i, s := range sources {
		for name := range s.Literals {
			last[name] = i
		}
		for name := range s.Expressions {
			last[name] = i
		}
	}
	out := map[string]givenValue{}
	undeclared := 0
	for _, name := range slices.Sorted(maps.Keys(last)) {
		s := sources[last[name]]
		v := root.Variables[name]
		if v == nil {
			d := undeclaredValue(name, s)
			if len(d) > 0 && d[0].Severity == diags.Warning {
				if undeclared++; undeclared > shownUndeclared {
					continue
				}
			}
			ds = append(ds, d...)
			continue
		}
		g, more := s.value(v)
		ds = append(ds, more...)
		out[name] = g
	}
	if rest := undeclared - shownUndeclared; rest > 0 {
		ds = append(ds, diags.Warningf(nil, "Values for undeclared variables",
			"There are %d more values in variables files for variables that the root module does not declare.", rest)...)
	}
	return out, ds
}

// shownUndeclared is how many undeclared variables of files are named.
const shownUndeclared = 2

// undeclaredValue reports a value that no variable takes: an error for an option,
// which is meant for this configuration, a warning for files, which several
// configurations may share, nothing for the environment.
func undeclaredValue(name string, s VariableSource) diags.Diagnostics {
	const summary = "Value for undeclared variable"
	switch s.Origin {
	case FromEnvironment, FromPrompt:
		return nil
	case FromOption:
		return diags.Errorf(nil, summary, "The option -var gives a value to %q, but the root module declares no variable of that name. Check the name, or add a variable block.", name)
	}
	return diags.Warningf(nil, summary, "The file %q gives a value to %q, but the root module declares no variable of that name. Check the name, or add a variable block. Values for many configurations at once can be set by TF_VAR_... environment variables without this warning.", s.FileName, name)
}

// value reads the value that s has for v.
func (s VariableSource) value(v *Variable) (givenValue, diags.Diagnostics) {
	g := givenValue{origin: s.Origin}
	var ds hcl.Diagnostics
	if e := s.Expressions[v.Name]; e != nil {
		g.place = e.Range().Ptr()
		g.value, ds = e.Value(nil)
	} else {
		g.value, ds = v.parse(s.Literals[v.Name])
	}
	if ds.HasErrors() {
		g.value, g.bad = cty.DynamicVal, true
	}
	return g, diags.FromHCL(ds)
}

// parse reads a value given as text: the text itself for strings, numbers, bools and
// variables without a type, else an expression.
func (v *Variable) parse(text string) (cty.Value, hcl.Diagnostics) {
	if v.ParseLiteral {
		return cty.StringVal(text), nil
	}
	e, ds := parsing.Expression([]byte(text), fmt.Sprintf("<value for var.%s>", v.Name), hcl.InitialPos)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	val, more := e.Value(nil)
	return val, append(ds, more...)
}

// input converts g to v's type.
func (g givenValue) input(v *Variable) InputValue {
	x := InputValue{Given: g.value, Origin: g.origin, Range: g.place}
	if g.value == cty.NilVal {
		x.Given, x.Value = v.Default, v.Default
		if v.Default == cty.NilVal {
			x.Given, x.Value = cty.DynamicVal, cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
		}
		return x
	}
	var err error
	x.Value, err = v.Prepare(g.value)
	if err == nil || g.bad {
		return x
	}
	place := g.place
	if place == nil || v.Sensitive {
		// A snippet of the file would show the value.
		place = &v.Range
	}
	if errors.Is(err, ErrRequired) {
		x.Problem = diags.Errorf(place, "Required variable not set", "The variable %q was set to null %s, but it has nullable = false and no default value.", v.Name, g.by(v))
		return x
	}
	x.Problem = diags.Errorf(place, "Invalid value for input variable", "The value of variable %q, set %s, does not fit the type that was declared at %s: %s.", v.Name, g.by(v), at(v.Range), err)
	return x
}

// by says which way a value came.
func (g givenValue) by(v *Variable) string {
	switch g.origin {
	case FromEnvironment:
		return "by the environment variable TF_VAR_" + v.Name
	case FromOption:
		return "by the option -var"
	case FromPrompt:
		return "interactively"
	}
	return "in a variables file"
}
