package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

func pushesKey(p pipeline.Pull) string { return fmt.Sprintf("pushed/%d/%d", p.Repo.ID, p.Number) }

// Pushed records a push to a pull request, as its webhook reported it. A user who has pushed once stays a
// contributor.
func (ld Ledger) Pushed(ctx context.Context, p pipeline.Pull, x github.Push) error {
	_, err := ld.Change(ctx, pushesKey(p), func(old []byte) ([]byte, error) {
		all, err := decodePushes(pushesKey(p), old)
		if err != nil {
			return nil, err
		}
		if slices.Contains(all, x) {
			return nil, ErrAsIs
		}
		return pipeline.Encode(append(all, x)), nil
	})
	return err
}

// Pushes returns the recorded pushes to a pull request, in the order of their webhooks.
func (ld Ledger) Pushes(ctx context.Context, p pipeline.Pull) ([]github.Push, error) {
	rec, err := ld.Records.Get(ctx, pushesKey(p))
	if err != nil {
		return nil, err
	}
	return decodePushes(rec.Key, rec.Value)
}

func decodePushes(key string, value []byte) (all []github.Push, err error) {
	if len(value) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(value, &all); err != nil {
		return nil, fmt.Errorf("read %s: the record is damaged: %w", key, err)
	}
	return all, nil
}
