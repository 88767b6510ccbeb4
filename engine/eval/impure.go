package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Impure keeps the values of named values whose expressions call functions such as uuid(), which
// would return something else when another process goes on with the phase. It is used by many
// goroutines.
type Impure interface {
	// Value returns a value that was kept before.
	Value(name string) (cty.Value, bool)
	// Keep is given a value before anybody sees it. The value may have any marks and unknown parts.
	Keep(name string, v cty.Value)
	// Calls is the number of calls of impure functions by now. So a value may be kept, too, whose
	// expression is pure, and was evaluated in the meantime.
	Calls() int64
}

// keeping evaluates an expression, unless its value was kept, and keeps it if it has to be.
func keeping(to Impure, name fmt.Stringer, evaluate func() (cty.Value, hcl.Diagnostics)) (cty.Value, hcl.Diagnostics) {
	if to == nil || name == nil {
		return evaluate()
	}
	if v, ok := to.Value(name.String()); ok {
		return v, nil
	}
	before := to.Calls()
	v, ds := evaluate()
	if to.Calls() != before && !ds.HasErrors() {
		to.Keep(name.String(), v)
	}
	return v, ds
}

// repeating returns the scope for the count or for_each argument of a block.
func repeating(in addrs.ModuleInstance, kind addrs.ObjectKind, name string) Scope {
	return Scope{Module: in, cell: repetition{cellKey{in, kind, name}}}
}

// A repetition names the argument that repeats a block.
type repetition struct{ block cellKey }

func (r repetition) String() string { return "for_each of " + r.block.String() }
