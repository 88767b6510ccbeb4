package eval

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Force evaluates every variable, local value and output of every module instance. Without it, errors in unused
// values would not be found. It leaves out objects for which skip is true, because their references are not
// part of this run.
func (e *Evaluator) Force(skip func(addrs.Object) bool) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, m := range e.phase.Config.Order {
		if skipsAll(m, skip) {
			continue
		}
		ins, more := e.Modules(m)
		ds = append(ds, more...)
		if len(ins) == 0 && !more.HasErrors() {
			e.declareNone(m, skip)
		}
		for _, in := range ins {
			for _, o := range values(m) {
				if !skip(o) {
					e.named(in, o)
				}
			}
		}
	}
	return ds
}

// named evaluates a variable, local value or output of a module instance.
func (e *Evaluator) named(in addrs.ModuleInstance, o addrs.Object) (cty.Value, diags.Diagnostics) {
	switch o.Kind {
	case addrs.KindVariable:
		return e.Variable(in, o.Name)
	case addrs.KindLocal:
		return e.Local(in, o.Name)
	}
	return e.Output(in, o.Name)
}

// skipsAll reports whether skip is true for all values of a module. If so, nobody needs to know the instances
// of the module.
func skipsAll(m *config.Module, skip func(addrs.Object) bool) bool {
	for _, o := range values(m) {
		if !skip(o) {
			return false
		}
	}
	return len(m.Variables)+len(m.Locals)+len(m.Outputs) > 0 ||
		m.Parent != nil && skip(addrs.Object{Module: m.Parent.Addr, Kind: addrs.KindCall, Name: m.Call.Name})
}

// values returns the variables, local values and outputs of a module, in any order.
func values(m *config.Module) []addrs.Object {
	out := make([]addrs.Object, 0, len(m.Variables)+len(m.Locals)+len(m.Outputs))
	for n := range m.Variables {
		out = append(out, addrs.Object{Module: m.Addr, Kind: addrs.KindVariable, Name: n})
	}
	for n := range m.Locals {
		out = append(out, addrs.Object{Module: m.Addr, Kind: addrs.KindLocal, Name: n})
	}
	for n := range m.Outputs {
		out = append(out, addrs.Object{Module: m.Addr, Kind: addrs.KindOutput, Name: n})
	}
	return out
}

// declareNone records, for a module without instances, that the conditions of its variables and outputs have no
// results. It leaves out objects for which skip is true.
func (e *Evaluator) declareNone(m *config.Module, skip func(addrs.Object) bool) {
	for _, v := range m.Variables {
		if len(v.Validations) > 0 && !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindVariable, Name: v.Name}) {
			e.Declare(Subject{Kind: "var", Config: within(m.Addr.String(), "var."+v.Name)}, 0)
		}
	}
	for _, o := range m.Outputs {
		if len(o.Preconditions) > 0 && !skip(addrs.Object{Module: m.Addr, Kind: addrs.KindOutput, Name: o.Name}) {
			e.Declare(Subject{Kind: "output_value", Config: within(m.Addr.String(), "output."+o.Name)}, 0)
		}
	}
}
