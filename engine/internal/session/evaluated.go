package session

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// A place is a resource instance whose configuration is being evaluated, for the message of an exceeded
// budget.
type place struct {
	r        *config.Resource
	in       addrs.ModuleInstance
	instance *eval.Instance
}

// String implements budget.Place.
func (p *place) String() string {
	abs := addrs.AbsResource{Module: p.in, Resource: p.r.Addr}
	if p.instance == nil {
		return abs.String()
	}
	return abs.Instance(p.instance.Key).String()
}

// Range implements budget.Place.
func (p *place) Range() hcl.Range { return p.r.Range }
