package ledger

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// An UnappliedMerge is a project whose changes were merged, but are not applied.
type UnappliedMerge struct {
	Pull  pipeline.Pull // the merged pull request
	Merge string        // the commit of the merge
	// Attempt and Try are the numbers of the run's plan and apply when the merge left it unapplied. After
	// another plan or apply, this record no longer matters.
	Attempt, Try int
	// By is the number of another pull request whose apply has made the changes; 0 if there is none.
	By int `json:",omitempty"`
}

// unappliedDir returns the beginning of the keys of all unapplied merges for one state. name is the state's
// name: see [runs.StateName].
func unappliedDir(repo int64, name string) string { return fmt.Sprintf("left/%d/%s", repo, name) }

// unappliedKey returns the key of a pull request's unapplied merge for the state with the given name.
func unappliedKey(p pipeline.Pull, name string) string {
	return fmt.Sprintf("%s/%d", unappliedDir(p.Repo.ID, name), p.Number)
}

// Of reports whether l is about the present plan and apply of a run.
func (l UnappliedMerge) Of(r runs.Run) bool {
	return l.Merge != "" && l.Pull.Number == r.Pull.Number && l.Attempt == r.Asked.Attempt && l.Try == r.Asked.Try
}

// Finishes reports whether the apply of a run may have made the changes that the merge of another pull request
// left unapplied. It does if the run is applied and its plan left nothing out. The caller must also check that
// the base commit of the run contains that merge.
func (l UnappliedMerge) Finishes(r runs.Run) bool {
	return r.Phase == runs.Applied && runs.PlansEverything(r) && (l.By == 0 || l.By == r.Pull.Number) && l.Pull.Number != r.Pull.Number
}

// PutUnapplied records that the merge of a run left it unapplied. If there is already a record for the same
// plan and apply, that record is kept.
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

// FinishUnapplied records that an apply of another pull request (by) has made the changes that a merge left
// unapplied (l).
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

func changeUnapplied(ctx context.Context, ld Ledger, key string, edit func(UnappliedMerge) UnappliedMerge) error {
	return Edit(ctx, ld, key, func(have *UnappliedMerge) *UnappliedMerge {
		var was UnappliedMerge
		if have != nil {
			was = *have
		}
		next := edit(was)
		if next == was {
			return nil
		}
		return &next
	})
}

// UnappliedOf returns the record that the merge left a run unapplied. It returns the zero value if there is
// none for the present plan and apply.
func UnappliedOf(ctx context.Context, ld Ledger, r runs.Run) (UnappliedMerge, error) {
	name, err := nameOf(ctx, ld, r)
	if err != nil {
		return UnappliedMerge{}, err
	}
	l, err := Get[UnappliedMerge](ctx, ld, unappliedKey(r.Pull, name))
	if err != nil || !l.Of(r) {
		return UnappliedMerge{}, err
	}
	return l, nil
}

// UnappliedMerges returns the unapplied merges for the state of a run.
func UnappliedMerges(ctx context.Context, ld Ledger, r runs.Run) (out []UnappliedMerge, err error) {
	name, err := nameOf(ctx, ld, r)
	if err != nil {
		return nil, err
	}
	return List[UnappliedMerge](ctx, ld, unappliedDir(r.Pull.Repo.ID, name))
}

// Copied returns the label of a project in the pull request whose state is a copy of the state of r, a run
// whose project the pull request removes. It returns "" if there is none. A copy has the same lineage at
// another address. all are the runs of the pull request.
func Copied(r runs.Run, all []Versioned) string {
	for _, x := range all {
		if r.Spec.Removed && !x.Spec.Removed && x.Spec.Head == r.Spec.Head && x.Address.Place != r.Address.Place && x.Plan.State.Lineage == r.Plan.State.Lineage && r.Plan.State.Lineage != "" {
			return runs.Label(x.Run)
		}
	}
	return ""
}
