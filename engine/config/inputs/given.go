package inputs

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// A givenValue is a variable's value before conversion; NilVal if there is none.
type givenValue struct {
	value  cty.Value
	origin Origin
	place  *hcl.Range
	expr   hcl.Expression // of a value in a file
	bad    bool           // reported already
	how    string         // see [Source.By]
}

// givenValues reads the values; later sources override earlier ones. It returns a diagnostic about each value
// without a declared variable.
func givenValues(root *config.Content, sources []Source) (map[string]givenValue, diags.Diagnostics) {
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

// shownUndeclared is how many undeclared variables from files are named in warnings.
const shownUndeclared = 2

// undeclaredValue returns a diagnostic about a value for a variable that is not declared. For an option it is
// an error, since options are meant for this configuration. For a file it is a warning, since several
// configurations may share the file. For the environment there is no diagnostic.
func undeclaredValue(name string, s Source) diags.Diagnostics {
	const summary = "Value for undeclared variable"
	switch s.Origin {
	case FromEnvironment, FromPrompt:
		return nil
	case FromOption:
		return diags.Errorf(nil, summary, "The option -var gives a value to %q, but the root module declares no variable of that name. Check the name, or add a variable block.", name)
	}
	return diags.Warningf(nil, summary, "The file %q gives a value to %q, but the root module declares no variable of that name. Check the name, or add a variable block. Values for many configurations at once can be set by TF_VAR_... environment variables without this warning.", s.FileName, name)
}

// value returns the value that the source s has for the variable v.
func (s Source) value(v *config.Variable) (givenValue, diags.Diagnostics) {
	g := givenValue{origin: s.Origin, how: s.By}
	var ds hcl.Diagnostics
	if e := s.Expressions[v.Name]; e != nil {
		g.expr = e
		if at := e.Range(); at.Filename != "" {
			g.place = &at
		}
		g.value, ds = e.Value(nil)
	} else {
		g.value, ds = parse(v, s.Literals[v.Name])
	}
	if ds.HasErrors() {
		g.value, g.bad = cty.DynamicVal, true
	}
	return g, diags.FromHCL(ds)
}

// parse reads a value that is given as text. For strings, numbers, bools and variables without a type it is
// the text itself; otherwise the text is an expression.
func parse(v *config.Variable, text string) (cty.Value, hcl.Diagnostics) {
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

// input returns g as the Value of v: it converts g to v's type.
func (g givenValue) input(v *config.Variable) Value {
	x := Value{Given: g.value, Origin: g.origin, Range: g.place, Expr: g.expr}
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
		// A code snippet at the value would show it. Point to the variable block instead.
		place = &v.Range
	}
	if errors.Is(err, config.ErrRequired) {
		x.Problem = diags.Errorf(place, "Required variable not set", "The variable %q was set to null %s, but it has nullable = false and no default value.", v.Name, g.by(v))
		return x
	}
	x.Problem = diags.Errorf(place, "Invalid value for input variable", "The value of variable %q, set %s, does not fit the type that was declared at %s: %s.", v.Name, g.by(v), v.Range, err)
	return x
}

// by says how a value was given, for messages: "by the option -var", for example.
func (g givenValue) by(v *config.Variable) string {
	switch {
	case g.how != "":
		return g.how
	case g.origin == FromEnvironment:
		return "by the environment variable TF_VAR_" + v.Name
	case g.origin == FromOption:
		return "by the option -var"
	case g.origin == FromPrompt:
		return "interactively"
	}
	return "in a variables file"
}
