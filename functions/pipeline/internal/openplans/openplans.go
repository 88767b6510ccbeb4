// Package openplans finds the plans that wait for their apply while another pull request is applied
// to their state, or to that of a project that theirs depends on: they may be other plans by then. It has each of them checked,
// and those that have failed made again.
//
//	an apply is settled     its pull request is merged, or closed: [Finder.Settled] sends one message
//	its message is handled  [Finder.Find] lists the open plans of the state, and those that depend on it, and sends one each
//	a plan is made          [Finder.Kept] does the same where an apply came in between
//
// Before that they would be compared with a base branch that lacks what was applied: each would
// revert it. The list of open plans may have entries too many; a plan is due by its own record
// ([Due], [Outdated]). Each state has at most [AtOnce] of its plans under way, those of different authors in turn
// (fair); package reconcile comes back for the rest.
//
// It also has pull requests shown anew whose plans stand as they did, but are in another place: behind a person's lock
// ([Finder.Tell]), or further ahead in the queue of their state ([Finder.Next]).
//
// The package refuses to know how a plan is checked: that is package replanning. Start at
// [Finder.Find].
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

// AtOnce is the number of plans of a state that are checked after an apply, or in a round of the
// janitor. All are planned again in their own applies anyway: whoever opens pull requests by the
// thousand makes others wait for no more than this.
const AtOnce = 25

// Due reports whether the plan of a run has to be checked, since there was another apply to its
// state; one that is Gone is due, too: the base branch may have its project again. last is the last apply, nil if there was none.
func Due(r runs.Run, last *runs.LastApply) bool {
	return last != nil && last.Settled && (runs.Checkable(r) || r.End.Fate == runs.Gone) && r.Plan.Applies < last.Applies
}

// fair puts the open plans of a state in the order in which they are checked: the oldest pull request
// of each author, then the second one of each, and so on.
func fair(all []runs.Open) []runs.Open {
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

// A Finder has open plans checked.
type Finder struct {
	Ledger ledger.Ledger
	Queue  pipeline.Queue
}

// Settled has the open plans on the state of a run checked, because the last apply to it is settled.
// It can be repeated, and does nothing where no apply is remembered.
func (f Finder) Settled(ctx context.Context, r runs.Run, last *runs.LastApply) error {
	if last == nil {
		return nil
	}
	return pipeline.Send(ctx, f.Queue, r.Pull, Message(r), r.MessageName(), last.Applies)
}

// Message is about the state of a run.
func Message(r runs.Run) pipeline.Message {
	return pipeline.Message{Kind: pipeline.Settled, Target: r.Target()}
}

// Kept is for a run whose plan was just recorded: an apply that was settled while it was made has not
// found it. Of the two, whoever comes later finds the other.
func (f Finder) Kept(ctx context.Context, r runs.Run) error {
	last, err := f.Ledger.LastApply(ctx, r)
	if err != nil {
		return err
	}
	if Due(r, last) {
		return pipeline.Send(ctx, f.Queue, r.Pull, Message(r), r.MessageName(), "kept", r.Artifacts.Begun, last.Applies)
	}
	now, err := f.Ledger.Applies(ctx, r)
	if err != nil || !Outdated(r, now) {
		return err
	}
	return pipeline.Send(ctx, f.Queue, r.Pull, check(r), r.MessageName(), "kept", r.Artifacts.Begun, "read", sum(now))
}

// Outdated reports whether the plan of a run has to be checked, since a project that it depends on was applied; now is the
// number of applies to the states of those.
func Outdated(r runs.Run, now map[string]int) bool {
	return runs.Checkable(r) && len(runs.ReadsOutdated(r, now)) > 0
}

func sum(applies map[string]int) (n int) {
	for _, k := range applies {
		n += k
	}
	return n
}

// check is a message about the plan of a run.
func check(r runs.Run) pipeline.Message {
	return pipeline.Message{Kind: pipeline.ToCheck, Target: r.Target(), Attempt: r.Asked.Attempt}
}

// Find sends a message for each plan on a state that is due, and each of a project that depends on that one, as far as there
// may be at once. m is the message about the state.
func (f Finder) Find(ctx context.Context, m pipeline.Message) error {
	about, err := f.Ledger.Read(ctx, m.Run())
	if err != nil {
		return err
	}
	opens, err := f.Ledger.Opens(ctx, m.Pull.Repo.ID, about.Address.Place, m.Target, ledger.Beyond(about.Run)...)
	if err != nil {
		return err
	}
	readers, err := f.Ledger.Readers(ctx, m.Pull.Repo.ID, m.Target)
	if err != nil {
		return err
	}
	found := 0
	for _, o := range append(fair(opens), fair(readers)...) {
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
		// A message that is sent again is about another try: the first may have come too early.
		if err := pipeline.Send(ctx, f.Queue, s.Pull, check(s.Run), s.MessageName(), applies, strings.ReplaceAll(m.ID, "/", "-")); err != nil {
			return err
		}
	}
	return nil
}

// due reports whether the plan of a run has to be checked; applies is the number of those to its state.
func (f Finder) due(ctx context.Context, s ledger.Versioned) (applies int, is bool, err error) {
	if s.Version == "" {
		return 0, false, nil // with the retention
	}
	last, err := f.Ledger.LastApply(ctx, s.Run)
	if err != nil || Due(s.Run, last) {
		return last.Count(), err == nil, err
	}
	now, err := f.Ledger.Applies(ctx, s.Run)
	return last.Count(), err == nil && Outdated(s.Run, now), err
}

// Next has the comments and checks of the applies written again that were queued behind that of a run, which is at
// its end, as far as there may be at once. It can be repeated.
func (f Finder) Next(ctx context.Context, r runs.Run) error {
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

// Tell has the comments and checks of the open plans on the state of a run written again, besides those of
// its own pull request, as far as there may be at once. why makes the messages different from others.
func (f Finder) Tell(ctx context.Context, r runs.Run, why ...any) error {
	opens, err := f.Ledger.Opens(ctx, r.Pull.Repo.ID, r.Address.Place, r.Target(), ledger.Beyond(r)...)
	if err != nil {
		return err
	}
	opens = slices.DeleteFunc(opens, func(o runs.Open) bool { return o.Pull.Number == r.Pull.Number })
	all := fair(opens)
	for _, o := range all[:min(len(all), AtOnce)] {
		parts := append([]any{r.MessageName(), o.Pull.Number}, why...)
		if err := pipeline.Send(ctx, f.Queue, o.Pull, pipeline.Message{Kind: pipeline.SyncComments}, parts...); err != nil {
			return err
		}
	}
	return nil
}
