package runs

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// standings maps runs to the states that people see. The first row whose condition is true counts. A condition
// gets the run and its phase; for a [Dropped] run, it gets the phase before it was dropped.
var standings = []struct {
	is   comment.Standing
	when func(Run, Phase) bool
}{
	{comment.NoChanges, func(r Run, _ Phase) bool { return r.End.FinishedBy != 0 }},
	{comment.NotApplied, func(r Run, _ Phase) bool { return r.Waiting() && r.Asked.Late }},
	{comment.Awaiting, func(r Run, _ Phase) bool { return r.Waiting() }},

	{comment.Stopped, at(Stopped)}, // The apply has made changes, whatever happened to the pull request afterwards.
	{comment.NoChanges, func(r Run, p Phase) bool { return r.Phase == Dropped && r.Plan.Upheld && p.Open() }},
	{comment.Closed, func(r Run, p Phase) bool { return r.Phase == Dropped && r.End.Fate != Merged && !done(p) }},
	{comment.NotApplied, func(r Run, p Phase) bool { return r.Phase == Dropped && !done(p) && p != PlanFailed && left(r, p) }},

	{comment.Queued, at(Queued)},
	{comment.Planning, at(Planning)},
	{comment.NoChanges, func(r Run, _ Phase) bool { return KeepsOutcome(r) }},
	{comment.PlanStopped, func(r Run, p Phase) bool { return p == PlanFailed && r.End.StoppedBy != "" }},
	{comment.PlanFailed, at(PlanFailed)},
	{comment.ApplyQueued, at(ApplyQueued)},
	{comment.Applying, at(Applying, Continuing)},
	{comment.PartApplied, func(r Run, p Phase) bool {
		return p == Applied && !Complete(r) && (r.Phase != Dropped || r.End.Fate == Merged)
	}},
	{comment.Applied, at(Applied)},
	{comment.ApplyFailed, at(ApplyFailed)},
	{comment.Stale, at(Stale)},
	{comment.Superseded, at(Superseded, New)},

	// The runs below have a plan.
	{comment.Previewed, func(r Run, _ Phase) bool { return Preview(r) }},
	{comment.PartPlanned, func(r Run, _ Phase) bool { return !PlansEverything(r) && r.Plan.Applyable && r.ByMerge() }},
	{comment.PartPlanned, func(r Run, _ Phase) bool { return !Complete(r) && !r.Plan.Applyable }},
	{comment.NoChanges, func(r Run, _ Phase) bool { return !r.Plan.Applyable }},
	{comment.OnceMerged, func(r Run, _ Phase) bool { return r.Address.Owner != "" && !r.ByMerge() }},
	{comment.Renewed, func(r Run, _ Phase) bool { return r.Renewed() }},
	{comment.OnMerge, func(r Run, _ Phase) bool { return r.ByMerge() }},
	{comment.Ready, func(Run, Phase) bool { return true }},
}

// Standing returns the run's state for people.
func (r Run) Standing() comment.Standing {
	phase := r.Phase
	if phase == Dropped {
		phase = r.End.Was
	}
	for _, row := range standings {
		if row.when(r, phase) {
			return row.is
		}
	}
	panic("runs: the last standing is for all runs")
}

// at returns the condition that a run is in one of these phases.
func at(phases ...Phase) func(Run, Phase) bool {
	return func(_ Run, p Phase) bool { return slices.Contains(phases, p) }
}

// done reports whether an apply has ended.
func done(p Phase) bool { return p == Applied || p == ApplyFailed }

// left reports whether the merge of a dropped run has left changes that are not applied. p is the phase of the
// run before it was dropped.
func left(r Run, p Phase) bool {
	return p != Planned || r.Plan.Applyable || Preview(r) || !Complete(r)
}
