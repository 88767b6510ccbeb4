package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// ListPlan adds the plan of a run to the lists of open plans: that of its state, and those of the projects on
// which it depends. Call it before the plan is written into the run's record. So no plan is missing in the
// lists.
func (ld Ledger) ListPlan(ctx context.Context, r runs.Run, author string) error {
	o := runs.Open{Pull: r.Pull, Author: author}
	if r.StateName() != r.Target() {
		o.Target = r.Target()
	}
	for _, name := range append([]string{r.StateName()}, namesElsewhere(r.Target(), others(r)...)...) {
		if err := list(ctx, ld, r.OpenKey(name), o); err != nil {
			return err
		}
	}
	for _, target := range slices.Sorted(maps.Keys(r.Plan.Reads)) {
		if err := list(ctx, ld, runs.ReaderKey(r, target), runs.Open{Pull: r.Pull, Author: author, Target: r.Target()}); err != nil {
			return err
		}
	}
	return nil
}

func list(ctx context.Context, ld Ledger, key string, o runs.Open) error {
	entry := pipeline.Encode(o)
	_, err := ld.Change(ctx, key, func(old []byte) ([]byte, error) {
		if string(old) == string(entry) {
			return nil, ErrAsIs
		}
		return entry, nil
	})
	return err
}

// UnlistPlan removes a run from the lists of [Ledger.ListPlan].
func (ld Ledger) UnlistPlan(ctx context.Context, r runs.Run) error {
	for _, target := range slices.Sorted(maps.Keys(r.Plan.Reads)) {
		if err := unlist(ctx, ld, runs.ReaderKey(r, target)); err != nil {
			return err
		}
	}
	name, err := nameOf(ctx, ld, r)
	if err != nil {
		return err
	}
	for _, name := range append([]string{name}, namesElsewhere(r.Target(), OtherPlaces(r)...)...) {
		if err := unlist(ctx, ld, r.OpenKey(name)); err != nil {
			return err
		}
	}
	return nil
}

func unlist(ctx context.Context, ld Ledger, key string) error {
	rec, err := ld.Records.Get(ctx, key)
	if err != nil || rec.Version == "" {
		return err
	}
	err = ld.Records.Delete(ctx, rec.Key, rec.Version)
	if errors.Is(err, pipeline.ErrConflict) {
		err = nil // listed again since, or gone
	}
	return err
}

// OpenPlans returns the open plans of a state. place is the state's address; "" if it is not known. target
// identifies the project, as in messages. further are additional addresses of the state: see [OtherPlaces].
func (ld Ledger) OpenPlans(ctx context.Context, repo int64, place, target string, further ...string) (all []runs.Open, err error) {
	name, err := nameAt(ctx, ld, repo, place, target)
	if err != nil {
		return nil, err
	}
	for _, name := range append([]string{name}, namesElsewhere(target, further...)...) {
		some, err := openPlansIn(ctx, ld, runs.OpenDir(repo, name))
		if err != nil {
			return nil, err
		}
		for _, o := range some {
			if o.Target == "" {
				o.Target = target
			}
			if !slices.Contains(all, o) {
				all = append(all, o)
			}
		}
	}
	return all, nil
}

// Readers returns the open plans of projects that depend on the project that target identifies.
func (ld Ledger) Readers(ctx context.Context, repo int64, target string) ([]runs.Open, error) {
	return openPlansIn(ctx, ld, runs.ReaderDir(repo, target))
}

func openPlansIn(ctx context.Context, ld Ledger, dir string) ([]runs.Open, error) {
	return List[runs.Open](ctx, ld, dir)
}
