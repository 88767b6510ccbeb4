package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// PutLeft lists a run among those that merges have left unapplied, by its project and by the address of its state. One that is listed
// for the same plan and apply stays as it is.
func PutLeft(ctx context.Context, ld Ledger, r runs.Run, merge string) error {
	now := runs.Left{Pull: r.Pull, Merge: merge, Attempt: r.Attempt, Try: r.Try}
	if dir := runs.LeftAt(r); dir != "" {
		at := now
		at.Target = r.Target()
		err := changeLeft(ctx, ld, leftIn(dir, r.Pull), func(runs.Left) runs.Left { return at })
		if err != nil {
			return err
		}
	}
	return changeLeft(ctx, ld, runs.LeftKey(r.Pull, r.Target()), func(was runs.Left) runs.Left {
		if was.Of(r) {
			return was
		}
		return now
	})
}

// FinishLeft records that the apply of a run, of another pull request, has finished the rest of a merge for a project.
func FinishLeft(ctx context.Context, ld Ledger, l runs.Left, by runs.Run) error {
	finish := func(was runs.Left) runs.Left {
		same := l
		if same.Target, same.By = was.Target, was.By; was == same && was.By == 0 {
			was.By = by.Pull.Number
		}
		return was
	}
	if err := changeLeft(ctx, ld, runs.LeftKey(l.Pull, l.Target), finish); err != nil || runs.LeftAt(by) == "" {
		return err
	}
	return changeLeft(ctx, ld, leftIn(runs.LeftAt(by), l.Pull), finish)
}

// leftIn is the key of the entry of a pull request in a directory.
func leftIn(dir string, p pipeline.Pull) string { return fmt.Sprintf("%s/%d", dir, p.Number) }

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
	key := runs.LeftKey(r.Pull, r.Target())
	rec, err := ld.Records.Get(ctx, key)
	if err != nil {
		return runs.Left{}, err
	}
	l, err := decodeLeft(key, rec.Value)
	if err != nil || !l.Of(r) {
		return runs.Left{}, err
	}
	return l, nil
}

// Lefts returns the rests of merges for the project of a run, and for the state that it has, by whatever name. Each has its Target.
func Lefts(ctx context.Context, ld Ledger, r runs.Run) ([]runs.Left, error) {
	dirs := []string{runs.LeftDir(r.Pull.Repo.ID, r.Target())}
	if at := runs.LeftAt(r); at != "" {
		dirs = append(dirs, at)
	}
	var out []runs.Left
	for i, dir := range dirs {
		list, err := ld.Records.List(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("list what merges have left: %w", err)
		}
		for _, rec := range list {
			l, err := decodeLeft(rec.Key, rec.Value)
			if err != nil {
				return nil, err
			}
			if i > 0 && l.Target == r.Target() {
				continue
			}
			l.Target = cmp.Or(l.Target, r.Target())
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
