package rounds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/run"
)

// overlap is how much of what was seen in one round is looked at again in the next, for
// comments that GitHub lists late.
const overlap = 10 * time.Minute

// comments has the commands carried out that nobody began to answer. The first round in
// a repository only remembers when it was: what was written before is not ours.
func (j *Janitor) comments(ctx context.Context, hub Repository, pull func(int) run.Pull, now time.Time, f *Found) error {
	records, key := j.Pipeline.Records, fmt.Sprintf("repo/%d/comments", pull(0).Repo.ID)
	cursor, err := records.Get(ctx, key)
	if err != nil {
		return err
	}
	next := now
	if cursor.Version != "" {
		since, err := time.Parse(time.RFC3339, string(cursor.Value))
		if err != nil {
			return fmt.Errorf("read %s: the record is damaged: %w", key, err)
		}
		if oldest := now.Add(-Memory); since.Before(oldest) {
			since = oldest
		}
		if err := j.answer(ctx, hub, pull, since, f); err != nil {
			return err
		}
		// Not before the first round, nor back behind what another one did.
		if next = now.Add(-overlap); next.Before(since) {
			next = since
		}
	}
	_, err = records.Put(ctx, key, []byte(next.UTC().Format(time.RFC3339)), cursor.Version)
	if errors.Is(err, run.ErrConflict) {
		err = nil // another janitor was here
	}
	return err
}

// answer sends messages for the comments since a time that have commands and no answer.
func (j *Janitor) answer(ctx context.Context, hub Repository, pull func(int) run.Pull, since time.Time, f *Found) error {
	list, err := hub.CommentsSince(ctx, since)
	if err != nil {
		return err
	}
	for _, c := range Unanswered(list) {
		p := pull(c.Number)
		have, err := j.Pipeline.Answered(ctx, p, c.ID)
		if err != nil {
			return err
		}
		if have {
			continue
		}
		m := run.Message{
			ID: fmt.Sprintf("comment-%d-%d", p.Repo.ID, c.ID), Kind: run.Commanded, Pull: p,
			Comment: c.ID, Actor: c.Author, At: c.At, Lines: comment.Parse(c.Body),
		}
		if err := j.Pipeline.Queue.Send(ctx, m); err != nil {
			return err
		}
		f.Comments++
	}
	return nil
}
