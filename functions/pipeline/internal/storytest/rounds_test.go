package storytest

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
)

// app is GitHub as the janitor sees it, with the calls as effects of the story.
type app struct {
	reconcile.App
	gate memory.Gate
}

func (a app) Deliveries(ctx context.Context, since time.Time) ([]github.DeliveryInfo, error) {
	return memory.Read(ctx, a.gate, "read deliveries", func(ctx context.Context) ([]github.DeliveryInfo, error) { return a.App.Deliveries(ctx, since) })
}

func (a app) Delivery(ctx context.Context, id int64) (github.Delivery, error) {
	return memory.Read(ctx, a.gate, "read delivery", func(ctx context.Context) (github.Delivery, error) { return a.App.Delivery(ctx, id) })
}

func (a app) Installations(ctx context.Context) ([]github.Installation, error) {
	return memory.Read(ctx, a.gate, "read installations", func(ctx context.Context) ([]github.Installation, error) { return a.App.Installations(ctx) })
}

func (a app) Repositories(ctx context.Context, installation int64) ([]github.Repo, error) {
	return memory.Read(ctx, a.gate, "read repositories", func(ctx context.Context) ([]github.Repo, error) { return a.App.Repositories(ctx, installation) })
}

func (a app) LastChange(ctx context.Context, installation int64, r github.Repo) (time.Time, error) {
	return memory.Read(ctx, a.gate, "read last change", func(ctx context.Context) (time.Time, error) { return a.App.LastChange(ctx, installation, r) })
}

// pulls is a repository as the janitor sees it.
type pulls struct {
	reconcile.Repository
	gate memory.Gate
}

func (p pulls) OpenPulls(ctx context.Context) ([]github.PullRequest, error) {
	return memory.Read(ctx, p.gate, "read pulls", func(ctx context.Context) ([]github.PullRequest, error) { return p.Repository.OpenPulls(ctx) })
}

func (p pulls) CommentsSince(ctx context.Context, since time.Time) ([]github.Comment, error) {
	return memory.Read(ctx, p.gate, "read comments", func(ctx context.Context) ([]github.Comment, error) { return p.Repository.CommentsSince(ctx, since) })
}

func (p pulls) Tip(ctx context.Context, branch string) (string, error) {
	return memory.Read(ctx, p.gate, "read tip "+branch, func(ctx context.Context) (string, error) { return p.Repository.Tip(ctx, branch) })
}

func (p pulls) File(ctx context.Context, sha, path string) ([]byte, error) {
	return memory.Read(ctx, p.gate, "read file "+path, func(ctx context.Context) ([]byte, error) { return p.Repository.File(ctx, sha, path) })
}

// round lets the janitor make a round, at a time from now; 0s is the time on GitHub.
func (s *stage) round(from string) {
	d, err := time.ParseDuration(from)
	if err != nil {
		s.t.Fatal(err)
	}
	now := s.hub.Now()
	if d != 0 {
		now = time.Now().Add(d)
	}
	j := &reconcile.Janitor{Pipeline: s.pipeline, App: app{s.app, s.gate()}, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
		c, err := s.app.Repository(installation, r)
		return pulls{c, s.gate()}, err
	}}
	found, err := j.Round(s.t.Context(), now)
	if err != nil && s.w.probe != nil {
		s.w.trace("the round: " + err.Error())
		found, err = j.Round(s.t.Context(), now.Add(d)) // the next one, after the fault of a probe
	}
	s.w.revive()
	s.w.trace(fmt.Sprintf("found %+v", found))
	if err != nil {
		s.w.trace("the round: " + err.Error())
	}
}
