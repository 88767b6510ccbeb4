package dispatch

import (
	"context"
	"encoding/json"
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
	rec, err := p.Records.Get(ctx, budgetKey(m.Pull.Installation))
	if err != nil || rec.Version == "" {
		return err
	}
	var b ratelimits.Budget
	if err := json.Unmarshal(rec.Value, &b); err != nil {
		return fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	if !b.Waits(m.Pull.Repo.ID, time.Now()) {
		return nil
	}
	return &pipeline.BusyError{Until: b.Reset, Why: fmt.Sprintf("%s has used its share of GitHub's %d requests an hour: it waits until %s", m.Pull.Repo, b.Limit, b.Reset.Format(time.RFC3339))}
}

// spend records how many requests to GitHub a message has needed, if few are left in the hour. last is the
// number of requests that are left, from GitHub's latest answer.
func (p *Pipeline) spend(ctx context.Context, m pipeline.Message, last github.Budget) error {
	now := ratelimits.Budget{Limit: last.Limit, Left: last.Left, Reset: last.Reset}
	if !now.Short() {
		return nil
	}
	_, err := p.Ledger().Change(ctx, budgetKey(m.Pull.Installation), func(old []byte) ([]byte, error) {
		var b ratelimits.Budget
		if old != nil {
			if err := json.Unmarshal(old, &b); err != nil {
				return nil, fmt.Errorf("the record is damaged: %w", err)
			}
		}
		if last.Used == 0 {
			return nil, ledger.ErrAsIs
		}
		return pipeline.Encode(b.Spend(m.Pull.Repo.ID, last.Used, now)), nil
	})
	return err
}
