package plans

import "github.com/lockstep-iac/lockstep/engine/addrs"

// Counts are the numbers of a change summary: of objects to change or already changed, by action.
// A replacement counts as a creation and a destruction.
type Counts struct{ Import, Add, Change, Destroy, Forget int }

// Counts returns the numbers of objects that the plan is going to change. Data sources and
// outputs do not count.
func (p *Plan) Counts() Counts {
	var n Counts
	for _, c := range p.Changes {
		if c.Importing != nil {
			n.Import++
		}
		if c.Addr.Instance.Resource.Resource.Mode == addrs.Managed {
			n = c.Action.Count(n)
		}
	}
	return n
}

// Count returns n with one action more.
func (a Action) Count(n Counts) Counts {
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
