package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// comments queues the commands in comments that Lockstep has not begun to answer. The first round in a
// repository only records the time of the round. Comments before that time are not answered.
func (j *Janitor) comments(ctx context.Context, hub Repository, pull func(int) pipeline.Pull, now time.Time, f *Found) error {
	c, err := j.cursor(ctx, fmt.Sprintf("repo/%d/comments", pull(0).Repo.ID), now)
	if err != nil {
		return err
	}
	if c.fresh {
		return j.moveCursor(ctx, c, now) // comments before the first round are not answered
	}
	list, err := hub.CommentsSince(ctx, c.since)
	if err != nil {
		return err
	}
	// The cursor stays where it is, so the next round sends the same request. GitHub can then answer
	// "unchanged", which costs nothing.
	if len(list) == 0 && now.Sub(c.since) < patience {
		return nil
	}
	if err := j.answer(ctx, list, pull, f); err != nil {
		return err
	}
	return j.moveCursor(ctx, c, now.Add(-overlap))
}

// patience is how long the cursor of comments is not moved while there are no new comments.
const patience = 6 * time.Hour

// answer sends messages for the comments that have commands and no answer.
func (j *Janitor) answer(ctx context.Context, list []github.Comment, pull func(int) pipeline.Pull, f *Found) error {
	for _, c := range unanswered(list) {
		p := pull(c.Number)
		if c.Issue {
			x, err := j.Pipeline.Ledger().IssueOf(ctx, p)
			if err != nil {
				return err
			}
			if x.Target == "" {
				continue
			}
		}
		have, err := j.Pipeline.Ledger().Answered(ctx, p, c.ID)
		if err != nil {
			return err
		}
		if have {
			continue
		}
		m := pipeline.Message{
			ID: fmt.Sprintf("comment-%d-%d", p.Repo.ID, c.ID), Kind: pipeline.Commanded, Pull: p, Found: true,
			Comment: c.ID, Actor: c.Author, At: c.At, Lines: grammar.Parse(c.Body),
		}
		if err := j.Pipeline.Queue.Send(ctx, m); err != nil {
			return err
		}
		f.Comments++
	}
	return nil
}
