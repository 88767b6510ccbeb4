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
	names, err := namesOf(ctx, ld, r)
	if err != nil {
		return nil, err
	}
	last, err := lastOf(ctx, ld, r.Pull.Repo.ID, names)
	if err != nil {
		return nil, err
	}
	for _, name := range namesBeyond(r.Target(), others(r)...) {
		there, err := lastOf(ctx, ld, r.Pull.Repo.ID, []string{name})
		if err != nil {
			return nil, err
		}
		if there != nil && (last == nil || last.Was(there.Number, there.Head) || !there.Settled && there.Number != r.Pull.Number) {
			last = there
		}
	}
	return last, nil
}

// Applies returns the number of applies by now to the states of the projects that a run depends on, by target; nil if it
// depends on none.
func (ld Ledger) Applies(ctx context.Context, r runs.Run) (map[string]int, error) {
	var out map[string]int
	for _, target := range slices.Sorted(maps.Keys(r.Plan.Reads)) {
		names, err := namesAt(ctx, ld, r.Pull.Repo.ID, "", target)
		if err != nil {
			return nil, err
		}
		last, err := lastOf(ctx, ld, r.Pull.Repo.ID, names)
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

// lastOf reads the last apply to the state with one of some names.
func lastOf(ctx context.Context, ld Ledger, repo int64, names []string) (*runs.LastApply, error) {
	var last *runs.LastApply
	for _, name := range names {
		rec, err := ld.Records.Get(ctx, runs.StateKey(repo, name))
		if err != nil {
			return nil, err
		}
		if last, err = later(last, rec.Value); err != nil || last != nil && !last.Settled {
			return last, err
		}
	}
	return last, nil
}

// later returns the last apply that counts, of that under a state's own name and the value of the record under its project's name, which may
// be a copy: of two the former, unless an earlier version, in the place of this one for a while, has applied something that is in the way.
func later(own *runs.LastApply, value []byte) (*runs.LastApply, error) {
	if value == nil {
		return own, nil
	}
	l, err := decodeLast(value)
	if err != nil || l.StateName != "" || own != nil && (l.Settled || !own.Settled) {
		return own, err
	}
	return l, nil
}

// changeLast changes the last apply to the state of a run, and its copy under the project's name.
func changeLast(ctx context.Context, ld Ledger, r runs.Run, change func(old []byte) ([]byte, error)) error {
	names, err := namesOf(ctx, ld, r)
	if err != nil {
		return err
	}
	return changeLastOf(ctx, ld, r.Pull.Repo.ID, names, change)
}

// changeLastOf is changeLast of the state with one of some names.
func changeLastOf(ctx context.Context, ld Ledger, repo int64, names []string, change func(old []byte) ([]byte, error)) error {
	var second pipeline.Record
	value, err := ld.Change(ctx, runs.StateKey(repo, names[0]), func(old []byte) ([]byte, error) {
		was := old
		if len(names) > 1 {
			var err error
			if second, err = ld.Records.Get(ctx, runs.StateKey(repo, names[1])); err != nil {
				return nil, err
			}
			if was, err = counts(old, second.Value); err != nil {
				return nil, err
			}
		}
		next, err := change(was)
		if errors.Is(err, ErrAsIs) && string(was) != string(old) {
			return was, nil
		}
		return next, err
	})
	if err != nil || len(names) == 1 || value == nil {
		return err
	}
	return copyLast(ctx, ld, second, value, names[0])
}

// counts is the value of the record that counts, of those under the two names of a state.
func counts(own, second []byte) ([]byte, error) {
	var have *runs.LastApply
	if own != nil {
		var err error
		if have, err = decodeLast(own); err != nil {
			return nil, err
		}
	}
	l, err := later(have, second)
	if err != nil || l == have {
		return own, err
	}
	return pipeline.Encode(l), nil
}

// copyLast writes the copy of a last apply. One that another process has written meanwhile stays: that of this version has noted the name
// of its state, and another one counts.
func copyLast(ctx context.Context, ld Ledger, rec pipeline.Record, value []byte, name string) error {
	l, err := decodeLast(value)
	if err != nil {
		return err
	}
	l.StateName = name
	if value = pipeline.Encode(l); string(value) == string(rec.Value) {
		return nil
	}
	if _, err = ld.Records.Put(ctx, rec.Key, value, rec.Version); errors.Is(err, pipeline.ErrConflict) {
		err = nil
	}
	return err
}

// MoveLast records that the base branch has moved the state of a run, in the last apply at the former address, if that is of another
// pull request which is open.
func MoveLast(ctx context.Context, ld Ledger, r runs.Run) error {
	for _, name := range namesBeyond(r.Target(), r.Address.From) {
		err := changeLastOf(ctx, ld, r.Pull.Repo.ID, []string{name}, func(old []byte) ([]byte, error) {
			if old == nil {
				return nil, ErrAsIs
			}
			l, err := decodeLast(old)
			if err != nil {
				return nil, err
			}
			if l.Settled || l.Number == r.Pull.Number || l.Moved == r.Address.Place {
				return nil, ErrAsIs
			}
			l.Moved = r.Address.Place
			return pipeline.Encode(l), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
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
	if err := firstAddress(ctx, ld, r); err != nil {
		return err
	}
	remember := func(old []byte) ([]byte, error) {
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
	}
	if err := changeLast(ctx, ld, r, remember); err != nil || r.Address.From == "" {
		return err
	}
	return changeLastOf(ctx, ld, r.Pull.Repo.ID, namesBeyond(r.Target(), r.Address.From), remember)
}

// Settle records the fate of a pull request that was applied to the state of a run. It returns the last apply, if it was this pull request's.
func (ld Ledger) Settle(ctx context.Context, r runs.Run, number int, fate runs.Fate) (last *runs.LastApply, err error) {
	all, err := SettleAll(ctx, ld, r, number, fate)
	if len(all) > 0 {
		last = &all[0]
	}
	return last, err
}

// SettleAll is Settle for all addresses of the state of a run: see [Beyond]. It returns the last applies that were the pull request's,
// that at the address of the present plan first.
func SettleAll(ctx context.Context, ld Ledger, r runs.Run, number int, fate runs.Fate) (all []runs.LastApply, err error) {
	var found *runs.LastApply
	settle := func(old []byte) ([]byte, error) {
		if found = nil; old == nil {
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
		if found = l; next == *l {
			return nil, ErrAsIs
		}
		if fate == runs.StillOpen {
			next.Applies++
		}
		return pipeline.Encode(next), nil
	}
	if err := changeLast(ctx, ld, r, settle); err != nil {
		return nil, err
	}
	if found != nil {
		all = append(all, *found)
	}
	for _, name := range namesBeyond(r.Target(), Beyond(r)...) {
		if err := changeLastOf(ctx, ld, r.Pull.Repo.ID, []string{name}, settle); err != nil {
			return nil, err
		}
		if found != nil {
			all = append(all, *found)
		}
	}
	return all, nil
}
