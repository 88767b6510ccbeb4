package eval

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// A Subject is an object that has conditions.
type Subject struct {
	Kind   string // "resource", "output_value", "check" or "var", as in states and plans
	Config string // the address of the block
	Object string // address of the instance; "" means the block itself
}

// KindCheck is the [Subject.Kind] of check blocks, whose failures are warnings.
const KindCheck = "check"

// OutputSubject returns an output of a module, in one of its instances, as a subject.
func OutputSubject(m addrs.Module, in addrs.ModuleInstance, o *config.Output) Subject {
	return Subject{Kind: "output_value", Config: within(m.String(), "output."+o.Name), Object: addrs.AbsOutput{Module: in, Name: o.Name}.String()}
}

// VariableSubject returns a variable of a module, in one of its instances, as a subject.
func VariableSubject(m addrs.Module, in addrs.ModuleInstance, v *config.Variable) Subject {
	return Subject{Kind: "var", Config: within(m.String(), "var."+v.Name), Object: within(in.String(), "var."+v.Name)}
}

// within returns the address of an object in a module; a module of "" is the root module.
func within(module, object string) string {
	if module == "" {
		return object
	}
	return module + "." + object
}
