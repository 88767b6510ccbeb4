package session

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// An instanceName names the resource instance whose configuration is evaluated, if
// somebody asks.
type instanceName struct {
	r     *config.Resource
	scope eval.Scope
}

// String implements fmt.Stringer.
func (n instanceName) String() string {
	abs := addrs.AbsResource{Module: n.scope.Module, Resource: n.r.Addr}
	if n.scope.Instance == nil {
		return abs.String()
	}
	return abs.Instance(n.scope.Instance.Key).String()
}

// placed is a range as something that has one.
type placed struct{ at hcl.Range }

// Range implements the interface of [budget.Budget.Enter].
func (p placed) Range() hcl.Range { return p.at }
