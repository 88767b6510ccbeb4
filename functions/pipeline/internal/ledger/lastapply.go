package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Reopen undoes the settling at the close of a pull request: the base branch lacks its applied
// changes, and another apply would revert them.
func (ld Ledger) Reopen(ctx context.Context, p pipeline.Pull) error {
	all, err := ld.Runs(ctx, p)
	if err != nil {
		return err
	}
	for _, s := range all {
		if _, err := ld.Settle(ctx, s.Run, s.Pull.Number, runs.StillOpen); err != nil {
			return err
		}
	}
	return nil
}

// LastApply reads which pull request was last applied to the state of a run; nil if
// none was.
func (ld Ledger) LastApply(ctx context.Context, r runs.Run) (*runs.LastApply, error) {
	return lastOf(ctx, ld, r.StateKey())
}

// Applies returns the number of applies by now to the states of the projects that a run depends on, by target; nil if it
// depends on none.
func (ld Ledger) Applies(ctx context.Context, r runs.Run) (map[string]int, error) {
	var out map[string]int
	for _, target := range slices.Sorted(maps.Keys(r.Reads)) {
		last, err := lastOf(ctx, ld, runs.StateKey(r.Pull.Repo.ID, target))
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[string]int{}
		}
		out[target] = last.Count()
	}
	return out, nil
}

func lastOf(ctx context.Context, ld Ledger, key string) (*runs.LastApply, error) {
	rec, err := ld.Records.Get(ctx, key)
	if err != nil || rec.Version == "" {
		return nil, err
	}
	return decodeLast(rec.Value)
}

func decodeLast(value []byte) (*runs.LastApply, error) {
	var l runs.LastApply
	if err := json.Unmarshal(value, &l); err != nil {
		return nil, fmt.Errorf("read the last apply: the record is damaged: %w", err)
	}
	return &l, nil
}

// Remember writes which pull request was last applied, and counts it. Whoever applied later
// wins; the lock of the state has put them in order. One that is remembered already stays as
// it is: it may be settled.
func (ld Ledger) Remember(ctx context.Context, r runs.Run, last runs.LastApply) error {
	_, err := ld.Change(ctx, r.StateKey(), func(old []byte) ([]byte, error) {
		n := 0
		if old != nil {
			have, err := decodeLast(old)
			if err != nil {
				return nil, err
			}
			settled := have.As(runs.StillOpen)
			settled.Applies = 0
			if settled == last {
				return nil, ErrAsIs
			}
			n = have.Applies
		}
		next := last
		next.Applies = n + 1
		return pipeline.Encode(next), nil
	})
	return err
}

// Settle records the fate of a pull request that was applied to the state of a run. It returns the last apply, if it was this pull request's.
func (ld Ledger) Settle(ctx context.Context, r runs.Run, number int, fate runs.Fate) (last *runs.LastApply, err error) {
	_, err = ld.Change(ctx, r.StateKey(), func(old []byte) ([]byte, error) {
		if last = nil; old == nil {
			return nil, ErrAsIs
		}
		l, err := decodeLast(old)
		if err != nil {
			return nil, err
		}
		if l.Number != number {
			return nil, ErrAsIs // another one was applied since
		}
		next := l.As(fate)
		if last = l; next == *l {
			return nil, ErrAsIs
		}
		if fate == runs.StillOpen {
			next.Applies++
		}
		return pipeline.Encode(next), nil
	})
	return last, err
}
