package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

func pushesKey(p pipeline.Pull) string { return fmt.Sprintf("pushed/%d/%d", p.Repo.ID, p.Number) }

// Pushed records a push to a pull request, from its webhook. A user who has pushed once is listed as a
// contributor for good.
func (ld Ledger) Pushed(ctx context.Context, p pipeline.Pull, x github.Push) error {
	return Edit(ctx, ld, pushesKey(p), func(have *[]github.Push) *[]github.Push {
		switch {
		case have == nil:
			return &[]github.Push{x}
		case slices.Contains(*have, x):
			return nil
		}
		all := append(*have, x)
		return &all
	})
}

// Pushes returns the recorded pushes to a pull request, in the order of their webhooks.
func (ld Ledger) Pushes(ctx context.Context, p pipeline.Pull) ([]github.Push, error) {
	return Get[[]github.Push](ctx, ld, pushesKey(p))
}
