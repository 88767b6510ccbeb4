package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A UnappliedMerge is a project of a merge that is not applied.
type UnappliedMerge struct {
	Pull  pipeline.Pull // the one that is merged
	Merge string        // its commit
	// Attempt and Try are those of the run when it was left: another plan or apply since makes it another question.
	Attempt, Try int
	// By is the number of the pull request whose apply has finished it; 0 if none has.
	By int `json:",omitempty"`
}

// unappliedDir is the directory of the keys of the rests of merges for the state with a name: see [runs.StateName].
func unappliedDir(repo int64, name string) string { return fmt.Sprintf("left/%d/%s", repo, name) }

// unappliedKey is the key of the rest of a pull request's merge for the state with a name.
func unappliedKey(p pipeline.Pull, name string) string {
	return fmt.Sprintf("%s/%d", unappliedDir(p.Repo.ID, name), p.Number)
}

// Of reports whether l is about the present plan and apply of a run.
func (l UnappliedMerge) Of(r runs.Run) bool {
	return l.Merge != "" && l.Pull.Number == r.Pull.Number && l.Attempt == r.Asked.Attempt && l.Try == r.Asked.Try
}

// Finishes reports whether the outcome of a run may have finished what the merge of another pull request has left of its project:
// it is applied, and its plan was of all of it. Its base branch has to have that merge, too.
func (l UnappliedMerge) Finishes(r runs.Run) bool {
	return r.Phase == runs.Applied && runs.PlansEverything(r) && (l.By == 0 || l.By == r.Pull.Number) && l.Pull.Number != r.Pull.Number
}

// PutUnapplied lists a run among those that merges have left unapplied. One that is listed for the same plan and apply stays as it is.
func PutUnapplied(ctx context.Context, ld Ledger, r runs.Run, merge string) error {
	name, err := nameOf(ctx, ld, r)
	if err != nil {
		return err
	}
	now := UnappliedMerge{Pull: r.Pull, Merge: merge, Attempt: r.Asked.Attempt, Try: r.Asked.Try}
	return changeUnapplied(ctx, ld, unappliedKey(r.Pull, name), func(was UnappliedMerge) UnappliedMerge {
		if was.Of(r) {
			return was
		}
		return now
	})
}

// FinishUnapplied records that the apply of a run of another pull request has finished the rest of a merge.
func FinishUnapplied(ctx context.Context, ld Ledger, l UnappliedMerge, by runs.Run) error {
	name, err := nameOf(ctx, ld, by)
	if err != nil {
		return err
	}
	return changeUnapplied(ctx, ld, unappliedKey(l.Pull, name), func(was UnappliedMerge) UnappliedMerge {
		if was == l {
			was.By = by.Pull.Number
		}
		return was
	})
}

func changeUnapplied(ctx context.Context, ld Ledger, key string, change func(UnappliedMerge) UnappliedMerge) error {
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
func LeftOf(ctx context.Context, ld Ledger, r runs.Run) (UnappliedMerge, error) {
	name, err := nameOf(ctx, ld, r)
	if err != nil {
		return UnappliedMerge{}, err
	}
	key := unappliedKey(r.Pull, name)
	rec, err := ld.Records.Get(ctx, key)
	if err != nil {
		return UnappliedMerge{}, err
	}
	l, err := decodeLeft(key, rec.Value)
	if err != nil || !l.Of(r) {
		return UnappliedMerge{}, err
	}
	return l, nil
}

// Lefts returns the rests of merges for the state of a run.
func Lefts(ctx context.Context, ld Ledger, r runs.Run) (out []UnappliedMerge, err error) {
	name, err := nameOf(ctx, ld, r)
	if err != nil {
		return nil, err
	}
	list, err := ld.Records.List(ctx, unappliedDir(r.Pull.Repo.ID, name))
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
	return out, nil
}

func decodeLeft(key string, value []byte) (l UnappliedMerge, err error) {
	if len(value) == 0 {
		return l, nil
	}
	if err := json.Unmarshal(value, &l); err != nil {
		return l, fmt.Errorf("read %s: the record is damaged: %w", key, err)
	}
	return l, nil
}

// Copied is the project of a pull request, by its label, that has a copy of the state of a run which it removes: the lineage is the same, and
// the address another one. "" for none. all are the runs of the pull request.
func Copied(r runs.Run, all []Versioned) string {
	for _, x := range all {
		if r.Spec.Removed && !x.Spec.Removed && x.Spec.Head == r.Spec.Head && x.Address.Place != r.Address.Place && x.Plan.State.Lineage == r.Plan.State.Lineage && r.Plan.State.Lineage != "" {
			return runs.Label(x.Run)
		}
	}
	return ""
}
