package eval

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/converting"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// Variable returns an input variable of a module instance, with the marks that
// its declaration gives, after its validations have passed.
func (e *Evaluator) Variable(in addrs.ModuleInstance, name string) (cty.Value, diags.Diagnostics) {
	c, ds := e.get(cellKey{in, addrs.KindVariable, name}, func(c *cell) (ds diags.Diagnostics) {
		f := e.frame(in)
		v := f.module.Variables[name]
		var place *hcl.Range
		if in.IsRoot() {
			c.val, ds = e.rootVariable(v), e.w.InvalidVariables[name]
			place = v.Range.Ptr()
		} else {
			c.val, place, ds = e.argument(in, f, v)
		}
		if len(v.Validations) > 0 {
			e.Declare(VariableSubject(in.Module(), in, v), len(v.Validations)) // also without a value
		}
		if ds.HasErrors() {
			return ds
		}
		// A variable's own rules may tell what they are about.
		ds = append(ds, e.validate(in, v, c.val, place)...)
		if e.w.Static {
			// What is wrong with the values of one call, as that they are sensitive, is for
			// the plan to find out: the call may have no instances, or be no target.
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

func (e *Evaluator) rootVariable(v *config.Variable) cty.Value {
	if val, ok := e.w.Variables[v.Name]; ok {
		return val
	}
	return cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
}

// argument evaluates what a call passes for a variable.
func (e *Evaluator) argument(in addrs.ModuleInstance, f *frame, v *config.Variable) (cty.Value, *hcl.Range, diags.Diagnostics) {
	call := f.module.Call
	arg := call.Args[v.Name]
	if arg == nil {
		if v.Default == cty.NilVal {
			return cty.DynamicVal, nil, diags.Reported() // the configuration was refused for it
		}
		return v.Default, v.Range.Ptr(), nil
	}
	place := arg.Expr.Range().Ptr()
	val, ds := e.Expr(arg.Expr, Scope{Module: f.parent, Instance: f.instance, what: cellKey{in, addrs.KindVariable, v.Name}})
	if ds.HasErrors() {
		return val, place, ds
	}
	if v.Deprecated != "" && !val.IsNull() && !(e.w.Static && !val.IsKnown()) {
		ds = append(ds, diags.Warningf(place, "Variable marked as deprecated by the module author",
			"The variable %q of module %q is deprecated:\n\n%s", v.Name, call.Name, v.Deprecated)...)
	}
	val, err := Convert(v, val)
	if err != nil {
		return cty.DynamicVal, place, append(ds, diags.Errorf(place, "Invalid value for input variable",
			"The given value is not suitable for child module variable %q defined at %s:%d,%d-%d: %s.",
			v.Name, v.Range.Filename, v.Range.Start.Line, v.Range.Start.Column, v.Range.End.Column, err)...)
	}
	if val.IsNull() && !v.Nullable {
		if v.Default != cty.NilVal {
			return v.Default, place, ds
		}
		return cty.DynamicVal, place, append(ds, diags.Errorf(place, "Required variable not set",
			"The given value is not suitable for child module variable %q: it must not be null, because the variable is declared with nullable = false.", v.Name)...)
	}
	if !v.Ephemeral && marks.Contains(val, ephemeral) {
		return cty.DynamicVal, place, append(ds, diags.Errorf(place, "Ephemeral value not allowed",
			"The value assigned to the input variable %q is ephemeral, but the variable is not declared with ephemeral = true.", v.Name)...)
	}
	return val, place, ds
}

// Convert gives a value the type of a variable: optional attributes' defaults
// first, then conversion.
func Convert(v *config.Variable, val cty.Value) (cty.Value, error) {
	if v.Defaults != nil && !val.IsNull() {
		val = v.Defaults.Apply(val)
	}
	return converting.Convert(val, v.Type)
}

// validate evaluates the validation rules of a variable.
func (e *Evaluator) validate(in addrs.ModuleInstance, v *config.Variable, val cty.Value, place *hcl.Range) diags.Diagnostics {
	if len(v.Validations) == 0 {
		return nil
	}
	if v.Ephemeral {
		val = val.Mark(ephemeral) // no record may keep it
	}
	var ds diags.Diagnostics
	id := VariableSubject(in.Module(), in, v)
	for _, c := range v.Validations {
		scope := Scope{Module: in, Extra: nil}
		r := e.condition(c, scope, &variable{v.Name, val})
		ds = append(ds, r.Diags...)
		e.checks.add(e, id, cmp.Or(r.Status, Unknown), r.Problem)
		if r.Status == Fail {
			d := diags.Errorf(place, "Invalid value for variable", "%s\n\nThis was checked by the validation rule at %s:%d,%d-%d.",
				r.Message, c.Range.Filename, c.Range.Start.Line, c.Range.Start.Column, c.Range.End.Column)
			d[0].Expression, d[0].EvalContext = c.Condition, r.Context
			ds = append(ds, d...)
		}
	}
	return ds
}

func varAddr(module, name string) string {
	if module == "" {
		return "var." + name
	}
	return module + ".var." + name
}

// output evaluates an output value into its cell.
func (e *Evaluator) output(c *cell, in addrs.ModuleInstance, o *config.Output) diags.Diagnostics {
	if in.IsRoot() && o.Ephemeral {
		return diags.Errorf(&o.Range, "Ephemeral output not allowed",
			"The outputs of the root module are kept in the state, which an ephemeral value must not be. Take out ephemeral = true, and do not use ephemeral values for it.")
	}
	scope := Scope{Module: in, what: cellKey{in, addrs.KindOutput, o.Name}}
	if ds := e.ready(o, scope); ds.HasErrors() {
		return ds // its conditions have no result then
	}
	ds := e.Conditions(o.Preconditions, scope, OutputSubject(in.Module(), in, o), "Module output value precondition failed")
	if ds.HasErrors() {
		return ds
	}
	val, more := e.Expr(o.Expr, scope)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	rng := o.Expr.Range()
	if !o.Ephemeral && marks.Contains(val, ephemeral) {
		return append(ds, diags.Errorf(&rng, "Ephemeral value not allowed",
			"This output value is not declared as returning an ephemeral value, so it cannot be set to a result derived from an ephemeral value.")...)
	}
	if o.Ephemeral && !marks.Has(val, ephemeral) && e.certain(o.Expr) {
		return append(ds, diags.Errorf(&rng, "Value not allowed in ephemeral output",
			"This output value is declared as returning an ephemeral value, but its value is not ephemeral.")...)
	}
	if in.IsRoot() && !o.Sensitive && marks.Contains(val, marks.Sensitive) {
		return append(ds, diags.Errorf(&rng, "Output refers to sensitive values",
			"To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, any root module output containing sensitive data must be explicitly marked as sensitive, to confirm your intent.\n\nIf you do intend to export this data, annotate the output value as sensitive by adding the following argument:\n    sensitive = true")...)
	}
	if o.Ephemeral && e.w.Static {
		val = cty.DynamicVal // where it may go is for planning to say
	}
	if o.Sensitive {
		val = val.Mark(marks.Sensitive)
	}
	if o.Ephemeral && !e.w.Static {
		val = val.Mark(marks.Ephemeral)
	}
	c.val = val
	return ds
}

// certain reports whether it is known by now that a value is or is not ephemeral. What is
// behind the outputs of modules is for planning to say.
func (e *Evaluator) certain(x hcl.Expression) bool {
	return !e.w.Static || !slices.ContainsFunc(e.w.Refs.OfExpr(x), func(r refs.Reference) bool {
		return r.Object.Kind == addrs.KindCall || r.Object.Kind == addrs.KindLocal
	})
}

// ready evaluates what an output mentions.
func (e *Evaluator) ready(o *config.Output, s Scope) diags.Diagnostics {
	if len(o.Preconditions) == 0 {
		return nil
	}
	_, ds := e.context(e.w.Refs.OfExpr(o.Expr), s)
	for _, c := range o.Preconditions {
		for _, x := range []hcl.Expression{c.Condition, c.ErrorMessage} {
			_, more := e.context(e.w.Refs.OfExpr(x), s)
			ds = append(ds, more...)
		}
	}
	return ds
}

// OutputSubject returns an output of a module, in one of its instances, as something
// that has conditions.
func OutputSubject(m addrs.Module, in addrs.ModuleInstance, o *config.Output) Subject {
	return Subject{Kind: "output_value", Config: outputAddr(m.String(), o.Name), Object: addrs.AbsOutput{Module: in, Name: o.Name}.String()}
}

// VariableSubject returns a variable of a module, in one of its instances, as
// something that has conditions.
func VariableSubject(m addrs.Module, in addrs.ModuleInstance, v *config.Variable) Subject {
	return Subject{Kind: "var", Config: varAddr(m.String(), v.Name), Object: varAddr(in.String(), v.Name)}
}

func outputAddr(module, name string) string {
	if module == "" {
		return "output." + name
	}
	return module + ".output." + name
}

// Force evaluates every variable, local and output of every module instance, so
// that what nobody needs is wrong, too. skip says for which objects that must not
// be done, because what they mention is not part of this run.
func (e *Evaluator) Force(skip func(addrs.Object) bool) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, m := range e.w.Config.Order {
		if skipsAll(m, skip) {
			continue
		}
		ins, more := e.Modules(m)
		ds = append(ds, more...)
		if len(ins) == 0 && !more.HasErrors() {
			e.declareNone(m, skip)
		}
		for _, in := range ins {
			for n := range m.Variables {
				if !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindVariable, Name: n}) {
					e.Variable(in, n)
				}
			}
			for n := range m.Locals {
				if !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindLocal, Name: n}) {
					e.Local(in, n)
				}
			}
			for n := range m.Outputs {
				if !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindOutput, Name: n}) {
					e.Output(in, n)
				}
			}
		}
	}
	return ds
}

// skipsAll reports whether none of a module's values are to be evaluated: nor is how many there
// are of it.
func skipsAll(m *config.Module, skip func(addrs.Object) bool) bool {
	for n := range m.Variables {
		if !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindVariable, Name: n}) {
			return false
		}
	}
	for n := range m.Locals {
		if !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindLocal, Name: n}) {
			return false
		}
	}
	for n := range m.Outputs {
		if !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindOutput, Name: n}) {
			return false
		}
	}
	return len(m.Variables)+len(m.Locals)+len(m.Outputs) > 0 ||
		m.Parent != nil && skip(addrs.Object{Module: m.Parent.Addr, Kind: addrs.KindCall, Name: m.Call.Name})
}

// declareNone records that the values of a module have no instances.
func (e *Evaluator) declareNone(m *config.Module, skip func(addrs.Object) bool) {
	for _, v := range m.Variables {
		if len(v.Validations) > 0 && !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindVariable, Name: v.Name}) {
			e.Declare(Subject{Kind: "var", Config: varAddr(m.Addr.String(), v.Name)}, 0)
		}
	}
	for _, o := range m.Outputs {
		if len(o.Preconditions) > 0 && !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindOutput, Name: o.Name}) {
			e.Declare(Subject{Kind: "output_value", Config: outputAddr(m.Addr.String(), o.Name)}, 0)
		}
	}
}

// variable is a variable's value while its own validations look at it.
type variable struct {
	name string
	val  cty.Value
}

// String is for messages of our own bugs.
func (v variable) String() string { return fmt.Sprintf("var.%s", v.name) }
