package plans

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// Counts returns the numbers of objects that the plan is going to change, and of actions that it is going to invoke. Data sources and
// outputs do not count.
func (p *Plan) Counts() counting.Counts {
	n := counting.Counts{Invoke: len(p.Invocations)}
	for _, c := range p.Changes {
		if c.Importing != nil {
			n.Import++
		}
		if c.Addr.Instance.Resource.Resource.Mode == addrs.Managed {
			n = c.Action.Count(n)
			if c.KeepsOld {
				n.Destroy--
				n.Forget++
			}
		}
	}
	return n
}

// Count returns n with one more object that has the action a. A replacement increases both Add and Destroy.
func (a Action) Count(n counting.Counts) counting.Counts {
	switch a {
	case Create:
		n.Add++
	case Update:
		n.Change++
	case Delete:
		n.Destroy++
	case DeleteThenCreate, CreateThenDelete:
		n.Add++
		n.Destroy++
	case Forget:
		n.Forget++
	}
	return n
}
