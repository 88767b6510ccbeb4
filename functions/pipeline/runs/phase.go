package runs

import "slices"

// A Phase is the progress of a run.
type Phase string

const (
	New         Phase = ""       // there is no record yet
	Queued      Phase = "queued" // to be planned
	Planning    Phase = "planning"
	Planned     Phase = "planned"
	PlanFailed  Phase = "plan failed"
	ApplyQueued Phase = "apply queued"
	Applying    Phase = "applying"
	Continuing  Phase = "continuing" // applied in part: the next process goes on, with the state locked
	Stopped     Phase = "stopped"    // applied in part, and ended by "lockstep stop": it can go on
	Applied     Phase = "applied"
	ApplyFailed Phase = "apply failed"
	Stale       Phase = "stale"      // found to be out of date when it was to be applied, or in a conflict with the base branch
	Superseded  Phase = "superseded" // the present head does not touch the project, or the base branch has it no more, or by another name
	Dropped     Phase = "dropped"    // the pull request is closed
)

// follows has the possible successors of each phase. A run can be planned again in every phase but
// three: while it is applied, or queued for it.
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

// UnderWay reports whether a run in phase p is applied, or queued for it.
func (p Phase) UnderWay() bool { return p == ApplyQueued || p == Applying || p == Continuing }

// Ended reports whether a run in phase p has an apply at its end: no record has the outcome once the run goes on.
func (p Phase) Ended() bool { return p == Applied || p == ApplyFailed || p == Stopped }

// Open reports whether a run in phase p has a plan, or will have one, of which nothing is applied: it is dropped once its pull
// request goes into a branch whose pull requests are not planned.
func (p Phase) Open() bool {
	return p == Queued || p == Planning || p == Planned || p == PlanFailed || p == Stale
}

// Failed reports whether the last plan or apply of a run in phase p did not come to a good end, so that
// somebody has to look at it.
func (p Phase) Failed() bool {
	return p == PlanFailed || p == ApplyFailed || p == Stopped || p == Stale
}

// May reports whether a run in phase p may go on to next.
func (p Phase) May(next Phase) bool { return slices.Contains(follows[p], next) }
