package dispatch

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// onIssueVerbs are the verbs that Lockstep carries out on issues, besides plans with the two directions.
var onIssueVerbs = []comment.Verb{comment.Apply, comment.Stop, comment.Unlock, comment.Recover, comment.DriftPropose}

// onlyOnIssue are the verbs that Lockstep carries out on issues, and not on pull requests.
var onlyOnIssue = []comment.Verb{comment.DriftAccept, comment.DriftRevert, comment.DriftPropose}

// onIssue replaces the commands on an issue by commands for its project. On a pull request it changes nothing. "drift
// accept" becomes a plan with -refresh-only, and "drift revert" a plan without options. "plan" and "retry" repeat the last
// of these two plans. If there is none, they are a plan without options. A command that is not for issues stays as it is:
// [commands.refuseOnIssue] refuses it.
func (co *commands) onIssue(ctx context.Context, lines []grammar.Line) ([]grammar.Line, error) {
	if co.Facts.Pull.Issue == "" {
		return lines, nil
	}
	issue, err := co.Ledger.IssueOf(ctx, co.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	s, err := co.Ledger.Read(ctx, co.Facts.Message.Pull.Runs()+"/"+issue.Target)
	if err != nil {
		return nil, err
	}
	again := s.Version != "" && s.Spec.Options.RefreshOnly
	lines = slices.Clone(lines)
	for i, l := range lines {
		if l.Problem.IsZero() {
			lines[i].Command = commandOnIssue(l.Command, issue.Target, again)
		}
	}
	return lines, nil
}

// commandOnIssue translates a command on an issue: it returns the command for the project of the issue. target is the
// project's target. again is set if the last plan was made with -refresh-only.
func commandOnIssue(c comment.Command, target string, again bool) comment.Command {
	name, workspace := runs.ProjectOf(target), runs.WorkspaceOf(target)
	own := comment.Command{Project: name, Workspace: workspace}
	bare := c
	bare.Verb, bare.Project, bare.Workspace, bare.Plan = "", "", "", ""
	switch {
	case !bare.Equal(comment.Command{}) || !c.Selects(name, c.Dir, workspace):
		return c
	case slices.Contains(onIssueVerbs, c.Verb):
		c.Project, c.Workspace = name, workspace
		return c
	case c.Plan != "":
		return c
	case c.Verb == comment.DriftAccept, (c.Verb == comment.Plan || c.Verb == comment.Retry) && again:
		own.Options.RefreshOnly = true
	case c.Verb == comment.DriftRevert, c.Verb == comment.Plan, c.Verb == comment.Retry:
	default:
		return c
	}
	own.Verb = comment.Plan
	return own
}

// refuseOnIssue refuses a command that is for pull requests only, if it was written on an issue. It also refuses a
// command that is for issues only, on a pull request. It returns nil for any other command.
func (co *commands) refuseOnIssue(ctx context.Context, c comment.Command) (comment.Reply, error) {
	if co.Facts.Pull.Issue == "" {
		if !slices.Contains(onlyOnIssue, c.Verb) || !co.Facts.Writes() {
			return nil, nil // the gate refuses a plan of somebody without write access
		}
		return gatefacts.Refused(c, c.Project, admission.Refusal(reasons.OnlyOnIssue{Command: c})), nil
	}
	issue, err := co.Ledger.IssueOf(ctx, co.Facts.Message.Pull)
	if err != nil || c.Verb == comment.Help {
		return nil, err
	}
	for _, again := range []bool{false, true} {
		plan := comment.Command{Verb: comment.Plan}
		if slices.Contains(onIssueVerbs, c.Verb) {
			plan = comment.Command{Verb: c.Verb, Plan: c.Plan}
		}
		if c.Equal(commandOnIssue(plan, issue.Target, again)) {
			return nil, nil
		}
	}
	return gatefacts.Refused(c, "", admission.Refusal(reasons.NotOnIssue{Command: c, Project: runs.ProjectOf(issue.Target)})), nil
}

// asTyped returns the replies to a line of a comment on an issue, with the command that its author typed, and not the one
// that [commands.onIssue] has made of it. On a pull request it changes nothing.
func (co *commands) asTyped(line int, replies []comment.Reply) []comment.Reply {
	if co.Facts.Pull.Issue == "" {
		return replies
	}
	replies = slices.Clone(replies)
	for i, r := range replies {
		no, is := r.(comment.Refused)
		if !is {
			continue
		}
		no.Reasons = slices.Clone(no.Reasons)
		for j, why := range no.Reasons {
			if _, is := why.(reasons.NoneSelected); is {
				no.Reasons[j] = reasons.NoPlan{}
			}
		}
		no.Command = co.typed[line].Command
		no.Reasons = no.Reasons.Typed(no.Command)
		replies[i] = no
	}
	return replies
}
