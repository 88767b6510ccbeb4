package planning

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// moves gives instances of the state the addresses that the configuration has for
// them now.
//
// Adding or removing count is a move by itself, between `a` and `a[0]`; which of
// the two the configuration wants follows from the presence of count alone.
func (p *planner) moves() {
	st := p.in.State
	for abs, res := range st.Resources() {
		m := p.in.Config.Modules[abs.Module.Module()]
		if m == nil || abs.Resource.Mode != addrs.Managed {
			continue
		}
		r := m.Resources[abs.Resource]
		if r == nil || r.ForEach != nil {
			continue
		}
		from, to := addrs.NoKey, addrs.IntKey(0)
		if r.Count == nil {
			from, to = to, from
		}
		if res.Instances[from] != nil && res.Instances[to] == nil {
			p.prior.MoveInstance(abs.Instance(from), abs.Instance(to))
			p.movedFrom[abs.Instance(to)] = abs.Instance(from)
		}
	}
}
