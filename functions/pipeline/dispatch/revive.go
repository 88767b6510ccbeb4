package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Revive ends the wait for a process that is known to be dead. An apply that it had begun, or that it
// was to go on with, is gone on with: its message may be lost, and is sent again, once in ten minutes;
// if it is not, the second one finds nothing to do. Anything else is abandoned, and so is an
// apply that does not get on.
func (p *Pipeline) Revive(ctx context.Context, l ledger.Lease, now time.Time) error {
	if l.Message.Kind == pipeline.ToApply {
		goesOn, err := p.goesOn(ctx, l.Message)
		if err != nil {
			return fmt.Errorf("revive %s: %w", l.Message.ID, err)
		}
		if goesOn {
			return p.Queue.Send(ctx, l.Message.Again(fmt.Sprint(now.Unix()/600)))
		}
	}
	return p.Abandon(ctx, l.Message, "the process that did it ended before it was done")
}

// maxIdle is the number of processes that may go on with an apply one after the other, without
// getting on, before nobody sends its message again.
const maxIdle = 2 * pipeline.MaxReceives

// goesOn reports whether the apply of a message was begun, and is not at its end.
func (p *Pipeline) goesOn(ctx context.Context, m pipeline.Message) (bool, error) {
	s, err := p.Ledger().Read(ctx, m.Run())
	if err != nil || s.Version == "" || s.Try != m.Attempt || s.Phase != runs.Applying && s.Phase != runs.Continuing {
		return false, err
	}
	e, begun, err := p.Ledger().ApplyRecord(ctx, s.Run)
	return err == nil && begun != "" && e.Outcome == nil && e.Idle < maxIdle, err
}
