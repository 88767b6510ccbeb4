package applyrun

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// The applies of several projects of a pull request are done in waves, each after those that it depends on. A
// wave has no record. Each apply that was accepted early waits in the record of its own run, and every message
// of the pull request's events looks at all of them.
//
// Whatever ends a wait sends such a message. The end of an apply, successful or not, asks for the comments to
// be written again. A push, a stop and a close are such messages themselves. So a death costs only time,
// because its message comes again:
//
//	an apply is accepted   what it waits for may have ended since it was checked: it is checked again, too
//	its time has come      it is queued under the ID of the message, which sends it again after a death
//	it will never come     it is answered, and then its number is used up: an answer can be repeated
//
// Waves look only at the order, the head and the plan. When the apply's message is handled, the gate is asked
// about everything again, as for any other apply.
//
// An apply that a merge requested can also wait for requirements that time or people meet, and for the end of a
// person's lock (runs.Asked.Late). Here the gate is asked about everything. The janitor sends a message once
// the clock may have changed the decision.

// Waves continues accepted applies that wait for other projects of the same pull request.
type Waves struct {
	Facts   *gatefacts.Reader
	Report  *report.Reporter
	Ledger  ledger.Ledger
	Queuer  *ApplyQueuer
	Closer  *Closer
	Applier *Applier

	order   *runs.Order // nil before it is read, and after an apply was given up
	changed bool        // see Continue
}

// Continue checks all waiting applies of the pull request, and queues those that need not wait any more. The
// handler of each event of the pull request calls it. It can be repeated. changed is set if the comments need
// an update.
func (w *Waves) Continue(ctx context.Context) (changed bool, err error) {
	w.order, w.changed = nil, false
	all, err := w.Ledger.Runs(ctx, w.Facts.Message.Pull)
	if err != nil {
		return false, err
	}
	for _, s := range all {
		if s.Phase == runs.ApplyQueued && !w.woken(s.Run) {
			if err := leaveQueue(ctx, w, s); err != nil {
				return w.changed, err
			}
		}
	}
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return !s.Waiting() && !w.woken(s.Run) })
	if len(all) == 0 {
		return w.changed, nil
	}
	if err := w.Queuer.sort(ctx, all); err != nil {
		err = w.unable(ctx, all, err)
		return w.changed, err
	}
	if err := markLate(ctx, w, all); err != nil {
		return w.changed, err
	}
	for _, s := range all {
		if err := w.continueOne(ctx, s); err != nil {
			return w.changed, err
		}
	}
	return w.changed, nil
}

// markLate marks all waiting applies of a merge as late if one of them is late. When they can be made, the base
// branch may have changed.
func markLate(ctx context.Context, w *Waves, all []ledger.Versioned) (err error) {
	late := func(s ledger.Versioned) bool { return s.Waiting() && s.Asked.Late }
	if !slices.ContainsFunc(all, late) {
		return nil
	}
	for i, s := range all {
		if late(s) || !s.Waiting() || s.Asked.Waits.Answer != ledger.MergeAnswer {
			continue
		}
		s.Asked.Late, w.changed = true, true
		if err := w.Report.PutCheck(ctx, s.Run); err != nil { // before the record: later no message would write it
			return err
		}
		if all[i], err = w.Ledger.Save(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// leaveQueue refuses a queued apply at once if somebody has stopped it, or if its pull request is closed. So
// the applies after it move up in the queue. Its message finds the refusal later. If the handler of that
// message has already begun, the handler decides.
func leaveQueue(ctx context.Context, w *Waves, s ledger.Versioned) error {
	p := w.Facts.Pull
	stop, err := w.Ledger.StopOf(ctx, s.Run)
	if err != nil {
		return err
	}
	d := admission.Refusal(reasons.NotOpen{})
	switch {
	case stop != nil:
		d = admission.Refusal(reasons.WasStopped{By: stop.By, Merged: s.ByMerge()})
	case p.Head.SHA == "" || p.Open || p.Merged:
		return nil
	}
	queue, err := w.Ledger.Queue(ctx, s.Run)
	if err != nil || len(runs.AheadOf(queue, s.Run)) == 0 {
		return err // its turn has come, and it may be in a build
	}
	w.changed = true
	if err := w.Applier.refuse(ctx, s, d); !errors.Is(err, pipeline.ErrConflict) {
		return err
	}
	return nil
}

// woken reports whether an earlier attempt at this message has already queued the apply.
func (w *Waves) woken(r runs.Run) bool {
	return r.Phase == runs.ApplyQueued && r.Asked.Waits != nil && r.Asked.Waits.Woken == w.Facts.Message.ID
}

// continueOne checks one waiting apply. The projects on which it depends were checked before.
func (w *Waves) continueOne(ctx context.Context, s ledger.Versioned) error {
	if w.woken(s.Run) {
		w.changed = true
		return w.Queuer.announce(ctx, s.Run)
	}
	stop, err := w.Ledger.StopOf(ctx, s.Run)
	if err != nil {
		return err
	}
	if stop != nil {
		return w.giveUp(ctx, s, admission.Refusal(reasons.WasStopped{By: stop.By, Merged: s.ByMerge()}))
	}
	if w.order == nil {
		if w.order, err = w.Facts.Order(ctx); err != nil {
			return w.unable(ctx, []ledger.Versioned{s}, err)
		}
	}
	q := admission.Request{Command: admission.Command{Verb: comment.Apply, Entry: admission.ByComment, Actor: s.Asked.Waits.By}, Pull: w.Facts.Pull, Run: s.Run, Others: admission.Others{Order: w.order}}
	if s.Asked.Waits.Answer == ledger.MergeAnswer {
		q.Entry = admission.ByMerge
	}
	d := admission.DecideWaiting(q)
	if d.Allowed() && s.Asked.Late {
		if d, err = gatefacts.AskForMerge(ctx, w.Facts, s.Run); err != nil {
			return w.unable(ctx, []ledger.Versioned{s}, err)
		}
	}
	on, waits := d.WaitsForProjects()
	if _, after, held := d.WaitsAfterMerge(); held {
		on, waits = after, true
	}
	switch {
	case waits && slices.Equal(on, s.Asked.Waits.On):
		return nil
	case waits:
		w.changed = true
		next := *s.Asked.Waits
		next.On, s.Asked.Waits = on, &next
		if s, err = w.Ledger.Save(ctx, s); err != nil {
			return err
		}
		return w.Queuer.reportReasons(ctx, s.Run)
	case !d.Allowed():
		return w.giveUp(ctx, s, d)
	}
	w.changed = true
	s.Run = s.QueueWaiting(w.Facts.Message.ID)
	if s, err = w.Ledger.Save(ctx, s); err != nil {
		return err
	}
	return w.Queuer.announce(ctx, s.Run)
}

// unable gives up applies if err stays the same until a person fixes something. It returns any other error
// unchanged.
func (w *Waves) unable(ctx context.Context, all []ledger.Versioned, err error) error {
	var d admission.Decision
	if errors.Is(err, github.ErrNotFound) { // the base branch was deleted
		d, err = admission.Refusal(reasons.CommitGone{Problem: err.Error()}), nil
	} else {
		d, err = gatefacts.FinalRefusal(err)
	}
	for _, s := range all {
		if err != nil {
			return err
		}
		if w.woken(s.Run) {
			err = w.Queuer.announce(ctx, s.Run)
			continue
		}
		err = w.giveUp(ctx, s, d)
	}
	return err
}

// giveUp ends the wait of an apply that will not be made, for the reasons in d, and tells the user who
// requested it.
func (w *Waves) giveUp(ctx context.Context, s ledger.Versioned, d admission.Decision) error {
	return w.GiveUp(ctx, s, gatefacts.Refused(comment.Command{Verb: comment.Apply}, runs.Label(s.Run), d))
}

// GiveUp ends the wait of an apply that will not be made. The user who requested it gets the reply no. As long
// as the pull request is open, the plan can still be applied. The check is written before the record. Once the
// record is written, no later message would write the check.
func (w *Waves) GiveUp(ctx context.Context, s ledger.Versioned, no comment.Reply) error {
	if err := w.Report.Reply(ctx, s.Asked.Waits.Answer, report.NextApply(s.Run, no)); err != nil {
		return err
	}
	w.order, w.changed, s.Run = nil, true, s.Run.WithoutWaiting()
	if err := w.Report.PutCheck(ctx, s.Run); err != nil {
		return err
	}
	if s.Over(w.Facts.Pull.Open) {
		return w.Closer.drop(ctx, s, s.Phase)
	}
	_, err := w.Ledger.Save(ctx, s)
	return err
}

// sort sorts runs in the order in which they must be applied.
func (qu *ApplyQueuer) sort(ctx context.Context, all []ledger.Versioned) error {
	if len(all) < 2 {
		return nil
	}
	ranks, err := qu.Facts.Ranks(ctx, all)
	slices.SortStableFunc(all, func(a, b ledger.Versioned) int { return runs.CompareByOrder(ranks, a.Run, b.Run) })
	return err
}

// reportWaiting reports that an apply is accepted and waits. The apply for which it waits may have ended before
// this wait was recorded. If this process handles an event, it checks that itself; otherwise it sends a message
// whose handler does. For a late apply, the message also sends notifications, because the merge may have no
// other result.
func (qu *ApplyQueuer) reportWaiting(ctx context.Context, r runs.Run) error {
	if err := qu.reportReasons(ctx, r); err != nil || qu.Facts.Message.Queue() == pipeline.Events && !r.Asked.Late {
		return err
	}
	return pipeline.Send(ctx, qu.Queue, qu.Facts.Message.Pull, pipeline.Message{Kind: pipeline.SyncComments}, r.MessageName(), "waits", r.Asked.ThenApply)
}

// reportReasons reports why an apply waits. For a late apply it only writes the check, because the reasons are
// already reported.
func (qu *ApplyQueuer) reportReasons(ctx context.Context, r runs.Run) error {
	if r.Asked.Late {
		return qu.Report.PutCheck(ctx, r)
	}
	if err := qu.Report.Reply(ctx, r.Asked.Waits.Answer, report.NextApply(r, comment.Pending{Project: runs.Label(r), Verb: comment.Apply, After: r.Asked.Waits.On})); err != nil {
		return err
	}
	return qu.Report.PutCheck(ctx, r)
}
