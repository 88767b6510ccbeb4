package buildrunner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Builder hands the apply of one message to builds, which are processes that may take hours.
type Builder struct {
	Message pipeline.Message
	Ledger  ledger.Ledger
	Service Service // nil for none
}

func (b Builder) book() ledger.BuildBook { return ledger.BuildBook{Ledger: b.Ledger} }

// Watch looks at the build that works on the message. While the build works, the error is a
// *pipeline.BusyError. Without an error, this process may handle the message.
func (b Builder) Watch(ctx context.Context) error {
	m := b.Message
	if b.Service == nil || m.Kind != pipeline.ToApply {
		return nil
	}
	was, err := b.book().Of(ctx, m.Run(), m.Attempt)
	if err != nil || was.Number == 0 || was.Over != "" {
		return err
	}
	s, err := b.Ledger.Read(ctx, m.Run())
	if err != nil || s.Version == "" || s.Asked.Try != m.Attempt || !s.Phase.UnderWay() {
		return err
	}
	// If the answer to the start of a build was lost, the lease of the build's process shows its ID.
	at, err := b.book().AtWork(ctx, m)
	if err != nil {
		return err
	}
	if at != "" && at != was.ID {
		if over, err := b.look(ctx, s.Run, was, at, true); err != nil || over == "" {
			return err
		}
	}
	if was.ID == "" {
		return nil
	}
	if was.Over, err = b.look(ctx, s.Run, was, was.ID, at == was.ID); err != nil {
		return err
	}
	_, err = b.book().Write(ctx, m.Run(), m.Attempt, was)
	return err
}

// look looks at one build, and returns how it ended. While the build works, the error is a *pipeline.BusyError.
// works is set if the build's process is known to work on the message.
func (b Builder) look(ctx context.Context, r runs.Run, was ledger.Builds, id string, works bool) (over string, err error) {
	end, err := b.Service.Look(ctx, id)
	if err != nil {
		return "", fmt.Errorf("look at the build %s: %w", id, err)
	}
	stop, err := b.Ledger.StopOf(ctx, r)
	if err != nil {
		return "", err
	}
	if end == Working {
		// A build that is at work reads the order to stop itself, and ends between two changes.
		if stop != nil && !works {
			if err := b.Service.Stop(ctx, id); err != nil {
				return "", fmt.Errorf("stop the build %s: %w", id, err)
			}
		}
		now := time.Now()
		return "", &pipeline.BusyError{Until: now.Add(pause(now.Sub(was.Begun)))}
	}
	// A person who stops a build by hand does not want another build.
	if end == Stopped && stop == nil {
		if _, err := b.Ledger.OrderStop(ctx, r, StoppedBy); err != nil {
			return "", err
		}
	}
	return string(end), b.book().Over(ctx, b.Message, r, id)
}

// Began reports whether the apply was handed to a build before. Then the next build continues it.
func (b Builder) Began(ctx context.Context) (bool, error) {
	if b.Service == nil {
		return false, nil
	}
	was, err := b.book().Of(ctx, b.Message.Run(), b.Message.Attempt)
	return was.Number > 0, err
}

// HandOver starts a build for the message. The error is then a *pipeline.HandOver, or a *RefusedError if no
// build will ever start.
func (b Builder) HandOver(ctx context.Context) error {
	m := b.Message
	was, err := b.book().Of(ctx, m.Run(), m.Attempt)
	if err != nil {
		return err
	}
	if was.Number == 0 || was.Over != "" {
		was.Number, was.ID, was.Over, was.Begun = was.Number+1, "", "", time.Now().UTC()
		if was, err = b.book().Write(ctx, m.Run(), m.Attempt, was); err != nil {
			return err
		}
	}
	id, err := b.Service.Start(ctx, token(m, was.Number), m)
	if err != nil {
		return fmt.Errorf("start a build: %w", err)
	}
	was.ID = id
	if _, err := b.book().Write(ctx, m.Run(), m.Attempt, was); err != nil {
		return err
	}
	return &pipeline.HandOver{Why: "the build " + id + " does it"}
}

// token returns a name for the start of a build, so that repeating the start begins no second build. It
// contains the App, because runs of two Apps can have the same name.
func token(m pipeline.Message, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", pipeline.Qualified(m.Pull.App, m.Run()), m.Attempt, number))
	return hex.EncodeToString(sum[:])
}

// Last returns a text for people that says how the last build ended; "" if there is nothing to say. It
// completes a sentence, and has no full stop: ". The build x in CodeBuild failed: its log has the reason".
func (b Builder) Last(ctx context.Context) (string, error) {
	was, err := b.book().Of(ctx, b.Message.Run(), b.Message.Attempt)
	if err != nil || was.Number == 0 {
		return "", err
	}
	return sentence(was.ID, End(was.Over)), nil
}

// IsRefused returns the refusal of a service that will never start a build; nil for other errors.
func IsRefused(err error) *RefusedError {
	var refused *RefusedError
	errors.As(err, &refused)
	return refused
}
