package applyrun

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// An Overrider answers the command `lockstep override`. It records nothing: an override consists of the comment
// and of Lockstep's answer. The gate reads both.
type Overrider struct {
	Facts  *gatefacts.Reader
	Ledger ledger.Ledger
	Audit  audit.Trail
}

// Override returns, for each plan that the command selects, a reply that says which requirements are
// overridden. The command of a button has no reason: the reply is the command to write as a comment.
func (ov *Overrider) Override(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	q, d, err := ov.Facts.Ask(ctx, ov.Facts.Request(comment.Override, runs.Run{}), nil)
	if err != nil {
		no, err := gatefacts.FinalReply(c, "", err)
		return []comment.Reply{no}, err
	}
	if !d.Allowed() {
		return []comment.Reply{gatefacts.Refused(c, "", d)}, nil
	}
	button := ov.Facts.Message.Comment == 0 && c.Reason == ""
	if ov.Facts.Message.Comment == 0 && !button {
		return []comment.Reply{gatefacts.Refused(c, "", admission.Refusal(reasons.NotInConversation{}))}, nil
	}
	all, err := ov.Ledger.Runs(ctx, ov.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	var replies, empty []comment.Reply
	for _, s := range all {
		if (s.Phase == runs.Queued || s.Phase == runs.Planning) && s.SelectedBy(c) {
			replies = append(replies, gatefacts.Refused(c, s.Project, admission.Refusal(reasons.BeingPlanned{Verb: comment.Override})))
		}
		if s.Phase != runs.Planned || !s.SelectedBy(c) {
			continue
		}
		if head := ov.Facts.Pull.Head.SHA; s.Spec.Head != head {
			replies = append(replies, gatefacts.Refused(c, runs.Label(s.Run), admission.Refusal(reasons.HeadMoved{Planned: s.Spec.Head, Head: head, Project: s.Project})))
			continue
		}
		if runs.Empty(s.Run) {
			empty = append(empty, gatefacts.Refused(c, runs.Label(s.Run), admission.Refusal(reasons.NotLifted{Login: q.Actor, Empty: true})))
			continue
		}
		if button {
			no, err := gatefacts.MayOverride(ctx, ov.Facts, s.Run, q.Actor)
			if err != nil {
				return nil, err
			}
			if no == nil {
				no = reasons.ReasonNeeded{Command: comment.Command{Verb: comment.Override, Project: s.Project, Workspace: runs.Status(s.Run).Workspace, Reason: "..."}}
			}
			replies = append(replies, gatefacts.Refused(c, runs.Label(s.Run), admission.Refusal(no)))
			continue
		}
		no, lifting, err := gatefacts.Override(ctx, ov.Facts, s.Run, q.Actor)
		if err != nil {
			return nil, err
		}
		if no != nil {
			replies = append(replies, gatefacts.Refused(c, runs.Label(s.Run), admission.Refusal(no)))
			continue
		}
		if err := ov.Audit.Command(ctx, ov.Facts.Message, s.Run, audit.OverrideAllowed, c.Reason); err != nil {
			no, err := gatefacts.NotRecorded(c, runs.Label(s.Run), err)
			if err != nil {
				return nil, err
			}
			replies = append(replies, no)
			continue
		}
		left, err := ov.obstacles(ctx, s.Run, lifting.Required)
		if err != nil {
			return nil, err
		}
		replies = append(replies, comment.Overridden{
			Project: s.Project, By: q.Actor, Because: c.Reason, Workspace: runs.Status(s.Run).Workspace, Left: left, Target: s.Target(), Later: lifting.Later,
		})
	}
	if len(replies) == 0 {
		replies = empty // the author means plans with changes, if there are any
	}
	if len(replies) == 0 {
		return gatefacts.RepliesWithoutPlan(ctx, ov.Facts, c, all)
	}
	return replies, nil
}

// obstacles returns a text for people that says what blocks the apply of a run, besides the requirements, and
// what to do.
func (ov *Overrider) obstacles(ctx context.Context, r runs.Run, required *rulings.Ruling) (string, error) {
	p := runs.Status(r)
	p.Required = required
	last, err := ov.Facts.LastApply(ctx, r)
	if err != nil {
		return "", err
	}
	lock, err := ov.Facts.Reserved(ctx, r)
	if err != nil {
		return "", err
	}
	runs.Block(&p, r, last, lock)
	behind, err := gatefacts.Predecessors(ctx, ov.Facts, r)
	runs.ComesAfter(&p, behind)
	return comment.Left(p), err
}
