package ledger

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Reopen marks the applies of a reopened pull request as not merged. The base branch does not contain their
// changes, so an apply of another pull request would revert them.
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

// LastApply returns the last apply to the state of a run, with the pull request that made it; nil if there is
// none.
func (ld Ledger) LastApply(ctx context.Context, r runs.Run) (*runs.LastApply, error) {
	name, err := nameOf(ctx, ld, r)
	if err != nil {
		return nil, err
	}
	last, err := lastOf(ctx, ld, r.Pull.Repo.ID, name)
	if err != nil {
		return nil, err
	}
	for _, name := range namesElsewhere(r.Target(), others(r)...) {
		there, err := lastOf(ctx, ld, r.Pull.Repo.ID, name)
		if err != nil {
			return nil, err
		}
		if there != nil && (last == nil || last.IsOf(there.Number, there.Head) || !there.Settled && there.Number != r.Pull.Number) {
			last = there
		}
	}
	return last, nil
}

// Applies returns how often the states of the projects on which a run depends have been applied until now, by
// target. It returns nil if the run depends on none.
func (ld Ledger) Applies(ctx context.Context, r runs.Run) (map[string]int, error) {
	var out map[string]int
	for _, target := range slices.Sorted(maps.Keys(r.Plan.Reads)) {
		name, err := nameAt(ctx, ld, r.Pull.Repo.ID, "", target)
		if err != nil {
			return nil, err
		}
		last, err := lastOf(ctx, ld, r.Pull.Repo.ID, name)
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

// lastOf returns the last apply to the state with the given name; nil if there is none.
func lastOf(ctx context.Context, ld Ledger, repo int64, name string) (*runs.LastApply, error) {
	return get[runs.LastApply](ctx, ld, runs.StateKey(repo, name))
}

// changeLast changes the record of the last apply to the state of a run.
func changeLast(ctx context.Context, ld Ledger, r runs.Run, edit func(have *runs.LastApply) *runs.LastApply) error {
	name, err := nameOf(ctx, ld, r)
	if err != nil {
		return err
	}
	return changeLastOf(ctx, ld, r.Pull.Repo.ID, name, edit)
}

// changeLastOf is like changeLast, for the state with the given name.
func changeLastOf(ctx context.Context, ld Ledger, repo int64, name string, edit func(have *runs.LastApply) *runs.LastApply) error {
	return Edit(ctx, ld, runs.StateKey(repo, name), edit)
}

// MoveLast handles a state that the base branch has moved. If another open pull request has made the last apply
// at the former address, it sets the new address in the record of that apply.
func MoveLast(ctx context.Context, ld Ledger, r runs.Run) error {
	for _, name := range namesElsewhere(r.Target(), r.Address.From) {
		err := changeLastOf(ctx, ld, r.Pull.Repo.ID, name, func(have *runs.LastApply) *runs.LastApply {
			if have == nil || have.Settled || have.Number == r.Pull.Number {
				return nil
			}
			have.Moved = r.Address.Place
			return have
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Remember records an apply to the state of a run, and counts it. It replaces the record of an earlier apply;
// the lock of the state has ordered them. If this apply is already recorded, its record is kept, because it may
// contain what became of the pull request.
func (ld Ledger) Remember(ctx context.Context, r runs.Run, last runs.LastApply) error {
	if err := firstAddress(ctx, ld, r); err != nil {
		return err
	}
	remember := func(have *runs.LastApply) *runs.LastApply {
		n := 0
		if have != nil {
			settled := have.WithFate(runs.StillOpen)
			settled.Applies, settled.Audited = 0, last.Audited
			if settled == last {
				again := *have
				again.Audited = last.Audited
				return &again
			}
			n = have.Applies
		}
		next := last
		next.Applies = n + 1
		return &next
	}
	if err := changeLast(ctx, ld, r, remember); err != nil || r.Address.From == "" {
		return err
	}
	return changeLastOf(ctx, ld, r.Pull.Repo.ID, runs.StateName(r.Address.From, r.Target()), remember)
}

// Settle records what has become of a pull request that was applied to the state of a run (fate): for example,
// it was merged. It returns the last apply to that state if this pull request made it; otherwise nil.
func (ld Ledger) Settle(ctx context.Context, r runs.Run, number int, fate runs.Fate) (last *runs.LastApply, err error) {
	all, err := SettleAll(ctx, ld, r, number, fate)
	if len(all) > 0 {
		last = &all[0]
	}
	return last, err
}

// SettleAll is like Settle, for all addresses of a run's state: see [OtherPlaces]. It returns the last applies
// that this pull request made. The one at the address of the present plan is the first.
func SettleAll(ctx context.Context, ld Ledger, r runs.Run, number int, fate runs.Fate) (all []runs.LastApply, err error) {
	var found *runs.LastApply
	settle := func(have *runs.LastApply) *runs.LastApply {
		if found = nil; have == nil || have.Number != number { // none, or another pull request was applied since
			return nil
		}
		next := have.WithFate(fate)
		if found = have; next == *have {
			return nil
		}
		if fate == runs.StillOpen {
			next.Applies++
		}
		return &next
	}
	if err := changeLast(ctx, ld, r, settle); err != nil {
		return nil, err
	}
	if found != nil {
		all = append(all, *found)
	}
	for _, name := range namesElsewhere(r.Target(), OtherPlaces(r)...) {
		if err := changeLastOf(ctx, ld, r.Pull.Repo.ID, name, settle); err != nil {
			return nil, err
		}
		if found != nil {
			all = append(all, *found)
		}
	}
	return all, nil
}
