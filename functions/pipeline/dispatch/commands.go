package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/applyrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/drift"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/locking"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/stopping"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// commands carries out the commands of one comment.
type commands struct {
	Facts    *gatefacts.Reader
	Report   *report.Reporter
	Ledger   ledger.Ledger
	Plans    *planrun.PlanQueuer
	Applies  *applyrun.ApplyQueuer
	Stopper  *stopping.Stopper
	Recover  *applyrun.Recoverer
	Querier  *planrun.Querier
	Drift    *drift.Finder
	Waves    *applyrun.Waves
	Locker   *locking.Locker
	Unlocker *applyrun.Unlocker
	Override *applyrun.Overrider
	Queue    pipeline.Queue
	// MaxCommands is [Pipeline.MaxCommands].
	MaxCommands int
	// MaxStrangers is [Pipeline.MaxStrangers].
	MaxStrangers int

	typed []grammar.Line // the lines of the comment as their author wrote them
}

// commanded carries out the commands of a comment. It only queues plans and applies: the answer shows them as
// pending.
func (co *commands) commanded(ctx context.Context) error {
	if no, err := co.isIgnoredStranger(ctx); err != nil || no {
		return err
	}
	// If this App cannot see the pull request, it does not answer: another App may see the pull request and
	// answer.
	if err := co.Facts.Look(ctx); err != nil || !co.Facts.MayBeAnswered() {
		return err // The author may be another App. Two Apps would answer each other without end.
	}
	if silent, err := co.silent(ctx); err != nil || silent {
		return err
	}
	ignored, err := co.ignored(ctx)
	if err != nil {
		return err
	}
	if len(ignored) > 0 && !slices.ContainsFunc(co.Facts.Message.Lines, func(l grammar.Line) bool { return !ignored[l.Problem.Word] }) {
		return co.compareSoon(ctx)
	}
	name := report.AnswerTo(co.Facts.Message)
	begun, over, err := co.begin(ctx, name)
	if err != nil || over {
		return err
	}
	if ok, err := co.admit(ctx); err != nil || !ok {
		return err
	}
	if err := co.Report.React(ctx, co.Facts.Message.Comment, github.Eyes); err != nil {
		return err
	}
	written := co.Facts.Message.Lines
	if ok, err := co.verifyWritten(ctx); err != nil || !ok {
		return errors.Join(err, co.answerNotAsWritten(ctx, name, err))
	}
	if co.Facts.Message.Lines, err = co.obeyed(ctx, written); err != nil {
		return err
	}
	co.typed = co.Facts.Message.Lines
	if co.Facts.Message.Lines, err = co.onIssue(ctx, co.Facts.Message.Lines); err != nil {
		return err
	}
	for i, line := range co.Facts.Message.Lines {
		if ignored[written[i].Problem.Word] {
			continue
		}
		if err := co.answerLine(ctx, name, i, line, line.Problem != written[i].Problem, begun); err != nil {
			return err
		}
	}
	// A command may have stopped an apply that waits, or planned its project once more. So check which waiting
	// applies can continue.
	if _, err := co.Waves.Continue(ctx); err != nil {
		return err
	}
	return co.Report.Sync(ctx)
}

// answerLine answers line i of the comment. It does not answer a line that an earlier attempt has answered, because the
// command may not be repeatable. obeyed is set if the line's problem was found only now.
func (co *commands) answerLine(ctx context.Context, name string, i int, line grammar.Line, obeyed bool, begun ledger.Answer) (err error) {
	switch {
	case begun.Has(lineID(i)):
	case obeyed:
		err = co.answerObeyed(ctx, name, i, line)
	default:
		err = co.answer(ctx, name, i, line)
	}
	if err == nil && line.Command.Verb == comment.Override {
		err = co.countOverrides(ctx, name)
	}
	return err
}

// begin records that an answer is begun. over is set if Lockstep must not answer, for one of three reasons:
//   - The answer is already finished.
//   - Another message about the same comment is already being answered.
//   - The comment is so old that the record of its answer may have expired.
func (co *commands) begin(ctx context.Context, name string) (begun ledger.Answer, over bool, err error) {
	m := co.Facts.Message
	err = co.Report.ChangeAnswer(ctx, name, func(a *ledger.Answer) {
		if a.Message == "" {
			a.Message, a.At = m.ID, m.At
		}
		begun = *a
	})
	twice := begun.Message != m.ID && m.Comment != 0
	return begun, begun.Synced || twice || forgotten(m.At, co.Facts.Pull.Updated), err
}

// ignored returns other programs, such as Atlantis, whose commands Lockstep must ignore. The comment contains
// lines for them, and lockstep.hcl on the base branch names them. Lockstep does not answer such a line, because
// the program answers it.
func (co *commands) ignored(ctx context.Context) (map[string]bool, error) {
	var out map[string]bool
	for _, l := range co.Facts.Message.Lines {
		if l.Problem.Kind != grammar.Foreign {
			continue
		}
		ignores, err := gatefacts.IgnoresCommandsFor(ctx, co.Facts, l.Problem.Word)
		if _, err := gatefacts.FinalRefusal(err); err != nil {
			return nil, err
		}
		if ignores && err == nil {
			if out == nil {
				out = map[string]bool{}
			}
			out[l.Problem.Word] = true
		}
	}
	return out, nil
}

// lineID returns the beginning of the IDs of all replies to a line. i is the number of the line, from 0.
func lineID(i int) string { return fmt.Sprintf("line %d.", i+1) }

// countOverrides makes the overrides in a comment valid from now on. So an apply in the same comment and the
// status take them into account.
func (co *commands) countOverrides(ctx context.Context, name string) error {
	gatefacts.ReadRequirementsAgain(co.Facts)
	return report.SyncOverrides(ctx, co.Report, name)
}

// answer carries out the command in one line of a comment, and adds the replies to the answer to the comment.
// i is the number of the line.
func (co *commands) answer(ctx context.Context, name string, i int, line grammar.Line) error {
	replies, err := co.command(ctx, line)
	if err != nil {
		return err
	}
	replies = co.asTyped(i, replies)
	var made []ledger.Reply
	for j, r := range replies {
		made = append(made, report.NewReply(fmt.Sprintf("%s%d", lineID(i), j+1), r))
	}
	return co.Report.Reply(ctx, name, made...)
}

// answerObeyed is like [commands.answer], for a line that was written for another program, such as Atlantis.
// The first reply shows the command that Lockstep has read. If no other reply follows, answerObeyed removes the
// first one, because another deployment answers the line.
func (co *commands) answerObeyed(ctx context.Context, name string, i int, line grammar.Line) error {
	read := report.NewReply(fmt.Sprintf("reading of line %d", i+1), comment.Obeyed{Line: line})
	if err := co.Report.Reply(ctx, name, read); err != nil {
		return err
	}
	if err := co.answer(ctx, name, i, line); err != nil {
		return err
	}
	return co.Report.ChangeAnswer(ctx, name, func(a *ledger.Answer) {
		if last := len(a.Replies) - 1; last >= 0 && a.Replies[last].ID == read.ID {
			a.Replies = a.Replies[:last]
		}
	})
}

// obeyed replaces complete commands for other programs, such as Atlantis, by Lockstep's commands, if
// lockstep.hcl on the base branch says so. It does not replace overrides, because the gate reads only overrides
// that are written as Lockstep's commands.
func (co *commands) obeyed(ctx context.Context, lines []grammar.Line) ([]grammar.Line, error) {
	lines = slices.Clone(lines)
	for i, l := range lines {
		if l.Problem.Kind != grammar.Foreign || l.Command.Verb == "" || l.Command.Verb == comment.Override {
			continue
		}
		ok, err := gatefacts.RunsCommandsFor(ctx, co.Facts, l.Problem.Word)
		if _, err := gatefacts.FinalRefusal(err); err != nil {
			return nil, err
		}
		if ok && err == nil {
			lines[i].Problem = grammar.Problem{}
		}
	}
	return lines, nil
}

// command carries out the command in one line of a comment. It returns the replies that are already known.
func (co *commands) command(ctx context.Context, line grammar.Line) ([]comment.Reply, error) {
	if !line.Problem.IsZero() {
		return co.answerOnce(ctx, comment.Misunderstood{Line: line})
	}
	carryOut := handlerOf(line.Command.Verb)
	if carryOut == nil {
		return co.guide(ctx) // only a message from another version of Lockstep can have a verb without a handler
	}
	if no, err := co.refuseOnIssue(ctx, line.Command); err != nil || no != nil {
		return []comment.Reply{no}, err
	}
	c, refused, err := co.pressed(ctx, line.Command)
	if err != nil || refused != nil {
		return []comment.Reply{refused}, err
	}
	replies, err := carryOut(co, ctx, c)
	if err != nil {
		return replies, err
	}
	if no, ok, err := co.answerGeneral(ctx, c, replies); ok {
		return no, err
	}
	if len(replies) != 1 || c.Verb == comment.Help {
		return replies, nil
	}
	no, is := replies[0].(comment.Refused)
	switch p := c.AsPlan(); {
	case !is || no.Project != "" && no.Project != c.Project:
	case p.Failed:
		return co.failedElsewhere(ctx, p, no)
	case p.Verb != comment.Plan || p.Everything():
		return co.replyForOthers(ctx, c, replies)
	}
	return replies, nil
}

// replyForOthers replaces the replies to a refused command, if no project of this deployment matches the
// command. Lockstep may have found projects of other deployments when it last read the pull request. Only those
// deployments then answer a command for all projects. If the pull request changes no project, a single
// deployment answers.
func (co *commands) replyForOthers(ctx context.Context, c comment.Command, replies []comment.Reply) ([]comment.Reply, error) {
	l, err := co.Ledger.LastLook(ctx, co.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	all, err := co.Ledger.Runs(ctx, co.Facts.Message.Pull)
	switch {
	case err != nil, slices.ContainsFunc(all, func(s ledger.Versioned) bool { return s.SelectedBy(c) }):
		return replies, err
	case len(l.Shadow) > 0:
		if no := inShadow(l, c); no != nil || c.Everything() {
			return no, nil
		}
	}
	switch {
	case len(l.Elsewhere) == 0 && l.Projects == 0 && c.Everything():
		return co.answerOnce(ctx, replies...)
	case len(l.Elsewhere) == 0:
		return replies, nil
	}
	others := slices.DeleteFunc(l.Elsewhere, func(x ledger.Elsewhere) bool { return !c.Selects(x.Project, x.Dir, x.Workspace) })
	switch {
	case c.Everything():
		return nil, nil
	case len(others) == 0:
		return replies, nil
	}
	return []comment.Reply{gatefacts.RefusedElsewhere(c, others)}, nil
}

// handlers has, for each verb, the function that carries out the command or sends messages for it. The verbs in
// [grammar.Planning] are missing: their commands are carried out as plans.
var handlers = map[comment.Verb]func(*commands, context.Context, comment.Command) ([]comment.Reply, error){
	comment.Plan: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Plans.Enqueue(ctx, c)
	},
	comment.Apply: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Applies.Enqueue(ctx, c)
	},
	comment.Stop: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Stopper.Stop(ctx, c)
	},
	comment.Recover: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Recover.Enqueue(ctx, c)
	},
	comment.Query: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Querier.Enqueue(ctx, c)
	},
	comment.DriftPropose: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Drift.Propose(ctx, c)
	},
	comment.Output: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Querier.Enqueue(ctx, c)
	},
	comment.Show: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Querier.Enqueue(ctx, c)
	},
	comment.Lock: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Locker.Lock(ctx, c)
	},
	comment.Unlock: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Unlocker.Unlock(ctx, c)
	},
	comment.Override: func(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
		return co.Override.Override(ctx, c)
	},
	comment.Help: func(co *commands, ctx context.Context, _ comment.Command) ([]comment.Reply, error) {
		return co.guide(ctx)
	},
}

// handlerOf returns the function that carries out commands with the verb v; nil if there is none.
func handlerOf(v comment.Verb) func(*commands, context.Context, comment.Command) ([]comment.Reply, error) {
	if slices.Contains(grammar.Planning(), v) {
		return planning
	}
	return handlers[v]
}

// planning carries out a command whose verb is another name for a plan with options, such as drift.
func planning(co *commands, ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	replies, err := co.Plans.Enqueue(ctx, c.AsPlan())
	for i, r := range replies {
		if no, is := r.(comment.Refused); is {
			no.Reasons = no.Reasons.Typed(c)
			replies[i] = no
		}
	}
	return replies, err
}

// guide answers the command `lockstep help`.
func (co *commands) guide(ctx context.Context) ([]comment.Reply, error) {
	all, err := co.Ledger.Runs(ctx, co.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	l, err := co.Ledger.LastLook(ctx, co.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	var g comment.Guide
	for _, r := range all {
		if here := r.Spec.Head == co.Facts.Pull.Head.SHA || r.Phase.UnderWay(); here && r.Phase != runs.Superseded {
			g.Projects = append(g.Projects, runs.Label(r.Run))
		}
	}
	for _, x := range l.Elsewhere {
		g.Projects = append(g.Projects, x.Project)
	}
	return co.answerOnce(ctx, g)
}
