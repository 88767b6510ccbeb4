// Package openplans finds waiting plans that may be out of date, because another pull request was applied to
// their state, or to the state of a project on which they depend. For each such plan it sends a message. The
// handler of this message checks the plan, or makes it once more if it had failed.
//
//	an apply is settled     its pull request is merged or closed: [Finder.Settled] sends one message
//	its message is handled  [Finder.Find] lists the open plans of the state, and those that depend on it, and sends one message for each
//	a plan is made          [Finder.CheckNew] does the same if an apply was settled meanwhile
//
// Before the apply is settled, plans would be compared with a base branch that lacks the applied changes, and
// each plan would revert them. The list of open plans may have too many entries: the record of each plan
// decides whether to check it ([Due], [ReadsOutdated]). At most [AtOnce] plans of a state are checked at the
// same time, and authors take turns (inTurns). Package reconcile sends messages for the remaining plans later.
//
// The package also sends messages to update comments about plans that stay as they are, if something else has
// changed: a person has locked the state ([Finder.ShowAgain]), or the applies have moved up in the queue of the
// state ([Finder.ShowQueue]).
//
// The package does not know how a plan is checked: package replanning does. Start reading at [Finder.Find].
package openplans

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// AtOnce is how many plans of a state are checked after an apply, or in a round of the janitor. A limit does no
// harm, because each plan is made once more before its apply anyway. Without the limit, a person who opens
// thousands of pull requests could delay others for long.
const AtOnce = 25

// Due reports whether to check the plan of a run, because another apply to its state was made, and its pull
// request is merged or closed. It is also true for a run whose project was removed: the base branch may have it
// once more. last is the last apply; nil if there is none.
func Due(r runs.Run, last *runs.LastApply) bool {
	return last != nil && last.Settled && (runs.Checkable(r) || r.End.Fate == runs.Gone) && r.Plan.Applies < last.Applies
}

// inTurns sorts the open plans of a state: the oldest pull request of each author comes first, then the second
// one of each, and so on.
func inTurns(all []runs.Open) []runs.Open {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b runs.Open) int { return cmp.Compare(a.Pull.Number, b.Pull.Number) })
	turn := map[int]int{} // by number, from 0
	had := map[string]int{}
	for _, o := range all {
		turn[o.Pull.Number] = had[o.Author]
		had[o.Author]++
	}
	slices.SortStableFunc(all, func(a, b runs.Open) int { return cmp.Compare(turn[a.Pull.Number], turn[b.Pull.Number]) })
	return all
}

// A Finder finds open plans, and sends messages to check them.
type Finder struct {
	Ledger ledger.Ledger
	Queue  pipeline.Queue
}

// Settled sends the message to check the open plans of a run's state. Call it when the pull request of the last
// apply to the state was merged or closed. It can be repeated. It does nothing if no apply is recorded.
func (f Finder) Settled(ctx context.Context, r runs.Run, last *runs.LastApply) error {
	if last == nil {
		return nil
	}
	return pipeline.Send(ctx, f.Queue, r.Pull, Message(r), r.MessageName(), last.Applies)
}

// Message returns the message to check all open plans of a run's state.
func Message(r runs.Run) pipeline.Message {
	return pipeline.Message{Kind: pipeline.Settled, Target: r.Target()}
}

// CheckNew sends a message to check the plan of a run that was just recorded, if an apply was merged or closed
// while the plan was made. [Finder.Settled] did not find this plan.
func (f Finder) CheckNew(ctx context.Context, r runs.Run) error {
	last, err := f.Ledger.LastApply(ctx, r)
	if err != nil {
		return err
	}
	if Due(r, last) {
		return pipeline.Send(ctx, f.Queue, r.Pull, Message(r), r.MessageName(), "kept", r.Artifacts.Begun, last.Applies)
	}
	now, err := f.Ledger.Applies(ctx, r)
	if err != nil || !ReadsOutdated(r, now) {
		return err
	}
	return pipeline.Send(ctx, f.Queue, r.Pull, check(r), r.MessageName(), "kept", r.Artifacts.Begun, "read", sum(now))
}

// ReadsOutdated reports whether to check the plan of a run, because a project on which it depends was applied.
// now is how often the states of these projects have been applied, by target.
func ReadsOutdated(r runs.Run, now map[string]int) bool {
	return runs.Checkable(r) && len(runs.ReadsOutdated(r, now)) > 0
}

func sum(applies map[string]int) (n int) {
	for _, k := range applies {
		n += k
	}
	return n
}

// check returns the message to check the plan of a run.
func check(r runs.Run) pipeline.Message {
	return pipeline.Message{Kind: pipeline.ToCheck, Target: r.Target(), Attempt: r.Asked.Attempt}
}

// Find sends a message for each plan of a state that must be checked, and for each such plan of a project that
// depends on the state, up to the limit. m is the message about the state.
func (f Finder) Find(ctx context.Context, m pipeline.Message) error {
	about, err := f.Ledger.Read(ctx, m.Run())
	if err != nil {
		return err
	}
	opens, err := f.Ledger.OpenPlans(ctx, m.Pull.Repo.ID, about.Address.Place, m.Target, ledger.OtherPlaces(about.Run)...)
	if err != nil {
		return err
	}
	readers, err := f.Ledger.Readers(ctx, m.Pull.Repo.ID, m.Target)
	if err != nil {
		return err
	}
	found := 0
	for _, o := range append(inTurns(opens), inTurns(readers)...) {
		s, err := f.Ledger.Read(ctx, o.Pull.Runs()+"/"+o.Target)
		if err != nil {
			return err
		}
		applies, is, err := f.due(ctx, s)
		if err != nil {
			return err
		}
		if !is {
			continue
		}
		if found++; found > AtOnce {
			return nil
		}
		// The message gets a new ID for each message that is handled here: an earlier check may have come too
		// early.
		if err := pipeline.Send(ctx, f.Queue, s.Pull, check(s.Run), s.MessageName(), applies, strings.ReplaceAll(m.ID, "/", "-")); err != nil {
			return err
		}
	}
	return nil
}

// due reports whether the plan of a run must be checked. applies is how often its state was applied.
func (f Finder) due(ctx context.Context, s ledger.Versioned) (applies int, isDue bool, err error) {
	if s.Version == "" {
		return 0, false, nil // with the retention
	}
	last, err := f.Ledger.LastApply(ctx, s.Run)
	if err != nil || Due(s.Run, last) {
		return last.Count(), err == nil, err
	}
	now, err := f.Ledger.Applies(ctx, s.Run)
	return last.Count(), err == nil && ReadsOutdated(s.Run, now), err
}

// ShowQueue sends messages to update the comments and checks about applies that are queued after a run that has
// finished, up to the limit. It can be repeated.
func (f Finder) ShowQueue(ctx context.Context, r runs.Run) error {
	left, err := f.Ledger.Queue(ctx, r)
	if err != nil {
		return err
	}
	for _, t := range left[:min(len(left), AtOnce)] {
		if err := pipeline.Send(ctx, f.Queue, t.Pull, pipeline.Message{Kind: pipeline.SyncComments}, r.MessageName(), t.Pull.Number, "next", r.Pull.Number, r.Asked.Try); err != nil {
			return err
		}
	}
	return nil
}

// ShowAgain sends messages to update the comments and checks about open plans of a run's state, up to the
// limit. It leaves out the run's own pull request. why becomes a part of the messages' IDs.
func (f Finder) ShowAgain(ctx context.Context, r runs.Run, why ...any) error {
	opens, err := f.Ledger.OpenPlans(ctx, r.Pull.Repo.ID, r.Address.Place, r.Target(), ledger.OtherPlaces(r)...)
	if err != nil {
		return err
	}
	opens = slices.DeleteFunc(opens, func(o runs.Open) bool { return o.Pull.Number == r.Pull.Number })
	all := inTurns(opens)
	for _, o := range all[:min(len(all), AtOnce)] {
		parts := append([]any{r.MessageName(), o.Pull.Number}, why...)
		if err := pipeline.Send(ctx, f.Queue, o.Pull, pipeline.Message{Kind: pipeline.SyncComments}, parts...); err != nil {
			return err
		}
	}
	return nil
}
