package report

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/requiredcheck"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// status writes the check of the head, and the comment about the projects of the pull request. A check that
// passes is written after the comment: GitHub may merge at once, and a merge applies only plans that were shown
// before. Any other check is written before the comment, so that nobody merges in between.
func (rp *Reporter) status(ctx context.Context) error {
	all, err := rp.Ledger.Runs(ctx, rp.Facts.Message.Pull)
	if err != nil {
		return err
	}
	l, err := rp.Ledger.LastLook(ctx, rp.Facts.Message.Pull)
	if err != nil {
		return err
	}
	if l.Silent || len(l.Shadow) > 0 {
		rp.Silent = rp.Silent || l.Silent
		if err := rp.Shadow(ctx, l); err != nil || l.Silent {
			return err
		}
	}
	s := comment.Status{Head: l.Head, Notes: l.Notes, Conflict: l.Conflict, Problem: l.Problem, Removed: l.Removed, Merged: rp.Facts.Pull.Merged, Closed: !rp.Facts.Pull.Open && !rp.Facts.Pull.Merged}
	if rp.Facts.Pull.Open {
		s.Policies = l.Policies
	}
	s.Fork, s.Refused = rp.Facts.Pull.Fork(), l.Refused != ""
	if s.Projects, err = rp.projects(ctx, all, l.Head); err != nil {
		return err
	}
	if err := rp.syncShared(ctx, all); err != nil {
		return err
	}
	if err := nextOf(ctx, rp, s.Projects); err != nil {
		return err
	}
	for _, r := range all {
		s.History = append(s.History, runs.History(r.Run, l.Head)...)
	}
	s.Repeated, s.Automerge = append(repeated(all, l.Head), copies(all, l.Head)...), gatefacts.Automerges(rp.Facts)
	if l, err = deniedNow(ctx, rp, l, all); err != nil {
		return err
	}
	if err := watch(ctx, rp, l.Head); err != nil {
		return err
	}
	if err := watchLate(ctx, rp, l.Head, s.Projects); err != nil {
		return err
	}
	s.Notes = slices.Clone(s.Notes)
	if gone := gone(all, l.Head); len(gone) > 0 {
		s.Notes = append(s.Notes, notes.Gone(gone))
	}
	s.Notes = append(s.Notes, renamed(all, l.Head)...)
	unplanned := atHead(all, l.Head) < l.Projects && (rp.Facts.Pull.Open || l.Denied != "")
	if unplanned && l.Denied != "" {
		s.Problem = strings.TrimSpace(s.Problem + "\n\n" + l.Denied)
	}
	if err := rp.tell(ctx, all, head{s, l, gatefacts.WaitingSetting(rp.Facts), unplanned}); err != nil {
		return err
	}
	if err := shownBy(ctx, rp, l); err != nil {
		return err
	}
	s.Projects = append(s.Projects, denied(l, all)...)
	return rp.followUp(ctx, s, all, l)
}

// tell writes the comment and the check run of the head. A check that passes comes last: whoever acts on it finds the comment.
func (rp *Reporter) tell(ctx context.Context, all []ledger.Versioned, h head) error {
	check := func() error { return rp.headCheck(ctx, h) }
	show := func() error { return rp.show(ctx, all, h) }
	steps := []func() error{check, show}
	if rp.looked(h.look) && requiredcheck.Passes(h.page().Standing, h.waiting) {
		steps = []func() error{show, check}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// nextOf adds to the last plan in progress when the next update comes. Nothing else shows that, if no command asked for
// the plans.
func nextOf(ctx context.Context, rp *Reporter, projects []comment.ProjectStatus) (err error) {
	for i, p := range slices.Backward(projects) {
		if p.Ongoing.Planning {
			projects[i].Ongoing, err = withNext(ctx, rp, p.Ongoing)
			return err
		}
	}
	return nil
}

// deniedNow decides once more about the refused plans of an open head, because the recorded refusals are from
// an earlier time. It leaves out a plan that would be allowed now, because this plan will be queued.
func deniedNow(ctx context.Context, rp *Reporter, l ledger.Look, all []ledger.Versioned) (ledger.Look, error) {
	if !rp.Facts.Pull.Open || !rp.looked(l) || len(l.Denials) == 0 {
		return l, nil
	}
	text := ""
	for _, d := range ledger.DeniedOf(l, all) {
		decision, err := gatefacts.DecideDeniedAgain(ctx, rp.Facts, d)
		if err != nil {
			return l, err
		}
		if !decision.Allowed() {
			text += "\n\n" + comment.Markdown(gatefacts.Refused(comment.Command{Verb: comment.Plan}, d.Project, decision))
		}
	}
	l.Denied = rp.Clean(strings.TrimSpace(text))
	return l, rp.Ledger.ChangeLook(ctx, l.Pull, func(now *ledger.Look) {
		if now.Head == l.Head {
			now.Denied = l.Denied
		}
	})
}

// shownBy records with which settings the plans of an open head were shown. If the settings change, the plans
// are shown once more.
func shownBy(ctx context.Context, rp *Reporter, l ledger.Look) error {
	text := gatefacts.DecidingSettings(rp.Facts)
	if !rp.Facts.Pull.Open || !rp.looked(l) || text == "" || text == l.Settings {
		return nil
	}
	return rp.Ledger.ChangeLook(ctx, rp.Facts.Message.Pull, func(now *ledger.Look) {
		if now.Head == l.Head {
			now.Settings = text
		}
	})
}

// denied returns the statuses of projects that the merge cannot apply, because the gate has refused their
// plans.
func denied(l ledger.Look, all []ledger.Versioned) (out []comment.ProjectStatus) {
	for _, d := range ledger.DeniedOf(l, all) {
		out = append(out, comment.ProjectStatus{Name: d.Project, Standing: comment.NotApplied, MergeRole: comment.MergeRole{MergeApplies: d.ByMerge || d.Removed}, Removed: d.Removed})
	}
	return out
}

// show writes the comment about the projects of the pull request. all are its runs.
func (rp *Reporter) show(ctx context.Context, all []ledger.Versioned, h head) (err error) {
	s, l := h.status, h.look
	if len(all) == 0 && !l.Told {
		return nil // nothing to report, and no earlier comment
	}
	planned := slices.ContainsFunc(s.Projects, func(p comment.ProjectStatus) bool { return !p.Left })
	if s.Problem == "" && !planned && rp.Facts.Pull.Open {
		s.Problem = l.Refused // the comment exists because a former head was planned
	}
	if s.Approvals, err = rp.approvals(ctx, l.Head); err != nil {
		return err
	}
	id, text, at, err := rp.say(ctx, l.Comment.Earlier(), comment.StatusMarker, "", s.Markdown(github.MaxComment))
	if err != nil {
		return err
	}
	if now := l.Comment.Next(id); now != l.Comment {
		if err := rp.Ledger.ChangeLook(ctx, l.Pull, func(l *ledger.Look) { l.Comment = now }); err != nil {
			return err
		}
	}
	fresh, err := rp.Ledger.Shown(ctx, all, text, at)
	if err != nil || !fresh || !rp.Facts.Pull.AutoMerge {
		return err
	}
	select { // within a second of GitHub's clock the order is unknown: see runs.CouldHaveSeen
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second):
		return nil
	}
}

// repeated returns notes about runs at a head, if `lockstep retry` would use the options of their last plans.
func repeated(all []ledger.Versioned, head string) []string {
	var projects, plain []string
	for _, r := range all {
		if c := runs.PlainPlanCommand(r.Run); r.Spec.Head == head && c != "" {
			projects, plain = append(projects, runs.Label(r.Run)), append(plain, c)
		}
	}
	return notes.Repeated(projects, plain)
}

// copies returns a note for each project that the merged head has removed, and whose state was copied to
// another project.
func copies(all []ledger.Versioned, head string) (out []string) {
	for _, r := range all {
		if other := ledger.Copied(r.Run, all); other != "" && r.Spec.Head == head && r.Standing() == comment.NotApplied {
			out = append(out, reasons.CopyNote(reasons.StateCopied{Project: r.Project, Place: r.Address.Place, Owner: other}))
		}
	}
	return out
}

// gone returns the projects of a head that the base branch has removed.
func gone(all []ledger.Versioned, head string) (names []string) {
	for _, r := range all {
		if r.Spec.Head == head && r.End.Fate == runs.Gone {
			names = append(names, r.Project)
		}
	}
	return names
}

// renamed returns notes about the projects of a head that the base branch has renamed.
func renamed(all []ledger.Versioned, head string) (out []string) {
	for _, r := range all {
		if r.Spec.Head == head && r.End.Renamed != "" {
			out = append(out, reasons.RenamedNote(runs.Label(r.Run), r.End.Renamed))
		}
	}
	return out
}

// projects returns the statuses of the runs at a head. It includes runs of earlier heads that are being
// applied, because they will be planned for this head. If a check run does not show the present status, it is
// written once more.
func (rp *Reporter) projects(ctx context.Context, all []ledger.Versioned, head string) ([]comment.ProjectStatus, error) {
	var out []comment.ProjectStatus
	line := &gatefacts.OrderCache{Facts: rp.Facts}
	for _, r := range all {
		if r.Spec.Head != head && r.Phase.UnderWay() {
			out = append(out, comment.ProjectStatus{Name: r.Project, Standing: comment.Postponed, Queueing: comment.Queueing{By: r.Asked.By}})
			continue
		}
		closed := r.Standing() == comment.Closed && (rp.Facts.Pull.Open || rp.Facts.Pull.Merged) // for example, it went into another branch
		if closed && rp.Facts.Pull.Open && runs.Preview(r.Run) && r.End.Fate != runs.Left && r.Spec.Head == head {
			closed = false // the commit has to be named again, and its plan can be read
		}
		if r.Spec.Head != head || r.Phase == runs.Superseded || closed {
			continue
		}
		p, err := rp.project(ctx, r.Run, line)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
		if r.Phase != runs.Planned && r.Phase != runs.ApplyQueued {
			continue // its own process writes the check
		}
		checks, err := checksIn(ctx, rp.Ledger, runs.CheckDir(r.Run))
		if err != nil {
			return nil, err
		}
		status, conclusion := runs.ConcludeProject(p)
		i := slices.IndexFunc(checks, func(c runs.CheckRecord) bool { return c.Key == r.Key() })
		if i < 0 || checks[i].Shows(conclusion, runs.AroundDigest(p), p.Required, checks) {
			continue
		}
		switch {
		case r.Phase == runs.ApplyQueued && checks[i].Status == status:
			err = moveUp(ctx, rp, r.Run, p)
		case r.Phase == runs.Planned && checks[i].Status == github.CheckCompleted:
			err = rp.PutCheck(ctx, r.Run)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// atHead returns how many runs are at a head, among those of projects that the head changes.
func atHead(all []ledger.Versioned, head string) (n int) {
	for _, r := range all {
		if runs.CountedAtHead(r.Run, head) {
			n++
		}
	}
	return n
}

// moveUp writes the check run of an apply whose place in the queue has changed. If the apply is no longer
// queued, its own process writes the check run.
func moveUp(ctx context.Context, rp *Reporter, r runs.Run, p comment.ProjectStatus) error {
	all, err := beginCheck(ctx, rp.Ledger, r)
	if err != nil {
		return err
	}
	return rp.writeCheck(ctx, r, p, all, false)
}

// Ahead returns the applies that come before the run's own apply in the queue of its state.
func (rp *Reporter) Ahead(ctx context.Context, r runs.Run) (out []comment.Turn, err error) {
	queue, err := rp.Ledger.Queue(ctx, r)
	return runs.AheadOf(queue, r), err
}

// missing returns the decision about the requirements for the apply of a run. For a run of another pull request
// with the same head, it is the decision that the check of that run shows, because this process has no facts
// about that pull request.
func missing(ctx context.Context, rp *Reporter, r runs.Run) (*rulings.Ruling, error) {
	if r.Pull.Number == rp.Facts.Message.Pull.Number {
		return rp.Facts.MissingRequirements(ctx, r)
	}
	rec, err := rp.Ledger.Records.Get(ctx, runs.CheckKey(r))
	if err != nil {
		return nil, err
	}
	c, err := runs.DecodeCheck(rec.Value)
	return c.Required, err
}

// project returns the status of a run. line has the order of the pull request's applies.
func (rp *Reporter) project(ctx context.Context, r runs.Run, line *gatefacts.OrderCache) (p comment.ProjectStatus, err error) {
	p = runs.Status(r)
	p.Left = p.Left || p.Standing == comment.Closed && rp.Facts.Pull.Open && r.Pull.Number == rp.Facts.Message.Pull.Number
	if err = rp.standing(ctx, r, &p); err != nil || slices.Contains([]comment.Standing{comment.Planning, comment.Queued, comment.Superseded}, p.Standing) {
		return p, err
	}
	if !waits(p) {
		lock, err := rp.Ledger.Reservation(ctx, r)
		if err != nil {
			return p, err
		}
		p.Lock = lock.OwnLock(r.Pull.Number)
	}
	if p.Body, p.Note, err = ledger.Body(ctx, rp.Artifacts, r, p.Standing); err != nil {
		return p, err
	}
	if p.Steps, err = ledger.Steps(ctx, rp.Artifacts, r, p.Standing); err != nil {
		return p, err
	}
	if waits(p) {
		required, unread := missing(ctx, rp, r)
		if unread != nil {
			return p, unread
		}
		p.Required = required
		behind, err := predecessors(ctx, rp, line, r)
		if err != nil {
			return p, err
		}
		runs.ComesAfter(&p, behind)
	}
	if r.Plan.Full && rp.Where != nil && r.Phase != runs.Dropped {
		p.Whole = rp.Where(r.FullReport())
	}
	if r.Plan.StepOutputs && rp.Where != nil {
		comment.StepOutputsAt(p.Steps, rp.Where(r.StepOutputs()))
	}
	return p, err
}

// standing adds to a status what its standing is about: how far a plan or an apply is, the applies before it, or what
// blocks it.
func (rp *Reporter) standing(ctx context.Context, r runs.Run, p *comment.ProjectStatus) (err error) {
	switch p.Standing {
	case comment.Planning:
		p.Ongoing, err = rp.Ledger.Ongoing(ctx, r, time.Now())
	case comment.ApplyQueued:
		p.Ahead, err = rp.Ahead(ctx, r)
	case comment.Applying:
		if p.Ongoing, err = rp.Ledger.Ongoing(ctx, r, time.Now()); err == nil && p.Ongoing.Of > 0 {
			p.Progress = p.Ongoing.Progress
		}
	case comment.Ready, comment.OnMerge, comment.OnceMerged, comment.Renewed:
		err = rp.inTheWay(ctx, r, p)
	case comment.NoChanges:
		last, problem := rp.Ledger.LastApply(ctx, r)
		p.Unmerged, err = problem == nil && rp.Facts.Pull.Open && last.Unfinished(r.Pull.Number, r.Spec.Head), problem
	}
	return err
}

// waits reports whether a plan waits for its apply. The facts that block an apply were read only for such
// plans.
func waits(p comment.ProjectStatus) bool {
	return p.Late || slices.Contains([]comment.Standing{comment.Ready, comment.OnMerge, comment.OnceMerged, comment.Renewed, comment.Blocked}, p.Standing)
}

// approvals returns the logins of the users who have approved the head, and whose approvals count.
func (rp *Reporter) approvals(ctx context.Context, head string) ([]string, error) {
	reviews, err := rp.Hub.Reviews(ctx, rp.Facts.Message.Pull.Number)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(reviews, func(r github.Review) bool { return r.State == github.Approved && r.SHA == head }) {
		return nil, nil
	}
	return gatefacts.Approvers(ctx, rp.Facts, head)
}

// inTheWay adds to a status what blocks the plan of a run: another, unmerged pull request that was applied to
// the state, and a person's lock on the state.
func (rp *Reporter) inTheWay(ctx context.Context, r runs.Run, p *comment.ProjectStatus) error {
	l, err := rp.Facts.LastApply(ctx, r)
	if err != nil {
		return err
	}
	v, err := rp.Facts.Reserved(ctx, r)
	if err != nil {
		return err
	}
	other, err := gatefacts.Copied(ctx, rp.Facts, r)
	if err != nil {
		return err
	}
	mutual, err := gatefacts.Mutual(ctx, rp.Facts, l)
	if err != nil {
		return err
	}
	runs.Block(p, r, l, v)
	if mutual {
		p.Blockers = append(p.Blockers, reasons.MutualNote(l.Number))
	}
	if other != "" {
		p.Standing, p.Copied = comment.Blocked, true
		p.Blockers = append(p.Blockers, reasons.CopyNote(reasons.StateCopied{Project: r.Project, Place: r.Address.Place, Owner: other}))
	}
	return nil
}
