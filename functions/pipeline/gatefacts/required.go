package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/decisionlog"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/requirementfacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// required has the settings at the tip of the base branch, and the finder that reads the facts for requirements
// in them.
type required struct {
	sha      string
	settings *project.Settings
	finder   *requirementfacts.Finder
}

// requirements reads the settings with the requirements, once for each message. It reads the settings at the
// present tip of the base branch. So requirements that were added after the plan count, and the pull request
// cannot change any. There are two exceptions:
//   - For an apply that a merge requests and that begins at once, it reads the settings at the merge: see
//     [requiredOf].
//   - If Lockstep does not plan for the base branch, there are no requirements, and the default branch's
//     settings are read.
func (e *Reader) requirements(ctx context.Context) (*required, error) {
	if e.required != nil {
		return e.required, nil
	}
	sha, branch := e.Pull.MergeSHA, e.Pull.Base.Ref
	planned, err := BasePlanned(ctx, e)
	if err != nil {
		return nil, err
	}
	if !planned {
		branch = e.Pull.DefaultBranch
	}
	if !e.Pull.Merged || !planned || e.afterwards {
		if sha = e.tip.take(branch); sha == "" {
			sha, err = e.Hub.Tip(ctx, branch)
		}
		if err != nil {
			return nil, fmt.Errorf("look at the base branch: %w", err)
		}
	}
	s, _, err := e.Settings(ctx, sha)
	if err != nil {
		return nil, err
	}
	pushes, err := e.Ledger.Pushes(ctx, e.Message.Pull)
	if err != nil {
		return nil, err
	}
	e.required = &required{sha, s, &requirementfacts.Finder{Hub: e.Hub, Pull: e.Pull, Base: sha, Pushes: pushes, Now: time.Now(), Deployment: e.Deployment}}
	return e.required, nil
}

// requiredOf chooses the settings that [Reader.requirements] reads for a run. For an apply that the merge
// requests, they are those at the merge. If this apply has waited since the merge, or if somebody requests an
// apply after the merge, they are those of the present base branch.
func requiredOf(e *Reader, r runs.Run, merging bool) {
	if afterwards := e.Pull.Merged && (!merging || r.Asked.Late); e.afterwards != afterwards {
		e.afterwards, e.required = afterwards, nil
	}
}

// WaitingSetting returns the base branch's setting for the check of a pull request whose plans wait for their
// applies. The settings are those that the reader has read for requirements, for example in
// [Reader.MissingRequirements]. It returns "" if it has read none.
func WaitingSetting(e *Reader) project.Waiting {
	if e.required == nil {
		return ""
	}
	return e.required.settings.OnWaiting()
}

// Automerges reports whether the base branch's settings let Lockstep merge pull requests that are applied. It
// uses the settings of the same commit as [WaitingSetting].
func Automerges(e *Reader) bool { return e.required != nil && e.required.settings.OnApplied() != nil }

// DriftSettings returns the drift block of the default branch. It returns nil if the branch has none, or if the pull
// request has another base branch.
func DriftSettings(ctx context.Context, e *Reader) (*project.Drift, error) {
	if e.Pull.Base.Ref != e.Pull.DefaultBranch {
		return nil, nil
	}
	in, err := e.requirements(ctx)
	if err != nil {
		_, err = FinalRefusal(err)
		return nil, err
	}
	return in.settings.DriftBlock(), nil
}

// require decides about the requirements for a request, in q.Required. It also records the question.
func (e *Reader) require(ctx context.Context, q *admission.Request) error {
	in, err := e.requirements(ctx)
	if q.Verb == comment.Stop && err != nil { // nothing prevents a stop
		if absent, err := Absent(ctx, e, err); err != nil || absent {
			_, err = FinalRefusal(err)
			return err
		}
	}
	if err != nil {
		return err
	}
	if err := servedNow(ctx, e, q); err != nil {
		return err
	}
	if q.Shadow, err = shadowedBy(ctx, e, in.sha, in.settings, q.Run); err != nil {
		return err
	}
	if q.Verb == comment.Plan && (e.Message.Kind == pipeline.ToCheck || e.Message.Kind == pipeline.ToQueue) {
		// Nobody has given a command. The gate has permitted an earlier plan of this head, so Lockstep may make
		// the plan again.
		return nil
	}
	question, err := e.question(ctx, in, q.Verb, q.Run)
	if err != nil {
		return err
	}
	s, err := subjectOf(ctx, e, in, question, q.Run)
	if err != nil {
		return err
	}
	if s.Steps, err = e.stepsNow(ctx, in); err != nil {
		return err
	}
	if s.Policies, err = e.policiesNow(ctx, in); err != nil {
		return err
	}
	if s.Actor = q.Actor; q.Verb == comment.Apply {
		s.Planned, s.Shown = q.Run.Spec.Head, q.Shown
		if s.Replaced, s.Since, err = replaced(ctx, e, q.Run); err != nil {
			return err
		}
	}
	if question.Facts, err = in.finder.Find(ctx, requirementrules.Needed(question.Requirements), s); err != nil {
		return fmt.Errorf("read what the requirements are about: %w", err)
	}
	ruling := requirementrules.Decide(question)
	q.Required, e.decided = &ruling, &question
	if e.unasked {
		watches(e, in, question, e.Pull.Head.SHA)
		return nil
	}
	if len(question.Requirements) == 0 && !question.Unreadable {
		return nil
	}
	return decisionlog.Keep(ctx, e.Ledger.Records, q.Run, question)
}

// question returns the question whether a command with this verb is allowed for a run. It contains no facts
// yet.
func (e *Reader) question(ctx context.Context, in *required, verb comment.Verb, r runs.Run) (requirementrules.Question, error) {
	q := requirementrules.Question{Command: string(verb), Unreadable: in.settings != nil && in.settings.Unreadable}
	if q.Unreadable {
		q.Broken = e.read[in.sha].first
	}
	p := project.Project{Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace}
	commands := admission.BlocksOf(verb, r)
	var known []project.Project
	if slices.ContainsFunc(commands, in.settings.RequiresSome) || verb == comment.Apply && in.settings.HoldsSome() {
		b, err := e.baseAt(ctx, in.sha)
		if err != nil {
			return q, err
		}
		known = b.projects
		if b.unheld != "" && !q.Unreadable { // A block applies to no project, probably by mistake. So the gate refuses.
			q.Unreadable, q.Broken = true, b.unheld
		}
	}
	for _, c := range commands {
		q.Requirements = append(q.Requirements, in.settings.Required(c, p, known)...)
	}
	if verb == comment.Apply {
		q.Requirements = append(q.Requirements, in.settings.Protected(p, known, r.Plan.Deploys)...)
	}
	return q, nil
}

// Approvers returns the people who have approved the commit head, and whose approvals count. It returns nil if
// that is not known yet.
func Approvers(ctx context.Context, e *Reader, head string) ([]string, error) {
	pushes, err := e.Ledger.Pushes(ctx, e.Message.Pull)
	if err != nil {
		return nil, err
	}
	finder := requirementfacts.Finder{Hub: e.Hub, Pull: e.Pull, Pushes: pushes, Now: time.Now(), Deployment: e.Deployment, Lenient: true}
	facts, err := finder.Find(ctx, requirementrules.Needs{Reviews: true}, requirementfacts.Subject{Unasked: true, Planned: head})
	return requirementrules.Approvers(facts), err
}

// replaced reports whether the run's plan has replaced an earlier one at the same head. since is the time since
// which people can see the plan; zero if they cannot. If the earlier plan was never shown, since is the time at
// which the present plan was made.
func replaced(ctx context.Context, e *Reader, r runs.Run) (is bool, since time.Time, err error) {
	if r.Plan.Replaced == 0 {
		return false, since, nil
	}
	other := r
	other.Artifacts.Begun = r.Plan.Replaced
	if since, err = e.Ledger.ShownAt(ctx, other); err == nil && since.IsZero() {
		since, err = e.Ledger.ShownAt(ctx, r)
	}
	return true, since, err
}

// subject returns the [requirementfacts.Subject] for a run.
func subject(r runs.Run) requirementfacts.Subject {
	return requirementfacts.Subject{Plan: planOf(r.Plan.Content), Project: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace, Target: r.Target(), Beyond: r.Spec.Removed || r.Spec.Beside || !r.Spec.Options.IsZero()}
}

// subjectOf returns a run as the subject of a question. If a requirement needs the approval of code owners, the
// subject also has the files whose owners must approve. The owners are those on the base branch, not at the
// head.
func subjectOf(ctx context.Context, e *Reader, in *required, q requirementrules.Question, r runs.Run) (requirementfacts.Subject, error) {
	s := subject(r)
	if !requirementrules.Needed(q.Requirements).Owners {
		return s, nil
	}
	b, err := e.baseAt(ctx, in.sha)
	if err != nil {
		return s, err
	}
	for _, p := range b.projects {
		if p.Name == r.Project && p.Workspace == r.Workspace {
			s.Was, s.VarFiles = p.Dir, p.VarFiles
		}
	}
	return s, nil
}

func planOf(c *runs.Content) requirementrules.Fact[requirementrules.Plan] {
	if c == nil {
		return requirementrules.Unknown[requirementrules.Plan]("an earlier version of Lockstep made the plan, and did not write down what it destroys: it has to be made again")
	}
	p := requirementrules.Plan{Changes: c.Changes, Destroys: c.Destroys, Destroyed: c.Destroyed, Assessment: c.Assessment}
	for _, x := range c.Risks {
		p.Risks = append(p.Risks, requirementrules.Risk(x))
	}
	for _, v := range c.Judgements {
		p.Judgements = append(p.Judgements, requirementrules.Judgement(v))
	}
	for _, v := range c.Verdicts {
		p.Verdicts = append(p.Verdicts, requirementrules.Judgement(v))
	}
	for _, x := range c.Costs {
		p.Costs = append(p.Costs, requirementrules.Cost(x))
	}
	for _, v := range c.Steps {
		p.Steps = append(p.Steps, requirementrules.Judgement(v))
	}
	return requirementrules.Known(p)
}

// RequiredAgain decides once more about the requirements for a request, after the state was locked. It reads
// the facts and the order of applies once more. content is about the plan that will be applied.
func (e *Reader) RequiredAgain(ctx context.Context, q *admission.Request, content *runs.Content) error {
	pull, err := e.Hub.PullRequest(ctx, e.Pull.Number)
	if err != nil {
		return fmt.Errorf("look at the pull request again: %w", err)
	}
	again := *e
	again.Pull, again.required, again.decided, again.tip = pull, nil, nil, tipOf{}
	again.elsewhere = nil
	now := *q
	if content != nil {
		now.Run.Plan.Content = content
	}
	if err := again.require(ctx, &now); err != nil {
		return err
	}
	q.Required, q.Deployment, q.ServedBy, q.Shadow = now.Required, now.Deployment, now.ServedBy, now.Shadow
	e.decided = again.decided
	if q.Order, err = again.orderIn(ctx, e.asked.Head); err != nil {
		return fmt.Errorf("look at the order of applies again: %w", err)
	}
	return nil
}

// Decided returns the question about requirements that a reader has decided last, with its facts; nil if there was none.
func Decided(e *Reader) *requirementrules.Question { return e.decided }

// DecideDeniedAgain decides once more about a project whose plan the gate has refused. The request is the same
// as for a push. So people see what is missing now. An error that only a person can fix becomes a refusal.
func DecideDeniedAgain(ctx context.Context, e *Reader, d ledger.Denial) (admission.Decision, error) {
	was := e.Message
	defer func() { e.Message, e.unasked = was, false }()
	e.Message.Actor, e.Message.Kind, e.unasked = "", pipeline.Pushed, true
	_, now, err := e.Ask(ctx, e.Request(comment.Plan, d.Run(was.Pull)), nil)
	if err != nil {
		return FinalRefusal(err)
	}
	return now, nil
}

// AskForMerge asks the gate about an apply that the merge has requested, and that waits. The requester is the
// person who merged, and the plan is the one in the record.
func AskForMerge(ctx context.Context, e *Reader, r runs.Run) (d admission.Decision, err error) {
	was, may := e.Message, e.permission
	defer func() { e.Message, e.permission, e.unasked = was, may, false }()
	e.Message.Actor, e.Message.Answer, e.unasked = r.Asked.Waits.By, r.Asked.Waits.Answer, true
	if e.permission, err = e.permissionOf(ctx, r.Asked.Waits.By); err != nil {
		return d, err
	}
	r.Asked.Waits = nil
	_, d, err = e.Ask(ctx, e.Request(comment.Apply, r), e.Shown())
	return d, err
}

// MissingRequirements decides about the requirements for an apply before anybody has requested it, so that
// people see what is missing. It returns nil if there are no requirements. The result permits nothing. So an
// error that only a person can fix becomes a ruling "unknown". If MissingRequirements returns an error, another
// attempt may help.
func (e *Reader) MissingRequirements(ctx context.Context, r runs.Run) (*rulings.Ruling, error) {
	return missing(ctx, e, r, requirementfacts.Subject{Unasked: true})
}

// MissingInGroup is like [Reader.MissingRequirements], for a merge group of the pull request. login is the user
// who added the pull request to the merge queue, and who counts as the requester of the apply; "" if GitHub
// does not name the user.
func MissingInGroup(ctx context.Context, e *Reader, r runs.Run, login string) (*rulings.Ruling, error) {
	return missing(ctx, e, r, requirementfacts.Subject{Actor: login, Unasked: login == "", Grouped: true})
}

func missing(ctx context.Context, e *Reader, r runs.Run, asks requirementfacts.Subject) (*rulings.Ruling, error) {
	ruling, err := e.missing(ctx, r, asks)
	if err != nil && !errors.As(err, new(*github.FinalError)) {
		return nil, err
	}
	if err != nil {
		no := rulings.Ruling{Rule: rulings.Readable, Outcome: rulings.Unknown, Problem: err.Error()}
		return &rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Unknown, Of: []rulings.Ruling{no}}, nil
	}
	return ruling, nil
}

func (e *Reader) missing(ctx context.Context, r runs.Run, asks requirementfacts.Subject) (*rulings.Ruling, error) {
	question, err := foreseenQuestion(ctx, e, r, asks)
	if err != nil || question == nil {
		return nil, err
	}
	watches(e, e.required, *question, r.Spec.Head)
	ruling := requirementrules.Decide(*question)
	return &ruling, nil
}

// foreseenQuestion returns the question about an apply that nobody has requested yet. asks is the user who will
// count as the requester, if known. It returns nil if there are no requirements.
func foreseenQuestion(ctx context.Context, e *Reader, r runs.Run, asks requirementfacts.Subject) (*requirementrules.Question, error) {
	requiredOf(e, r, !r.Spec.AfterMerge)
	in, err := e.requirements(ctx)
	absent, err := Absent(ctx, e, err)
	if err != nil || absent { // the base branch is deleted
		return nil, err
	}
	question, err := e.question(ctx, in, comment.Apply, r)
	if err != nil || len(question.Requirements) == 0 && !question.Unreadable {
		return nil, err
	}
	finder := *in.finder
	finder.Lenient = true
	if r.Plan.Judged != nil {
		r.Plan.Content = r.Plan.Judged
	}
	s, err := subjectOf(ctx, e, in, question, r)
	if err != nil {
		return nil, err
	}
	s.Actor, s.Unasked, s.Grouped, s.Answering, s.Overrider, s.Planned = asks.Actor, asks.Unasked, asks.Grouped, asks.Answering, asks.Overrider, r.Spec.Head
	if s.Shown, err = e.Ledger.ShownAt(ctx, r); err != nil {
		return nil, err
	}
	if s.Replaced, s.Since, err = replaced(ctx, e, r); err != nil {
		return nil, err
	}
	if s.Steps, err = e.stepsNow(ctx, in); err != nil {
		return nil, err
	}
	if s.Policies, err = e.policiesNow(ctx, in); err != nil {
		return nil, err
	}
	question.Facts, err = finder.Find(ctx, requirementrules.Needed(question.Requirements), s)
	return &question, err
}
