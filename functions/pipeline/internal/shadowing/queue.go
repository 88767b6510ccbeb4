package shadowing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
	"github.com/lockstep-iac/lockstep/github"
)

// Hub has the requests to GitHub that shadow mode needs in addition to those of the facts.
type Hub interface {
	// Comments returns the comments on a pull request that were written or edited since a time, the oldest first.
	Comments(ctx context.Context, number int, since time.Time) ([]github.Comment, error)
	// Budget returns how many requests to GitHub were made, and how many are left.
	Budget() github.Budget
}

// A Shadower plans and compares for one message.
type Shadower struct {
	Facts    *gatefacts.Reader
	Hub      Hub
	Report   *report.Reporter
	Ledger   ledger.Ledger
	Queue    pipeline.Queue
	Engine   jobs.Engine
	Projects jobs.Projects
	Steps    steps.Runner
}

// targetOf returns the name of a project in keys.
func targetOf(p ledger.Shadowed) string {
	return runs.ID{Project: p.Project, Workspace: p.Workspace}.Target()
}

// Enqueue records that the projects in shadow mode of a head are planned, and sends a message for each. l is what Lockstep
// has found at the head. It can be repeated: a plan that is already made is not made again, unless it has failed.
func (sh *Shadower) Enqueue(ctx context.Context, l ledger.Look) error {
	if len(l.Shadow) == 0 {
		return nil
	}
	pull := sh.Facts.Message.Pull
	if err := sh.Ledger.AddShadowedPull(ctx, pull); err != nil {
		return err
	}
	now := time.Now().UTC()
	for _, p := range l.Shadow {
		target, planned := targetOf(p), false
		err := sh.Ledger.ChangeShadow(ctx, pull, target, l.Head, func(have *shadow.Record) *shadow.Record {
			planned = have != nil && !have.Planned.IsZero() && !have.Ours.Failed
			if planned || have != nil && have.Planned.IsZero() && have.Base == l.Base {
				return nil
			}
			r := shadow.Record{Repo: pull.Repo.String(), App: pull.App, Pull: pull.Number, Project: p.Project, Dir: p.Dir, Workspace: p.Workspace, Head: l.Head, Queued: now, Agreement: shadow.Agreement{Verdict: shadow.Unknown, Why: waiting}}
			if sh.Facts.Message.Kind == pipeline.Pushed && sh.Facts.Message.Push != nil {
				r.Pushed = sh.Facts.Message.At
			}
			if have != nil {
				r.Queued, r.Pushed = have.Queued, have.Pushed
			}
			r.Base, r.Merge = l.Base, l.Merge
			return &r
		})
		if err != nil {
			return err
		}
		if planned {
			continue
		}
		if err := sh.send(ctx, pipeline.Message{Kind: pipeline.ToShadow, Target: target, Head: l.Head}, l.Base+sh.Facts.Message.FirstID()); err != nil {
			return err
		}
	}
	return nil
}

// waiting is why a verdict is unknown until Lockstep has planned.
const waiting = "Lockstep has not planned yet"

// send sends a message about one project. why distinguishes messages about the same head.
func (sh *Shadower) send(ctx context.Context, m pipeline.Message, why string) error {
	name := sha256.Sum256([]byte(m.Target + "\n" + why)) // IDs of messages allow few characters
	return pipeline.Send(ctx, sh.Queue, sh.Facts.Message.Pull, m, sh.Facts.Message.Pull.Repo.ID, sh.Facts.Message.Pull.Number, m.Head, hex.EncodeToString(name[:8]))
}
