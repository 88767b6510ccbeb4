package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Clean takes our own secrets out of a text.
func (rp *Reporter) Clean(text string) string {
	for _, s := range rp.Secrets {
		text = s.Redact(text)
	}
	return text
}

// AtRest says that a run has come to rest.
func (rp *Reporter) AtRest(ctx context.Context, r runs.Run) error {
	if err := rp.PutCheck(ctx, r); err != nil {
		return err
	}
	if err := rp.Leases.Release(ctx, r.Key()); err != nil {
		return err
	}
	return rp.askForSync(ctx, r)
}

// Sync brings what is said on the pull request up to date with the records. Only
// messages about events do it, and those of a pull request are handled one after the
// other: so there is one writer.
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

// askForSync sends the message that has what is said brought up to date, now that a run
// moved on.
func (rp *Reporter) askForSync(ctx context.Context, r runs.Run) error {
	return pipeline.Send(ctx, rp.Queue, rp.Evidence.Message.Pull, pipeline.Message{Kind: pipeline.SyncComments}, r.Plain(), r.Attempt, r.Begun, r.Try, strings.ReplaceAll(string(r.Phase), " ", "-"))
}

// syncAnswer writes an answer as it is now.
func (rp *Reporter) syncAnswer(ctx context.Context, a ledger.Answer) error {
	if len(a.Replies) == 0 {
		return nil
	}
	answer := comment.Answer{Name: a.Name}
	for _, p := range a.Replies {
		r, err := comment.UnmarshalReply(p.Data)
		if err != nil {
			return fmt.Errorf("answer %s: %w", a.Name, err)
		}
		if p.Body.Key != "" {
			body, err := ledger.Text(ctx, rp.Artifacts, p.Body)
			if err != nil {
				return err
			}
			r = comment.WithBody(r, body)
		}
		answer.Replies = append(answer.Replies, r)
	}
	if _, _, err := rp.say(ctx, comment.AnswerMarker(a.Name), answer.Markdown(github.MaxComment)); err != nil {
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

// React puts a picture under a comment; there is none with the ID 0.
func (rp *Reporter) React(ctx context.Context, id int64, r github.Reaction) error {
	if id == 0 {
		return nil
	}
	err := rp.Hub.React(ctx, id, r)
	if errors.Is(err, github.ErrNotFound) {
		return nil // the comment was deleted
	}
	return err
}

// say writes a comment, or brings it up to date. Its marker is its first line, and there is
// none below: what people see there was written by others. It returns what is there to
// read, and since when.
func (rp *Reporter) say(ctx context.Context, marker, body string) (text string, at time.Time, err error) {
	body = marker + comment.Unmarked(strings.TrimPrefix(body, marker))
	// What is put in the place of a secret, or of a marker, may be longer than it.
	text = comment.Cut(rp.Clean(body), github.MaxComment)
	_, at, err = rp.Hub.PutComment(ctx, rp.Evidence.Message.Pull.Number, marker, text)
	return text, at, err
}
