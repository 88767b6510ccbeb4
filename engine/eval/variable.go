package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/converting"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// Variable returns the value of an input variable in a module instance, with the marks of its declaration.
// The variable's validations have passed.
func (e *Evaluator) Variable(in addrs.ModuleInstance, name string) (cty.Value, diags.Diagnostics) {
	c, ds := e.get(cellKey{in, addrs.KindVariable, name}, func(c *cell) (ds diags.Diagnostics) {
		f := e.frame(in)
		v := f.module.Variables[name]
		var rng *hcl.Range
		if in.IsRoot() {
			c.val, ds = e.phase.variable(v), e.phase.InvalidVariables[name]
			rng = v.Range.Ptr()
		} else {
			c.val, rng, ds = e.argument(in, f, v)
		}
		if len(v.Validations) > 0 {
			e.Declare(VariableSubject(in.Module(), in, v), len(v.Validations)) // declared even if there is no value
		}
		if ds.HasErrors() {
			return ds
		}
		// The validation rules get the value without its marks, since their messages may show the value.
		if f.module.Replacement(in) == nil {
			ds = append(ds, e.conditions.validate(in, v, c.val, rng)...)
		}
		if e.phase.OpaqueModules {
			c.val = cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
		}
		if v.Sensitive {
			c.val = c.val.Mark(marks.Sensitive)
		}
		if v.Ephemeral {
			c.val = c.val.Mark(marks.Ephemeral)
		}
		return ds
	})
	return c.val, ds
}

// variable returns the value of a variable of the root module.
func (p *Phase) variable(v *config.Variable) cty.Value {
	if val, ok := p.Variables[v.Name]; ok {
		return val
	}
	return cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
}

// argument evaluates the argument that a call gives to a variable. The order of its steps matters: null is
// checked after the conversion, and the default needs no conversion, since loading has converted it. Errors
// about the value refer to the returned range.
func (e *Evaluator) argument(in addrs.ModuleInstance, f *frame, v *config.Variable) (cty.Value, *hcl.Range, diags.Diagnostics) {
	call := f.module.Call
	arg := call.Args[v.Name]
	if arg == nil {
		if v.Default == cty.NilVal {
			return cty.DynamicVal, nil, diags.Reported() // reported already: the configuration is invalid
		}
		return v.Default, v.Range.Ptr(), nil
	}
	rng := arg.Expr.Range().Ptr()
	val, ds := e.Expr(arg.Expr, Scope{
		Module: f.parent, Instance: f.instance, name: cellKey{in, addrs.KindVariable, v.Name}, cell: cellKey{in, addrs.KindVariable, v.Name},
	})
	if ds.HasErrors() {
		return val, rng, ds
	}
	// An argument that is unknown only because modules are opaque may turn out to be null.
	if v.Deprecated != "" && !val.IsNull() && !(e.phase.OpaqueModules && !val.IsKnown()) {
		warning := diags.Warningf(rng, "Variable marked as deprecated by the module author",
			"The variable %q of module %q is deprecated:\n\n%s", v.Name, call.Name, v.Deprecated)
		warning[0].Extra = diags.Cause{Deprecated: true, Remote: call.Address.Kind != source.Local}
		ds = append(ds, warning...)
	}
	val, err := converted(v, val)
	if err != nil {
		return cty.DynamicVal, rng, append(ds, diags.Errorf(rng, "Invalid value for input variable",
			"The given value is not suitable for child module variable %q defined at %s:%d,%d-%d: %s.",
			v.Name, v.Range.Filename, v.Range.Start.Line, v.Range.Start.Column, v.Range.End.Column, err)...)
	}
	if val.IsNull() && !v.Nullable {
		if v.Default != cty.NilVal {
			return v.Default, rng, ds
		}
		return cty.DynamicVal, rng, append(ds, diags.Errorf(rng, "Required variable not set",
			"The given value is not suitable for child module variable %q: it must not be null, because the variable is declared with nullable = false.", v.Name)...)
	}
	if !v.Ephemeral && marks.Contains(val, ephemeral) {
		return cty.DynamicVal, rng, append(ds, diags.Errorf(rng, "Ephemeral value not allowed",
			"The value assigned to the input variable %q is ephemeral, but the variable is not declared with ephemeral = true.", v.Name)...)
	}
	return val, rng, ds
}

// converted returns val as a value of the variable's type: it first adds defaults of optional attributes,
// then converts.
func converted(v *config.Variable, val cty.Value) (cty.Value, error) {
	if v.Defaults != nil && !val.IsNull() {
		val = v.Defaults.Apply(val)
	}
	return converting.Convert(val, v.Type)
}
