package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Open lists the plan of a run among the open ones of its state, and of those of the projects that it depends on. It comes before the run's record
// has the plan, so that none is missed.
func (ld Ledger) Open(ctx context.Context, r runs.Run, author string) error {
	o := runs.Open{Pull: r.Pull, Author: author}
	if r.StateName() != r.Target() {
		o.Target = r.Target()
	}
	for _, name := range append([]string{r.StateName()}, namesBeyond(r.Target(), others(r)...)...) {
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

// Shut takes a run off the lists.
func (ld Ledger) Shut(ctx context.Context, r runs.Run) error {
	for _, target := range slices.Sorted(maps.Keys(r.Plan.Reads)) {
		if err := unlist(ctx, ld, runs.ReaderKey(r, target)); err != nil {
			return err
		}
	}
	name, err := nameOf(ctx, ld, r)
	if err != nil {
		return err
	}
	for _, name := range append([]string{name}, namesBeyond(r.Target(), Beyond(r)...)...) {
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
		err = nil // listed anew since, or gone
	}
	return err
}

// Opens returns the list for a state, each with its target: place is its address in a plan, "" if that is not known, and target
// names its project, as in messages. further are other addresses of that state: see [Beyond].
func (ld Ledger) Opens(ctx context.Context, repo int64, place, target string, further ...string) (all []runs.Open, err error) {
	name, err := nameAt(ctx, ld, repo, place, target)
	if err != nil {
		return nil, err
	}
	for _, name := range append([]string{name}, namesBeyond(target, further...)...) {
		some, err := opensIn(ctx, ld, runs.OpenDir(repo, name))
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

// Readers returns the list of plans of projects that depend on one: target names that.
func (ld Ledger) Readers(ctx context.Context, repo int64, target string) ([]runs.Open, error) {
	return opensIn(ctx, ld, runs.ReaderDir(repo, target))
}

func opensIn(ctx context.Context, ld Ledger, dir string) ([]runs.Open, error) {
	list, err := ld.Records.List(ctx, dir)
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
