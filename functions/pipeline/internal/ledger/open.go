package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Open lists the plan of a run among the open ones of its state. It comes before the run's record
// has the plan, so that none is missed.
func (ld Ledger) Open(ctx context.Context, r runs.Run, author string) error {
	entry := pipeline.Encode(runs.Open{Pull: r.Pull, Author: author})
	_, err := ld.Change(ctx, r.OpenKey(), func(old []byte) ([]byte, error) {
		if string(old) == string(entry) {
			return nil, ErrAsIs
		}
		return entry, nil
	})
	return err
}

// Shut takes a run off the list.
func (ld Ledger) Shut(ctx context.Context, r runs.Run) error {
	rec, err := ld.Records.Get(ctx, r.OpenKey())
	if err != nil || rec.Version == "" {
		return err
	}
	err = ld.Records.Delete(ctx, rec.Key, rec.Version)
	if errors.Is(err, pipeline.ErrConflict) {
		err = nil // listed anew since, or gone
	}
	return err
}

// Opens returns the list for the state of a project: target names it, as in messages.
func (ld Ledger) Opens(ctx context.Context, repo int64, target string) ([]runs.Open, error) {
	list, err := ld.Records.List(ctx, runs.OpenDir(repo, target))
	if err != nil {
		return nil, fmt.Errorf("list open plans: %w", err)
	}
	var out []runs.Open
	for _, rec := range list {
		var o runs.Open
		if err := json.Unmarshal(rec.Value, &o); err != nil {
			return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
		out = append(out, o)
	}
	return out, nil
}
