package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/github"
)

func budgetKey(installation int64) string { return fmt.Sprintf("pace/budget/%d", installation) }

// afford delays messages that can wait: those for plans, and those that only read a pull request. Two things
// must be true: few of the installation's hourly requests to GitHub are left, and the repository has used more
// than its share. afford then returns a *pipeline.BusyError. Commands, pushes and applies never wait. People
// wait for answers, and an apply that was begun must be finished.
func (p *Pipeline) afford(ctx context.Context, m pipeline.Message) error {
	if !m.On(pipeline.Plans) && m.Kind != pipeline.Told {
		return nil
	}
	b, err := ledger.Get[ratelimits.Budget](ctx, p.Ledger(), budgetKey(m.Pull.Installation))
	if err != nil || !b.Waits(m.Pull.Repo.ID, time.Now()) {
		return err
	}
	return &pipeline.BusyError{Until: b.Reset, Why: fmt.Sprintf("%s has used its share of GitHub's %d requests an hour: it waits until %s", m.Pull.Repo, b.Limit, b.Reset.Format(time.RFC3339))}
}

// spend records how many requests to GitHub a message has needed. It does so only if few requests are left
// in the hour. last is the number of requests that are left, from GitHub's latest answer.
func (p *Pipeline) spend(ctx context.Context, m pipeline.Message, last github.Budget) error {
	now := ratelimits.Budget{Limit: last.Limit, Left: last.Left, Reset: last.Reset}
	if !now.Short() {
		return nil
	}
	return ledger.Edit(ctx, p.Ledger(), budgetKey(m.Pull.Installation), func(b *ratelimits.Budget) *ratelimits.Budget {
		if last.Used == 0 {
			return nil
		}
		spent := cmp.Or(b, &ratelimits.Budget{}).Spend(m.Pull.Repo.ID, last.Used, now)
		return &spent
	})
}
