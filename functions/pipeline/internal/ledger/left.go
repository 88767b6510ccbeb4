package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// PutLeft lists a run among those that merges have left unapplied. One that is listed for the same plan and apply stays as it is.
func PutLeft(ctx context.Context, ld Ledger, r runs.Run, merge string) error {
	names, err := namesOf(ctx, ld, r)
	if err != nil {
		return err
	}
	now := runs.Left{Pull: r.Pull, Merge: merge, Attempt: r.Attempt, Try: r.Try}
	return changeLeft(ctx, ld, runs.LeftKey(r.Pull, names[0]), func(was runs.Left) runs.Left {
		if was.Of(r) {
			return was
		}
		return now
	})
}

// FinishLeft records that the apply of a run of another pull request has finished the rest of a merge.
func FinishLeft(ctx context.Context, ld Ledger, l runs.Left, by runs.Run) error {
	names, err := namesOf(ctx, ld, by)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := changeLeft(ctx, ld, runs.LeftKey(l.Pull, name), func(was runs.Left) runs.Left {
			if was == l {
				was.By = by.Pull.Number
			}
			return was
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func changeLeft(ctx context.Context, ld Ledger, key string, change func(runs.Left) runs.Left) error {
	_, err := ld.Change(ctx, key, func(old []byte) ([]byte, error) {
		was, err := decodeLeft(key, old)
		if err != nil {
			return nil, err
		}
		next := change(was)
		if next == was {
			return nil, ErrAsIs
		}
		return pipeline.Encode(next), nil
	})
	return err
}

// LeftOf returns the entry of a run, zero if there is none for its present plan and apply.
func LeftOf(ctx context.Context, ld Ledger, r runs.Run) (runs.Left, error) {
	names, err := namesOf(ctx, ld, r)
	if err != nil {
		return runs.Left{}, err
	}
	for _, name := range names {
		key := runs.LeftKey(r.Pull, name)
		rec, err := ld.Records.Get(ctx, key)
		if err != nil {
			return runs.Left{}, err
		}
		l, err := decodeLeft(key, rec.Value)
		if err != nil || l.Of(r) {
			return l, err
		}
	}
	return runs.Left{}, nil
}

// Lefts returns the rests of merges for the state of a run.
func Lefts(ctx context.Context, ld Ledger, r runs.Run) (out []runs.Left, err error) {
	names, err := namesOf(ctx, ld, r)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		list, err := ld.Records.List(ctx, runs.LeftDir(r.Pull.Repo.ID, name))
		if err != nil {
			return nil, fmt.Errorf("list what merges have left: %w", err)
		}
		for _, rec := range list {
			l, err := decodeLeft(rec.Key, rec.Value)
			if err != nil {
				return nil, err
			}
			out = append(out, l)
		}
	}
	return out, nil
}

func decodeLeft(key string, value []byte) (l runs.Left, err error) {
	if len(value) == 0 {
		return l, nil
	}
	if err := json.Unmarshal(value, &l); err != nil {
		return l, fmt.Errorf("read %s: the record is damaged: %w", key, err)
	}
	return l, nil
}
