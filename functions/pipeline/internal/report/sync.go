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

// AtRest completes a run that waits for nothing but people: its check is written, its lease
// released, and a sync of the comments requested.
func (rp *Reporter) AtRest(ctx context.Context, r runs.Run) error {
	if err := rp.PutCheck(ctx, r); err != nil {
		return err
	}
	if err := rp.Leases.Release(ctx, r.Key()); err != nil {
		return err
	}
	return rp.askForSync(ctx, r)
}

// Going tells people how far an apply is that is handed over: in its answer, its check, and the
// status.
func (rp *Reporter) Going(ctx context.Context, r runs.Run) error {
	if err := rp.Reply(ctx, r.Asked.Answer, ApplyReply(r, comment.Pending{Project: runs.Label(r), Verb: comment.Apply, Progress: r.Apply.Progress})); err != nil {
		return err
	}
	if err := rp.PutCheck(ctx, r); err != nil {
		return err
	}
	return rp.askForSync(ctx, r)
}

// AtQueue tells of a plan that was made of the commit of a merge group: in a comment where somebody has to act, and in the
// group's check.
func (rp *Reporter) AtQueue(ctx context.Context, r runs.Run, found comment.QueuedPlan) error {
	if slices.Contains([]comment.QueueOutcome{comment.QueueDiffers, comment.QueueFailed, comment.QueueUnseen}, found.Outcome) {
		if err := rp.Reply(ctx, ledger.QueueAnswer+"-"+found.Group, NewReply(r.Target(), found)); err != nil {
			return err
		}
	}
	return rp.askForSync(ctx, r, "queue", found.Group)
}

// Sync writes the comments of the pull request from the records. Only messages of the events queue
// do it, one at a time for each pull request: so there is one writer.
func (rp *Reporter) Sync(ctx context.Context) error {
	if err := rp.status(ctx); err != nil {
		return err
	}
	asks, err := rp.unsaid(ctx)
	if err != nil {
		return err
	}
	for _, a := range asks {
		if err := rp.syncAnswer(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// syncs is how often the comments are written while many plans are made. Each time costs some requests to GitHub.
const syncs = 10

// isDue reports whether the comments are written now that so many of the plans of a push are made, and so many are left.
func isDue(made, left int) bool { return left == 0 || made%max(10, (made+left)/syncs) == 0 }

// askForSync requests a sync of the comments after a step of a run. Of many plans, each tenth does, or fewer where there are
// more than a hundred, and the last: whoever is the last to save a run sees that all others are at rest.
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

// TellLifts writes the comment of an answer as it is by now, if it says that something is lifted: that counts from then on.
// It is called like Sync.
func TellLifts(ctx context.Context, rp *Reporter, name string) error {
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
	return rp.sayAnswer(ctx, a, answer)
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
	return answer, nil
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
	if err := rp.sayAnswer(ctx, a, answer); err != nil {
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
	return rp.ChangeAnswer(ctx, a.Name, func(now *ledger.Answer) { now.Synced = string(pipeline.Encode(now.Replies)) == told })
}

// promise remembers, before anything is written, which replies people will have read as pending, and whether the
// result is a comment of its own. A process that dies right after it, and wrote nothing, costs a pointer that nobody
// needed; the other order would cost the notification.
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

// sayAnswer writes the comment of an answer, or the two. The result is first: whoever dies in between leaves the
// promise, and not a pointer to nothing.
func (rp *Reporter) sayAnswer(ctx context.Context, a ledger.Answer, answer comment.Answer) error {
	text := answer.Markdown(github.MaxComment)
	if a.Apart {
		id, _, _, err := rp.say(ctx, github.Earlier{Since: a.At}, comment.ResultMarker(a.Name), "", answer.Result(a.Comment(), github.MaxComment))
		if err != nil {
			return err
		}
		text = answer.Pointer(id)
	}
	_, _, _, err := rp.say(ctx, github.Earlier{Since: a.At}, comment.AnswerMarker(a.Name), requirementfacts.Line(answer.Replies), text)
	return err
}

// React adds a reaction to a comment; with the ID 0 there is none.
func (rp *Reporter) React(ctx context.Context, id int64, r github.Reaction) error {
	if id == 0 {
		return nil
	}
	_, err := gatefacts.Absent(ctx, rp.Facts, rp.Hub.React(ctx, id, r)) // the comment may be deleted
	return err
}

// say writes a comment, new or in place. The marker is its first line, below it are further ones, and markers are removed from
// the rest, which contains text of others. It returns the comment's ID, the text as written, and the time of the writing.
func (rp *Reporter) say(ctx context.Context, e github.Earlier, marker, further, body string) (id int64, text string, at time.Time, err error) {
	body = marker + further + markdown.Unmarked(strings.TrimPrefix(body, marker))
	// The replacement of a secret, or of a marker, may be longer.
	text = markdown.Cut(rp.Clean(body), github.MaxComment)
	id, at, err = rp.Hub.PutComment(ctx, rp.Facts.Message.Pull.Number, e, marker, text)
	return id, text, at, err
}
