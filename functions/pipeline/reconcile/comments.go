package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// comments queues the commands that nobody began to answer. The first round in a repository only
// records its time: comments written before are not ours.
func (j *Janitor) comments(ctx context.Context, hub Repository, pull func(int) pipeline.Pull, now time.Time, f *Found) error {
	c, err := j.cursor(ctx, fmt.Sprintf("repo/%d/comments", pull(0).Repo.ID), now)
	if err != nil {
		return err
	}
	if c.fresh {
		return j.moveCursor(ctx, c, now) // not before the first round
	}
	if err := j.answer(ctx, hub, pull, c.since, f); err != nil {
		return err
	}
	return j.moveCursor(ctx, c, now.Add(-overlap))
}

// answer sends messages for the comments since a time that have commands and no answer.
func (j *Janitor) answer(ctx context.Context, hub Repository, pull func(int) pipeline.Pull, since time.Time, f *Found) error {
	list, err := hub.CommentsSince(ctx, since)
	if err != nil {
		return err
	}
	for _, c := range unanswered(list) {
		p := pull(c.Number)
		have, err := j.Pipeline.Ledger().Answered(ctx, p, c.ID)
		if err != nil {
			return err
		}
		if have {
			continue
		}
		m := pipeline.Message{
			ID: fmt.Sprintf("comment-%d-%d", p.Repo.ID, c.ID), Kind: pipeline.Commanded, Pull: p,
			Comment: c.ID, Actor: c.Author, At: c.At, Lines: grammar.Parse(c.Body),
		}
		if err := j.Pipeline.Queue.Send(ctx, m); err != nil {
			return err
		}
		f.Comments++
	}
	return nil
}
