package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/requirementfacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// AtRest ends the work on a run that now waits for people only. It writes the check, releases the lease, and
// sends a message to write the comments.
func (rp *Reporter) AtRest(ctx context.Context, r runs.Run) error {
	if err := rp.PutCheck(ctx, r); err != nil {
		return err
	}
	if err := rp.Leases.Release(ctx, r.Key()); err != nil {
		return err
	}
	return rp.askForSync(ctx, r)
}

// ReportProgress reports the progress of an apply that another process continues: in its answer, its check, and
// the status comment.
func (rp *Reporter) ReportProgress(ctx context.Context, r runs.Run) error {
	if err := rp.Reply(ctx, r.Asked.Answer, ApplyReply(r, comment.Pending{Project: runs.Label(r), Verb: comment.Apply, Progress: r.Apply.Progress})); err != nil {
		return err
	}
	if err := rp.PutCheck(ctx, r); err != nil {
		return err
	}
	return rp.askForSync(ctx, r)
}

// ReportQueuedPlan reports a plan from the commit of a merge group: in the group's check and, if a person has
// to act, in a comment.
func (rp *Reporter) ReportQueuedPlan(ctx context.Context, r runs.Run, found comment.QueuedPlan) error {
	if slices.Contains([]comment.QueueOutcome{comment.QueueDiffers, comment.QueueFailed, comment.QueueUnseen}, found.Outcome) {
		if err := rp.Reply(ctx, ledger.QueueAnswer+"-"+found.Group, NewReply(r.Target(), found)); err != nil {
			return err
		}
	}
	return rp.askForSync(ctx, r, "queue", found.Group)
}

// Sync writes the comments of the pull request from the records. It is called only for messages of the events
// queue, and so by one process at a time for each pull request.
func (rp *Reporter) Sync(ctx context.Context) error {
	if err := rp.awaitTurn(ctx); err != nil {
		return err
	}
	if err := rp.status(ctx); err != nil {
		return err
	}
	return rp.syncAnswers(ctx)
}

// awaitTurn waits until the comments may be written, while many pull requests are planned or applied at the same time.
// Without a turn, they are written at once. GitHub's limit then decides.
func (rp *Reporter) awaitTurn(ctx context.Context) error {
	now := time.Now()
	at, err := rp.Ledger.TakeTurn(ctx, rp.Facts.Message.Pull, now)
	if err != nil || !at.After(now) {
		return ctx.Err()
	}
	select {
	case <-time.After(at.Sub(now)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// syncAnswers writes the comments of those answers that are not yet completely written.
func (rp *Reporter) syncAnswers(ctx context.Context) error {
	asks, err := rp.answers(ctx)
	if err != nil {
		return err
	}
	for _, a := range asks {
		if a.Synced {
			continue
		}
		if err := rp.syncAnswer(ctx, a); err != nil {
			return err
		}
	}
	return rp.minimize(ctx, asks)
}

// minimize folds the comments of answers about plans, once a newer plan has replaced each of the plans. Answers
// about applies stay as they are. Without the permission for it, nothing is folded. After another failure, the next
// call tries again: no command, plan or merge waits for a comment that is only folded.
func (rp *Reporter) minimize(ctx context.Context, asks []ledger.Answer) error {
	asks = slices.DeleteFunc(asks, func(a ledger.Answer) bool { return !a.Synced || a.Minimized || !a.PlansOnly() })
	if len(asks) == 0 {
		return nil
	}
	all, err := rp.Ledger.Runs(ctx, rp.Facts.Message.Pull)
	if err != nil {
		return err
	}
	latest := map[string]int{}
	for _, r := range all {
		latest[r.Target()] = r.ReplacedBy()
	}
	for _, a := range asks {
		if !a.Replaced(latest) {
			continue
		}
		for _, id := range a.Comments {
			if _, err := gatefacts.FinalRefusal(rp.Hub.Minimize(ctx, id)); err != nil {
				return nil
			}
		}
		if err := rp.ChangeAnswer(ctx, a.Name, func(now *ledger.Answer) { now.Minimized = true }); err != nil {
			return err
		}
	}
	return nil
}

// syncs is how many times the comments are written while many plans are made. Each time costs several requests
// to GitHub.
const syncs = 10

// isDue reports whether to write the comments now. made and left are how many plans of a push are made, and how
// many are not.
func isDue(made, left int) bool { return left == 0 || made%max(10, (made+left)/syncs) == 0 }

// askForSync sends a message to write the comments after a step of a run. If many plans are made, it does so
// after every tenth plan and after the last one. For more than a hundred plans, it does so ten times. The
// process that saves the last run finds that all others are finished.
func (rp *Reporter) askForSync(ctx context.Context, r runs.Run, why ...any) error {
	if r.Asked.Quiet && r.PlanEnded() && len(why) == 0 {
		all, err := rp.Ledger.Runs(ctx, r.Pull)
		if err != nil {
			return err
		}
		made, left := 0, 0
		for _, s := range all {
			switch {
			case s.Asked.PlanFor == r.Asked.PlanFor && s.WithoutCheck():
				left++
			case s.Asked.PlanFor == r.Asked.PlanFor:
				made++
			}
		}
		if !isDue(made, left) {
			return nil
		}
	}
	parts := append([]any{r.MessageName(), r.Asked.Attempt, r.Artifacts.Begun, r.Asked.Try, r.Plan.Applies, r.Apply.Progress.Done, strings.ReplaceAll(string(r.Phase), " ", "-")}, why...)
	if r.Plan.Checked != nil && (r.Plan.Checked.PlannedOn != nil || len(r.Plan.Reads) > 0) {
		parts = append(parts, "checked", r.Artifacts.Reserved) // its state has no other apply
	}
	return pipeline.Send(ctx, rp.Queue, rp.Facts.Message.Pull, pipeline.Message{Kind: pipeline.SyncComments}, parts...)
}

// SyncOverrides writes the comment of an answer, if the answer says that something is overridden: an override
// counts only after that. It is called under the same conditions as [Reporter.Sync].
func SyncOverrides(ctx context.Context, rp *Reporter, name string) error {
	var a ledger.Answer
	if err := rp.ChangeAnswer(ctx, name, func(now *ledger.Answer) { a = *now }); err != nil {
		return err
	}
	answer, err := answerOf(ctx, rp, a)
	if err != nil || requirementfacts.Line(answer.Replies) == "" {
		return err
	}
	if a, err = rp.promise(ctx, a, answer.Replies); err != nil {
		return err
	}
	_, err = rp.sayAnswer(ctx, a, answer)
	return err
}

// answerOf reads an answer from its record.
func answerOf(ctx context.Context, rp *Reporter, a ledger.Answer) (comment.Answer, error) {
	answer := comment.Answer{Name: a.Name}
	for _, p := range a.Replies {
		r, err := comment.UnmarshalReply(p.Data)
		if err != nil {
			return answer, fmt.Errorf("answer %s: %w", a.Name, err)
		}
		if p.Body.Key != "" {
			body, err := ledger.Text(ctx, rp.Artifacts, p.Body)
			if err != nil {
				return answer, err
			}
			r = comment.WithBody(r, body)
		}
		answer.Replies = append(answer.Replies, r)
	}
	return answer, addOngoing(ctx, rp, a, answer.Replies)
}

// syncAnswer writes the comment of an answer.
func (rp *Reporter) syncAnswer(ctx context.Context, a ledger.Answer) error {
	if len(a.Replies) == 0 {
		return nil
	}
	answer, err := answerOf(ctx, rp, a)
	if err != nil {
		return err
	}
	if a, err = rp.promise(ctx, a, answer.Replies); err != nil {
		return err
	}
	comments, err := rp.sayAnswer(ctx, a, answer)
	if err != nil {
		return err
	}
	verdict := comment.VerdictOn(answer.Replies)
	if verdict == comment.Waiting {
		return nil
	}
	if err := rp.React(ctx, a.Comment(), map[comment.Verdict]github.Reaction{comment.Good: github.Rocket, comment.Bad: github.Confused}[verdict]); err != nil {
		return err
	}
	told := string(pipeline.Encode(a.Replies))
	return rp.ChangeAnswer(ctx, a.Name, func(now *ledger.Answer) {
		now.Synced, now.Comments = string(pipeline.Encode(now.Replies)) == told, comments
	})
}

// promise records which replies people will have read as pending, and whether the result gets a new comment.
// That is recorded before anything is written. If the process dies in between, there may be a useless link. In
// the other order, people might not be notified.
func (rp *Reporter) promise(ctx context.Context, a ledger.Answer, replies []comment.Reply) (ledger.Answer, error) {
	next := promised(a, replies)
	if next.Apart == a.Apart && len(next.Promised) == len(a.Promised) && len(next.First) == len(a.First) {
		return a, nil
	}
	err := rp.ChangeAnswer(ctx, a.Name, func(now *ledger.Answer) {
		now.Promised, now.First, now.Apart = next.Promised, next.First, next.Apart
	})
	return next, err
}

// sayAnswer writes the one or two comments of an answer. The comment with the result is written before the
// other: if the process dies in between, the other still shows the pending text, and not a link to a comment
// that does not exist. It returns the IDs of the comments.
func (rp *Reporter) sayAnswer(ctx context.Context, a ledger.Answer, answer comment.Answer) (ids []int64, err error) {
	text := answer.Markdown(github.MaxComment)
	if a.Apart {
		id, _, _, err := rp.say(ctx, github.Earlier{Since: a.At}, comment.ResultMarker(a.Name), "", answer.Result(a.Comment(), github.MaxComment))
		if err != nil {
			return nil, err
		}
		ids, text = append(ids, id), answer.Pointer(id)
	}
	id, _, _, err := rp.say(ctx, github.Earlier{Since: a.At}, comment.AnswerMarker(a.Name), requirementfacts.Line(answer.Replies), text)
	return append(ids, id), err
}

// React adds a reaction to a comment; with ID 0 it does nothing.
func (rp *Reporter) React(ctx context.Context, id int64, r github.Reaction) error {
	if id == 0 || rp.Silent {
		return nil
	}
	_, err := gatefacts.Absent(ctx, rp.Facts, rp.Hub.React(ctx, id, r)) // the comment may be deleted
	return err
}

// say creates or edits a comment. marker is its first line. further may contain more lines with markers.
// Markers in body are removed, because it contains texts of other people. say returns the comment's ID, the
// text as written, and the time at which it was written.
func (rp *Reporter) say(ctx context.Context, e github.Earlier, marker, further, body string) (id int64, text string, at time.Time, err error) {
	body = marker + further + markdown.Unmarked(strings.TrimPrefix(body, marker))
	// The text is shortened after all replacements, because the replacement for a secret or a marker may be
	// longer than the original.
	text = markdown.Cut(rp.Clean(body), github.MaxComment)
	if rp.Silent {
		return 0, text, at, nil
	}
	id, at, err = rp.Hub.PutComment(ctx, rp.Facts.Message.Pull.Number, e, marker, text)
	return id, text, at, err
}
