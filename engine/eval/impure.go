package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Impure keeps the values of named values whose expressions call impure functions such as uuid(). Another
// process that continues the phase would get other values from these functions. Safe for concurrent use.
type Impure interface {
	// Value returns the value kept under a name. The result is false if there is none.
	Value(name string) (cty.Value, bool)
	// Keep keeps a value. The evaluator calls it before anything uses the value. The value may have any marks
	// and unknown parts.
	Keep(name string, v cty.Value)
	// Calls returns the number of calls of impure functions so far. The evaluator keeps a value if the number
	// grew during the evaluation. With concurrent evaluations, it may also keep values of pure expressions.
	Calls() int64
}

// keeping returns the kept value of an expression. If none is kept, it calls evaluate. If an impure function
// was called meanwhile, keeping also keeps the value under the given name.
func keeping(store Impure, name fmt.Stringer, evaluate func() (cty.Value, hcl.Diagnostics)) (cty.Value, hcl.Diagnostics) {
	if store == nil || name == nil {
		return evaluate()
	}
	if v, ok := store.Value(name.String()); ok {
		return v, nil
	}
	before := store.Calls()
	v, ds := evaluate()
	if store.Calls() != before && !ds.HasErrors() {
		store.Keep(name.String(), v)
	}
	return v, ds
}

// repeating returns the scope for evaluating the count or for_each argument of a block.
func repeating(in addrs.ModuleInstance, kind addrs.ObjectKind, name string) Scope {
	return Scope{Module: in, cell: repetition{cellKey{in, kind, name}}}
}

// A repetition identifies the count or for_each argument of a block. Its String is the name under which
// [Impure] keeps the value of the argument.
type repetition struct{ block cellKey }

func (r repetition) String() string { return "for_each of " + r.block.String() }
