package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A RunTrigger says what is known about a project that depends on an applied one.
type RunTrigger struct {
	// Drift is the issue about the project. Its Failures are always 0.
	Drift
	// Pending is set while the project has to be planned because of an apply: of the project with the label After, by the
	// pull request Number, at the time At. The last such apply counts.
	Pending bool      `json:",omitempty"`
	After   string    `json:",omitempty"`
	Number  int       `json:",omitempty"`
	At      time.Time `json:",omitzero"`
}

func triggerDir(repo int64) string { return fmt.Sprintf("trigger/%d", repo) }

func triggerKey(p pipeline.Pull, target string) string { return triggerDir(p.Repo.ID) + "/" + target }

// RunTriggerOf returns what is known about a project that depends on an applied one. target is its runs.ID.Target.
func (ld Ledger) RunTriggerOf(ctx context.Context, p pipeline.Pull, target string) (RunTrigger, error) {
	return Get[RunTrigger](ctx, ld, triggerKey(p, target))
}

// TriggerRun records that a project has to be planned because of an apply: see [RunTrigger]. It keeps the issue.
func (ld Ledger) TriggerRun(ctx context.Context, p pipeline.Pull, target string, by RunTrigger) error {
	return Edit(ctx, ld, triggerKey(p, target), func(have *RunTrigger) *RunTrigger {
		if have != nil {
			by.Drift = have.Drift
		}
		by.Pending = true
		return &by
	})
}

// SaveTriggeredIssue records the issue about a project. looked is the record before the project was planned. If there was
// another apply since, the project still has to be planned.
func (ld Ledger) SaveTriggeredIssue(ctx context.Context, p pipeline.Pull, target string, looked RunTrigger, d Drift) error {
	return Edit(ctx, ld, triggerKey(p, target), func(have *RunTrigger) *RunTrigger {
		now := looked
		if have != nil {
			now = *have
		}
		now.Drift = d
		now.Pending = now.Pending && !now.At.Equal(looked.At)
		return &now
	})
}

// OpenRunTriggers returns the targets of a repository with an open issue about an apply.
func (ld Ledger) OpenRunTriggers(ctx context.Context, p pipeline.Pull) (targets []string, err error) {
	list, err := ld.Records.List(ctx, triggerDir(p.Repo.ID))
	for _, rec := range list {
		t, err := decode[RunTrigger](rec)
		if err != nil {
			return nil, err
		}
		if t != nil && t.Open {
			targets = append(targets, strings.TrimPrefix(rec.Key, triggerDir(p.Repo.ID)+"/"))
		}
	}
	return targets, err
}
