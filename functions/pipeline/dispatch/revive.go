package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Revive handles a lease whose process is known to be dead. If the process had begun an apply, the apply's
// message may be lost. So Revive sends the message once more, but not more often than every ten minutes. If the
// message was not lost, the second one has no effect. Revive gives up messages of other kinds, and applies that
// make no progress.
func (p *Pipeline) Revive(ctx context.Context, l ledger.Lease, now time.Time) error {
	if l.Message.Kind == pipeline.ToApply {
		goesOn, err := p.isUnfinishedApply(ctx, l.Message)
		if err != nil {
			return fmt.Errorf("revive %s: %w", l.Message.ID, err)
		}
		if goesOn {
			return p.Queue.Send(ctx, l.Message.Resend(fmt.Sprint(now.Unix()/600)))
		}
	}
	return p.Abandon(ctx, l.Message, "the process that did it ended before it was done")
}

// maxIdle is how many processes may continue an apply, one after another, without any progress. After that,
// [Pipeline.Revive] gives up the apply.
const maxIdle = 2 * pipeline.MaxReceives

// isUnfinishedApply reports whether the apply of a message was begun and is not finished.
func (p *Pipeline) isUnfinishedApply(ctx context.Context, m pipeline.Message) (bool, error) {
	s, err := p.Ledger().Read(ctx, m.Run())
	if err != nil || s.Version == "" || s.Asked.Try != m.Attempt || s.Phase != runs.Applying && s.Phase != runs.Continuing {
		return false, err
	}
	e, begun, err := p.Ledger().ApplyRecord(ctx, s.Run)
	return err == nil && begun != "" && e.Outcome == nil && e.Idle < maxIdle, err
}

// keep stores a message that cannot be handled now: see [Pipeline.Resend].
func (p *Pipeline) keep(ctx context.Context, m pipeline.Message) error {
	if err := ledger.KeepUndeliverable(ctx, p.Ledger(), m); err != nil {
		return fmt.Errorf("keep %s: %w", m.ID, err)
	}
	return nil
}

// Resend sends a message that could not be handled while its repository was missing. It is called when the
// repository is accessible, and uses the repository's present name and installation. It does not send the
// message of an apply that was not begun: the person who requested it reads that nothing was applied, and can
// decide once more.
func (p *Pipeline) Resend(ctx context.Context, m pipeline.Message, now time.Time) error {
	err := p.resend(ctx, m, now)
	if err == nil {
		err = ledger.MarkSent(ctx, p.Ledger(), m)
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
