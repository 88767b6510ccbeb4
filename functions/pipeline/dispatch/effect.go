package dispatch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// An Effect is the note that an apply was begun, written before anything is changed,
// and how it ended, written after: an apply that was begun is never begun again.
type Effect struct {
	Nonce string // tells a note of ours from one of another process
	Begun time.Time
	// Outcome is what became of it, nil if nobody knows. Its report is an artifact, or in
	// here if that could not be written.
	Outcome *jobs.Outcome `json:",omitempty"`
}

// effectKey names the note. Each try has its own: one that was refused after all has
// left none.
func effectKey(r runs.Run) string { return fmt.Sprintf("effect/%s/%d", r.Key(), r.Try) }

// effect reads the note of an apply; the version is "" if there is none.
func (t *task) effect(ctx context.Context, r runs.Run) (e Effect, begun pipeline.Version, err error) {
	rec, err := t.Records.Get(ctx, effectKey(r))
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, &e); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
	}
	return e, rec.Version, err
}

// begin notes that an apply begins. If that fails, nothing is begun, and a note that is
// there after all is taken away; should that fail too, whoever handles the message next
// finds it, and believes that the apply was begun.
func (t *task) begin(ctx context.Context, r runs.Run) (pipeline.Version, error) {
	e := Effect{Nonce: rand.Text(), Begun: time.Now().UTC()}
	version, err := t.Records.Put(ctx, effectKey(r), pipeline.Encode(e), "")
	if err == nil {
		return version, nil
	}
	have, there, e2 := t.effect(ctx, r)
	if e2 == nil && there != "" && have.Nonce == e.Nonce {
		e2 = t.Records.Delete(ctx, effectKey(r), there)
	}
	return "", errors.Join(err, e2)
}

// maxKept is how much of a report an Effect keeps, in bytes. JSON has up to six for one,
// and all of them fit into a record.
const maxKept = 60 << 10

// note writes down what became of an apply, before anything else can go wrong. That the
// report cannot be kept where it belongs does not make it unknown.
func (t *task) note(ctx context.Context, s stored, o jobs.Outcome, begun pipeline.Version) error {
	ctx = context.WithoutCancel(ctx)
	if o.Report != "" {
		err := t.Artifacts.Put(ctx, s.Result(), []byte(o.Report))
		if o.Report = comment.Cut(o.Report, maxKept); err == nil {
			o.Report = ""
		}
	}
	e := Effect{Begun: time.Now().UTC(), Outcome: &o}
	if _, err := t.Records.Put(ctx, effectKey(s.Run), pipeline.Encode(e), begun); err != nil {
		return err
	}
	return t.finish(ctx, s, e)
}

// lost is what is said of an apply of which nobody knows how it ended.
const lost = "The process that applied this plan ended before it was done. The state has what was done up to some seconds before that. What was done after, or was under way, exists and may not be in it: comment `lockstep plan`, and look at the new plan with care, above all at what it creates."

// finish records what became of an apply that was begun.
func (t *task) finish(ctx context.Context, s stored, e Effect) error {
	o := jobs.Outcome{Failed: true}
	if e.Outcome != nil {
		o = *e.Outcome
	} else if err := t.Artifacts.Put(ctx, s.Result(), []byte(lost)); err != nil {
		return err
	}
	// Whatever else goes wrong now, this is what others must know.
	l := runs.LastApply{Number: s.Pull.Number, Head: s.Head, By: s.Actor, State: o.State}
	if err := t.remember(ctx, s.Run, l); err != nil {
		return err
	}
	if o.Report != "" {
		if err := t.Artifacts.Put(ctx, s.Result(), []byte(o.Report)); err != nil {
			return err
		}
	}
	// It can never be applied again.
	if err := t.Artifacts.Delete(ctx, s.Plan()); err != nil {
		return err
	}
	next := runs.Applied
	if o.Failed || o.Remaining > 0 {
		next = runs.ApplyFailed
	}
	s = s.to(next)
	s.Done, s.Remaining, s.Lost = o.Counts, o.Remaining, e.Outcome == nil || o.Lost
	s, err := t.save(ctx, s)
	if err != nil {
		return err
	}
	return t.applied(ctx, s.Run)
}
