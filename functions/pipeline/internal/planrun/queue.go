package planrun

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/order"
	"github.com/lockstep-iac/lockstep/github"
)

// Enqueue queues plans of the projects that a command selects, from the present trial merge. It returns replies
// for those that are refused.
func (qu *PlanQueuer) Enqueue(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	if err := qu.announceAgain(ctx); err != nil {
		return nil, err
	}
	l := ledger.Look{Pull: qu.Facts.Message.Pull, Head: qu.Facts.Pull.Head.SHA, Into: qu.Facts.Pull.Base.Ref, Ending: ledger.Ending{Closed: !qu.Facts.Pull.Open, Merged: qu.Facts.Pull.Merged}}
	l.Silent = qu.silent
	l.Asked = (qu.Facts.Pull.Open || qu.Facts.Pull.Merged) && !c.Everything()
	var m github.Merge
	merge := func(ctx context.Context, q *admission.Request) (err error) {
		m, err = qu.Facts.TrialMerge(ctx, q)
		return err
	}
	q, d, err := qu.Facts.Ask(ctx, qu.Facts.Request(comment.Plan, runs.Run{Spec: runs.Spec{Named: c.Commit}}), gatefacts.Sources{admission.PresentMerge: merge})
	if err != nil {
		return qu.refuseUnknown(ctx, c, l, err)
	}
	if !d.Allowed() && (m.Head == "" || admission.Has[reasons.OtherBase](d)) {
		return qu.refuseEarly(ctx, c, q, d, l)
	}
	l.Head, l.Base, l.Merge, l.Conflict, l.Into = m.Head, m.Base, m.SHA, m.Conflict, m.BaseRef
	l.Seen = qu.Facts.Pull.Updated
	var found []selected
	var replies []comment.Reply
	if m.Conflict {
		replies = append(replies, gatefacts.Refused(c, "", d))
	} else if found, replies, err = qu.discover(ctx, c, &l); err != nil {
		return qu.refuseUnknown(ctx, c, l, err)
	}
	l.Settings = gatefacts.SettingsHashAt(qu.Facts, l.Base)
	qu.quiet = len(found) > cmp.Or(qu.Loud, DefaultLoud)
	if err := qu.Ledger.SaveLook(ctx, l); err != nil {
		return nil, err
	}
	if qu.quiet {
		if err := qu.Facts.Share(ctx); err != nil {
			return nil, err
		}
	}
	if q.Entry == admission.ByPush {
		if err := qu.supersede(ctx, found); err != nil {
			return nil, err
		}
	}
	if (q.Entry == admission.ByPush || qu.silent) && qu.Facts.Pull.Open {
		if err := qu.Shadow(ctx, l); err != nil {
			return nil, err
		}
	}
	if l.Conflict {
		if err := Conflict(ctx, qu.Report, qu.Ledger, l.Pull, l.Head, ""); err != nil {
			return nil, err
		}
	}
	if l, err = qu.Ledger.LastLook(ctx, l.Pull); err != nil {
		return nil, err
	}
	refused, err := qu.queueAll(ctx, c, found, &l)
	if err != nil {
		return nil, err
	}
	replies = append(replies, refused...)
	if err := qu.supersedeRenamed(ctx, l.Head); err != nil {
		return nil, err
	}
	return replies, qu.recordDenials(ctx, q, replies, l)
}

// queueAll queues a plan of each project in the order of their dependencies, and returns the replies for those that get none. The look
// gets the refusals.
func (qu *PlanQueuer) queueAll(ctx context.Context, c comment.Command, found []selected, l *ledger.Look) (replies []comment.Reply, err error) {
	if err := qu.sort(ctx, found, *l); err != nil {
		return nil, err
	}
	if err := qu.assignChecks(ctx, found); err != nil {
		return nil, err
	}
	l.Denials = nil
	for _, p := range found {
		no, err := qu.queuePlan(ctx, c, p, *l)
		if err != nil {
			return nil, err
		}
		if no == nil {
			continue
		}
		replies = append(replies, no)
		if !afterApply(no) {
			l.Denials = append(l.Denials, qu.denial(p, no))
		}
	}
	return replies, nil
}

// sort sorts projects so that each comes after those on which it depends. So a plan waits for plans that are
// queued before it.
func (qu *PlanQueuer) sort(ctx context.Context, found []selected, l ledger.Look) error {
	if l.Order == nil || len(found) < 2 {
		return nil
	}
	o, err := qu.Facts.Order(ctx)
	if err != nil {
		_, err = gatefacts.FinalRefusal(err) // for each run the gate reports an error that stays
		return err
	}
	var names []string
	for _, p := range found {
		names = append(names, p.Name)
	}
	ranks := order.Ranks(o.Edges(), names)
	slices.SortStableFunc(found, func(a, b selected) int { return cmp.Compare(ranks[a.Name], ranks[b.Name]) })
	return nil
}

// recordDenials shows the refused plans of a push. A push has no comment that could be answered. So nobody
// would otherwise know why there is no plan, and who can request it. A project that is being applied is planned
// when the apply ends.
func (qu *PlanQueuer) recordDenials(ctx context.Context, q admission.Request, replies []comment.Reply, l ledger.Look) error {
	landed := qu.Facts.Message.Kind == pipeline.Landed
	if q.Entry != admission.ByPush && !landed || l.Conflict {
		return nil
	}
	was := l.Denied
	l.Denied = ""
	for _, r := range replies {
		if !afterApply(r) {
			l.Denied = strings.TrimSpace(l.Denied + "\n\n" + comment.Markdown(r))
		}
	}
	if landed && was != "" && l.Denied != "" {
		l.Denied = was
	}
	if l.Denied == "" {
		return nil
	}
	l.Denied = qu.Report.Clean(l.Denied)
	return qu.Ledger.SaveLook(ctx, l)
}

// afterApply reports whether the reply refuses a plan only because the project is being applied.
func afterApply(r comment.Reply) bool {
	no, is := r.(comment.Refused)
	return is && slices.ContainsFunc(no.Reasons, func(why reasons.Reason) bool { _, is := why.(reasons.BeingApplied); return is })
}

// denial returns the record of a refused plan. no is the reply with the reasons.
func (qu *PlanQueuer) denial(p selected, no comment.Reply) ledger.Denial {
	return ledger.Denial{
		Project: p.Name, Dir: p.Dir, Workspace: p.Workspace, Environment: p.Environment,
		ByMerge: p.Apply == project.OnMerge, Removed: p.base != "",
	}
}

// PlanPermitted queues plans that were refused at the head of an open pull request, and whose requirements are
// met now. So people need not repeat the command.
func (qu *PlanQueuer) PlanPermitted(ctx context.Context) error {
	l, err := qu.Ledger.LastLook(ctx, qu.Facts.Message.Pull)
	if p := qu.Facts.Pull; err != nil || len(l.Denials) == 0 || !p.Open || l.Head != p.Head.SHA || l.Into != p.Base.Ref {
		return err
	}
	all, err := qu.Ledger.Runs(ctx, l.Pull)
	if err != nil {
		return err
	}
	for _, d := range ledger.DeniedOf(l, all) {
		decision, err := gatefacts.DecideDeniedAgain(ctx, qu.Facts, d)
		if err != nil {
			return err
		}
		if decision.Allowed() {
			_, err := qu.Enqueue(ctx, comment.Command{Verb: comment.Plan})
			return err
		}
	}
	return nil
}

// refuseEarly refuses a command before the projects of the pull request are known. It returns no reply if there
// would be nothing to plan anyway.
func (qu *PlanQueuer) refuseEarly(ctx context.Context, c comment.Command, q admission.Request, d admission.Decision, l ledger.Look) (replies []comment.Reply, err error) {
	if none, err := qu.needsNoPlan(ctx, q); err != nil || none {
		return nil, errors.Join(err, qu.Ledger.SaveLook(ctx, l))
	}
	no := gatefacts.Refused(c, "", d)
	if q.Entry == admission.ByPush && qu.Facts.Pull.Fork() {
		if named, err := qu.wasNamed(ctx, no); err != nil || named {
			return nil, err
		}
	}
	l.Refused = comment.Markdown(no)
	if admission.Has[reasons.OtherBase](d) {
		l.Problem = l.Refused
	}
	if q.Entry == admission.ByPush {
		err = qu.Ledger.SaveLook(ctx, l)
	}
	return []comment.Reply{no}, err
}

// wasNamed reports whether a person has already named the present commit of a fork. The event is then old or
// repeated, and needs no answer. If the pull request was closed, or got another base branch, since, the commit
// must be named once more. wasNamed then writes a comment that says so.
func (qu *PlanQueuer) wasNamed(ctx context.Context, no comment.Reply) (named bool, err error) {
	p := qu.Facts.Pull
	was, err := qu.Ledger.LastLook(ctx, qu.Facts.Message.Pull)
	if err != nil || was.Head != p.Head.SHA {
		return false, err
	}
	all, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil || !slices.ContainsFunc(all, func(s ledger.Versioned) bool { return s.Spec.Head == was.Head && runs.Preview(s.Run) }) {
		return false, err
	}
	if was.Into == p.Base.Ref && !was.Closed {
		return was.Refused == "", nil
	}
	return false, qu.Report.Answer(ctx, ledger.PushAnswer+"-"+qu.Facts.Message.ID, no)
}

// refuseUnknown refuses a command if err stays the same until a person fixes something. The projects of the
// pull request are then not known. It returns any other error unchanged.
func (qu *PlanQueuer) refuseUnknown(ctx context.Context, c comment.Command, l ledger.Look, err error) ([]comment.Reply, error) {
	no, err := gatefacts.FinalReply(c, "", err)
	if err != nil {
		return nil, err
	}
	l.Problem = qu.Report.Clean(comment.Markdown(no))
	if err := qu.Ledger.SaveLook(ctx, l); err != nil {
		return nil, err
	}
	if qu.Facts.Message.Actor == "" {
		err = qu.supersede(ctx, nil)
	}
	return []comment.Reply{no}, err
}

// discover finds the projects that a command selects in the trial merge of l. It adds notes and problems to l.
func (qu *PlanQueuer) discover(ctx context.Context, c comment.Command, l *ledger.Look) ([]selected, []comment.Reply, error) {
	base, note, err := qu.Facts.Settings(ctx, l.Base)
	if err != nil {
		return nil, nil, err
	}
	if note != "" {
		l.Notes = append(l.Notes, qu.Report.Clean(note))
	}
	dir, done, err := qu.Facts.Checkout(ctx, l.Merge)
	if err != nil {
		return nil, nil, gatefacts.DiskFull(err)
	}
	defer done()
	found, reply, err := qu.choose(ctx, c, dir, base, l)
	if note != "" && l.Problem != "" && strings.HasSuffix(l.Notes[0], strings.TrimSpace(l.Problem)) {
		l.Notes[0] = notes.SettingsBrokenAlike()
	}
	for i := range found {
		found[i].Apply = base.ApplyOn(found[i].Project)
		found[i].test = found[i].base == "" && base.Tests(found[i].Project)
	}
	if reply != nil {
		return found, []comment.Reply{reply}, err
	}
	if err == nil && len(found) > 1 {
		gatefacts.Prefetch(ctx, qu.Facts, l.Base)
	}
	return found, nil, err
}

// queuePlan queues the plan of one project. If the plan is refused, it returns the reply with the reasons;
// otherwise nil.
func (qu *PlanQueuer) queuePlan(ctx context.Context, c comment.Command, p selected, l ledger.Look) (comment.Reply, error) {
	s, err := qu.Ledger.Load(ctx, runs.Run{ID: runs.ID{Pull: qu.Facts.Message.Pull, Project: p.Name, Workspace: p.Workspace}})
	if err != nil {
		return nil, err
	}
	mine := s.Asked.PlanFor == qu.Facts.Message.ID
	if !mine {
		same := s.Spec.Head == l.Head && s.Spec.Base == l.Base && s.Phase != runs.Dropped && s.Phase != runs.Superseded
		if qu.Facts.Message.Actor == "" && same { // an older event, or a repeated one about the same head
			if s.Phase != runs.Queued && !s.Asked.Missed {
				return nil, nil
			}
			return nil, qu.announceFor(ctx, s.Run)
		}
		if qu.Facts.Message.Kind == pipeline.Landed && s.Spec.Head == l.Head && s.End.Fate != runs.Gone {
			overtaken, err := gatefacts.MergedTooEarly(ctx, qu.Facts, s.Run)
			if err != nil || !overtaken {
				return nil, err // the end of this one was reported
			}
		}
		if no, err := qu.mayPlan(ctx, c, p, s.Run); err != nil || no != nil {
			return no, err
		}
		if s, err = qu.requeue(ctx, c, p, l, s); err != nil {
			return nil, err
		}
	}
	if mine {
		if no := plannedAbove(qu.Facts.Message.Lines, c, s.Run); no != nil {
			return gatefacts.Refused(c, p.label(), admission.Refusal(no)), nil
		}
	}
	if s.Phase != runs.Queued {
		return nil, nil // queued by an earlier attempt at this message, and under way
	}
	return nil, qu.announce(ctx, s.Run)
}

// mayPlan asks the gate about the plan of a project. If the gate refuses, it returns the reply with the
// reasons; otherwise nil.
func (qu *PlanQueuer) mayPlan(ctx context.Context, c comment.Command, p selected, r runs.Run) (comment.Reply, error) {
	// These values come from the head and from the command, because a new run does not have them.
	options := qu.options(r, c, p)
	r.Spec.Dir, r.Spec.Environment, r.Spec.Named = p.Dir, p.Environment, c.Commit
	r.Spec.Options, r.Asked.Retry = options, c.Failed
	_, d, err := qu.Facts.Ask(ctx, qu.Facts.Request(comment.Plan, r), nil)
	if err != nil {
		return gatefacts.FinalReply(c, p.label(), err)
	}
	if !d.Allowed() {
		return gatefacts.Refused(c, p.label(), d), nil
	}
	if p.base != "" && len(c.Options.Replaces) > 0 {
		return gatefacts.Refused(c, p.label(), admission.Refusal(reasons.NotReplaced{Project: p.Name})), nil
	}
	return nil, nil
}

// requeue ends the run's last plan and apply, and records the run as queued.
func (qu *PlanQueuer) requeue(ctx context.Context, c comment.Command, p selected, l ledger.Look, s ledger.Versioned) (ledger.Versioned, error) {
	if err := qu.endLastPlan(ctx, s.Run); err != nil {
		return s, err
	}
	if s.Asked.Try > 0 {
		if err := qu.Tell(ctx); err != nil {
			return s, err
		}
	}
	ahead, err := qu.Ahead(ctx, s.Pull)
	if err != nil {
		return s, err
	}
	s = qu.withCheck(qu.queuedRun(s, c, p, l), s)
	if s.Asked.Crowd = 0; ahead >= crowd {
		s.Asked.Crowd = ahead
	}
	return qu.Ledger.Save(ctx, s)
}

// announceAgain reports the runs that an earlier attempt at this message has queued, and sends their messages:
// that attempt may have died before it did so. This is needed if no project is found now, because the head has
// a conflict or the gate refuses. Nothing else would then send the messages.
func (qu *PlanQueuer) announceAgain(ctx context.Context) error {
	all, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return err
	}
	qu.known = nil
	for _, s := range all {
		qu.known = append(qu.known, s.Run)
		if s.Phase != runs.Queued || s.Asked.PlanFor != qu.Facts.Message.ID {
			continue
		}
		if err := qu.announce(ctx, s.Run); err != nil {
			return err
		}
	}
	return nil
}

// queuedRun returns the run s in the phase Queued, without the results of its last plan and apply.
func (qu *PlanQueuer) queuedRun(s ledger.Versioned, c comment.Command, p selected, l ledger.Look) ledger.Versioned {
	m, pull := qu.Facts.Message, qu.Facts.Pull
	spec := runs.Spec{
		Dir: p.Dir, VarFiles: p.VarFiles, ApplyOn: p.Apply, Environment: p.Environment, Deployment: qu.Facts.Deployment,
		Head: l.Head, Base: l.Base, Merge: l.Merge, AfterMerge: pull.Merged, OnIssue: pull.Issue != "", Beside: p.beside, Twin: p.twin,
		Options: qu.options(s.Run, c, p), Test: p.test && !pull.Merged, Ordered: l.Order != nil && len(l.Order.Edges) > 0,
	}
	if p.base != "" {
		spec.Removed, spec.Base, spec.Merge, spec.BaseRef = true, p.base, p.base, l.Into
	}
	if pull.Fork() && !pull.Merged {
		spec.Named = c.Commit
	}
	upheld, idle := runs.HeadIsDone(s.Run, l.Head, l.Base)
	s.Run = s.Queue(spec, runs.Asked{PlanFor: m.ID, PlanLine: lineOf(m.Lines, c), By: m.Actor, Answer: report.AnswerTo(m), Retry: c.Failed, Quiet: qu.quiet}, pull.Updated)
	s.Pull = m.Pull
	if !runs.Preview(s.Run) && l.Before(m.At) && appliedNext(m.Lines, c, s.Run) {
		s.Asked.ThenApply = s.Asked.Try + 1
	}
	s.Plan.Upheld = upheld && runs.HasOptions(s.Run)
	s.Plan.Idle = s.Plan.Upheld && idle
	return s
}

// options returns the options of a run's next plan. A retry uses the options of the failed plan.
func (qu *PlanQueuer) options(r runs.Run, c comment.Command, p selected) grammar.Options {
	removed := p.base != ""
	was := r.Phase
	if was == runs.Dropped {
		was = r.End.Was
	}
	// After a merge, everything that the pull request changes must be applied. So the new plan does not take
	// over the options of a partial plan, or of a plan that was never made.
	landed := qu.Facts.Pull.Merged && !r.Spec.AfterMerge && (!runs.PlansEverything(r) || was == runs.PlanFailed)
	if r.Spec.AfterMerge && !runs.PlansEverything(r) && !r.Phase.Failed() { // for example a plan for drift
		landed = true
	}
	o := r.Spec.Options
	if !c.Failed || !c.Options.IsZero() || r.Spec.Removed != removed || landed {
		o = c.Options
	} else if was == runs.ApplyFailed || was == runs.Stopped {
		o.Rest = true
	}
	if removed {
		o.Destroy = !o.Changes() && !o.RefreshOnly
	}
	return o
}

// announceFor repeats the last steps of [PlanQueuer.announce] for a run that was queued by another message. The
// handler of that message may have died. Or the message for the plan may have been refused, for example because
// the pull request was closed for a moment.
func (qu *PlanQueuer) announceFor(ctx context.Context, r runs.Run) error {
	asked, err := report.CheckAsked(ctx, qu.Report, r)
	if err != nil {
		return err
	}
	if !asked && !r.Asked.Missed {
		return qu.announce(ctx, r)
	}
	if r.Asked.Missed {
		return qu.send(ctx, r, "for", qu.Facts.Message.ID)
	}
	return qu.send(ctx, r)
}

// announce reports that a plan is queued, and sends the message for it.
func (qu *PlanQueuer) announce(ctx context.Context, r runs.Run) error {
	if err := qu.Report.Reply(ctx, r.Asked.Answer, report.PlanReply(r, comment.Pending{Project: runs.Label(r), Verb: comment.Plan})); err != nil {
		return err
	}
	if err := qu.Report.PutCheck(ctx, r); err != nil {
		return err
	}
	return qu.send(ctx, r)
}

// send sends the message for the plan of a queued run, and the message for its tests.
func (qu *PlanQueuer) send(ctx context.Context, r runs.Run, name ...any) error {
	for _, m := range r.PlanMessages() {
		if err := pipeline.Send(ctx, qu.Queue, qu.Facts.Message.Pull, m, append([]any{r.MessageName(), r.Asked.Attempt}, name...)...); err != nil {
			return err
		}
	}
	return nil
}
