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

// A Builder lets builds handle the apply of one message. A build is a process that may run for hours.
type Builder struct {
	Message pipeline.Message
	Ledger  ledger.Ledger
	Service Service // nil for none
}

func (b Builder) book() ledger.BuildBook { return ledger.BuildBook{Ledger: b.Ledger} }

// Watch looks at the build that handles the message. It returns a *pipeline.BusyError while the build is
// running. If it returns nil, this process may handle the message.
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
	// The answer to starting a build may be lost. Then the lease of the build's process shows the build's ID.
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

// look looks at the build with the given ID. over says how the build ended. While the build is running, the
// error is a *pipeline.BusyError. works is set if the build's process is known to be working on the message.
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
		// If a build is working, it reads the order to stop itself, and ends between two changes. So it is not
		// stopped here.
		if stop != nil && !works {
			if err := b.Service.Stop(ctx, id); err != nil {
				return "", fmt.Errorf("stop the build %s: %w", id, err)
			}
		}
		now := time.Now()
		return "", &pipeline.BusyError{Until: now.Add(pause(now.Sub(was.Begun)))}
	}
	// If a person has stopped the build by hand in AWS, no other build is started.
	if end == Stopped && stop == nil {
		if _, err := b.Ledger.OrderStop(ctx, r, StoppedBy); err != nil {
			return "", err
		}
	}
	return string(end), b.book().Over(ctx, b.Message, r, id)
}

// Began reports whether a build has already worked on this apply. The next build then continues it.
func (b Builder) Began(ctx context.Context) (bool, error) {
	if b.Service == nil {
		return false, nil
	}
	was, err := b.book().Of(ctx, b.Message.Run(), b.Message.Attempt)
	return was.Number > 0, err
}

// HandOver starts a build for the message. If a build was started, it returns a *pipeline.HandOver as the
// error. If no build can ever be started, it returns a *RefusedError. image is the image of the first build of an apply.
// Later builds have the same one.
func (b Builder) HandOver(ctx context.Context, image string) error {
	m := b.Message
	was, err := b.book().Of(ctx, m.Run(), m.Attempt)
	if err != nil {
		return err
	}
	if was.Number == 0 || was.Over != "" {
		if was.Number == 0 {
			was.Image = image
		}
		was.Number, was.ID, was.Over, was.Begun = was.Number+1, "", "", time.Now().UTC()
		if was, err = b.book().Write(ctx, m.Run(), m.Attempt, was); err != nil {
			return err
		}
	}
	id, err := b.Service.Start(ctx, token(m, was.Number), was.Image, m)
	if err != nil {
		return fmt.Errorf("start a build: %w", err)
	}
	was.ID = id
	if _, err := b.book().Write(ctx, m.Run(), m.Attempt, was); err != nil {
		return err
	}
	return &pipeline.HandOver{Why: "the build " + id + " does it"}
}

// timeToStart is the time within which a build for a plan has to begin its work. CodeBuild starts most builds in a minute.
const timeToStart = 30 * time.Minute

// Plan starts a build with an image that makes the plan of the message's run r. The build handles a message of its own, so
// the caller is done with the present one. Until the build begins, a lease has its message: if it never begins, the plan
// counts as failed. If no build can ever be started, the error is a *RefusedError.
func (b Builder) Plan(ctx context.Context, image string, r runs.Run) error {
	m := b.Message.Resend("build")
	h := &ledger.Holder{Ledger: b.Ledger, Message: m}
	if err := h.Hold(pipeline.WithHardStop(ctx, time.Now().Add(timeToStart)), r); err != nil {
		return err
	}
	if _, err := b.Service.Start(ctx, token(m, 1), image, m); err != nil {
		return errors.Join(fmt.Errorf("start a build: %w", err), h.LetGo(ctx))
	}
	return nil
}

// token returns a name for starting a build. If the start is repeated with the same name, no second build is
// started. The name contains the App, because runs of different Apps can have the same name, and the kind of the message,
// because a plan and an apply of a run can have the same numbers.
func token(m pipeline.Message, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", m.Kind, pipeline.Qualified(m.Pull.App, m.Run()), m.Attempt, number))
	return hex.EncodeToString(sum[:])
}

// Last returns a text for people that says how the last build ended; "" if there is nothing to say. The text is
// the end of a sentence without a full stop: ". The build x in CodeBuild failed: its log has the reason".
func (b Builder) Last(ctx context.Context) (string, error) {
	was, err := b.book().Of(ctx, b.Message.Run(), b.Message.Attempt)
	if err != nil || was.Number == 0 {
		return "", err
	}
	return sentence(was.ID, End(was.Over)), nil
}

// IsRefused returns the *RefusedError in err; nil if there is none.
func IsRefused(err error) *RefusedError {
	var refused *RefusedError
	errors.As(err, &refused)
	return refused
}
