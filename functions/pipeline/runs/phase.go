package runs

import "slices"

// A Phase is the progress of a run.
type Phase string

const (
	New         Phase = ""       // there is no record yet
	Queued      Phase = "queued" // waits for its plan
	Planning    Phase = "planning"
	Planned     Phase = "planned"
	PlanFailed  Phase = "plan failed"
	ApplyQueued Phase = "apply queued"
	Applying    Phase = "applying"
	Continuing  Phase = "continuing" // applied in part: the next process continues, with the state locked
	Stopped     Phase = "stopped"    // applied in part, and ended by "lockstep stop": the apply can continue
	Applied     Phase = "applied"
	ApplyFailed Phase = "apply failed"
	Stale       Phase = "stale"      // found out of date at its apply, or in conflict with the base branch
	Superseded  Phase = "superseded" // the present head does not touch the project, or the base branch has removed or renamed it
	Dropped     Phase = "dropped"    // the pull request is closed
)

// follows lists the possible successors of each phase. A run can be planned again in every phase except
// ApplyQueued, Applying and Continuing.
var follows = map[Phase][]Phase{
	New:         {Queued},
	Queued:      {Planning, PlanFailed, Queued, Superseded, Dropped},
	Planning:    {Planned, PlanFailed, Planning, Queued, Superseded, Dropped},
	Planned:     {ApplyQueued, Queued, Stale, Superseded, Dropped},
	PlanFailed:  {Queued, Superseded, Dropped},
	ApplyQueued: {Applying, Planned, Stale, Stopped, Dropped},
	Applying:    {Applied, ApplyFailed, ApplyQueued, Planned, Stale, Continuing, Stopped, Dropped},
	Continuing:  {Applying, Applied, ApplyFailed, Stopped},
	Stopped:     {ApplyQueued, Queued, Superseded, Dropped},
	Applied:     {Queued, Dropped},
	ApplyFailed: {Queued, Superseded, Dropped},
	Stale:       {Queued, Superseded, Dropped},
	Superseded:  {Queued, Dropped},
	Dropped:     {Superseded, Queued},
}

// UnderWay reports whether a run in phase p is being applied, or queued for its apply.
func (p Phase) UnderWay() bool { return p == ApplyQueued || p == Applying || p == Continuing }

// Ended reports whether the apply of a run in phase p has ended. The result of the apply must be reported
// before the phase changes, because the record loses the result then.
func (p Phase) Ended() bool { return p == Applied || p == ApplyFailed || p == Stopped }

// Open reports whether a run in phase p has or will have a plan of which nothing is applied. Such a run is
// dropped if its pull request gets a base branch whose pull requests are not planned.
func (p Phase) Open() bool {
	return p == Queued || p == Planning || p == Planned || p == PlanFailed || p == Stale
}

// Failed reports whether the last plan or apply of a run in phase p did not succeed. Somebody must then examine
// the run.
func (p Phase) Failed() bool {
	return p == PlanFailed || p == ApplyFailed || p == Stopped || p == Stale
}

// May reports whether a run in phase p may move to next.
func (p Phase) May(next Phase) bool { return slices.Contains(follows[p], next) }
