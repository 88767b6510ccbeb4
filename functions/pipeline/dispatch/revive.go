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
			return p.Queue.Send(ctx, l.Message.Resend(fmt.Sprint(now.Unix()/600)))
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
	if err != nil || s.Version == "" || s.Asked.Try != m.Attempt || s.Phase != runs.Applying && s.Phase != runs.Continuing {
		return false, err
	}
	e, begun, err := p.Ledger().ApplyRecord(ctx, s.Run)
	return err == nil && begun != "" && e.Outcome == nil && e.Idle < maxIdle, err
}

// keep keeps a message that comes to nobody.
func (p *Pipeline) keep(ctx context.Context, m pipeline.Message) error {
	if err := ledger.KeepUndeliverable(ctx, p.Ledger(), m); err != nil {
		return fmt.Errorf("keep %s: %w", m.ID, err)
	}
	return nil
}

// Resend ends the wait for a message that came to nobody, now that its repository is back, under the name and the installation that
// it has by then. It is sent again, but for an apply that is not begun: whoever asked for that has waited in vain, is told so, and
// decides anew.
func (p *Pipeline) Resend(ctx context.Context, m pipeline.Message, now time.Time) error {
	err := p.resend(ctx, m, now)
	if err == nil {
		err = ledger.SentStray(ctx, p.Ledger(), m)
	}
	if err != nil {
		return fmt.Errorf("send %s again: %w", m.ID, err)
	}
	return nil
}

func (p *Pipeline) resend(ctx context.Context, m pipeline.Message, now time.Time) error {
	if m.Kind == pipeline.ToApply {
		s, err := p.Ledger().Read(ctx, m.Run())
		if err != nil {
			return err
		}
		if s.Phase == runs.ApplyQueued && s.Asked.Try == m.Attempt {
			return p.Abandon(ctx, m, "the repository was out of Lockstep's reach when the turn of this apply came")
		}
	}
	return p.Queue.Send(ctx, m.Resend(fmt.Sprint(now.Unix()/600)))
}
