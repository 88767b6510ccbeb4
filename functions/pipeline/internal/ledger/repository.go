package ledger

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// States has what is known about the states of a repository, for people who read about it. Places and Drifts are by
// target: see [runs.ID.Target]. The other maps are by the name of the state: see [runs.StateName].
type States struct {
	Places map[string]string // the last address on any base branch
	Drifts map[string]Drift
	Last   map[string]runs.LastApply
	Locks  map[string]runs.Reservation // without those that are lifted
	Queues map[string][]runs.Turn      // without those that are over
}

// StatesOf returns what is known about the states of a repository. It makes five requests at the same time, and one
// for each apply in a queue.
func StatesOf(ctx context.Context, ld Ledger, repo int64) (s States, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		s.Places, err = PlacesOf(ctx, ld, repo)
		return err
	})
	g.Go(func() (err error) {
		s.Drifts, err = byName[Drift](ctx, ld, "drift", repo)
		_, round, _ := strings.Cut(driftRoundKey(repo), fmt.Sprintf("/%d/", repo))
		delete(s.Drifts, round)
		return err
	})
	g.Go(func() (err error) {
		s.Last, err = byName[runs.LastApply](ctx, ld, "state", repo)
		return err
	})
	g.Go(func() (err error) {
		s.Locks, err = byName[runs.Reservation](ctx, ld, "lock", repo)
		for name, v := range s.Locks {
			if v.Lifted {
				delete(s.Locks, name)
			}
		}
		return err
	})
	g.Go(func() (err error) {
		s.Queues, err = waiting(ctx, ld, repo)
		return err
	})
	return s, g.Wait()
}

// PlacesOf returns the last address of the state of each target of a repository. If a project was renamed, its state
// belongs to its new name only.
func PlacesOf(ctx context.Context, ld Ledger, repo int64) (map[string]string, error) {
	all, err := byName[addresses](ctx, ld, "address", repo)
	if err != nil {
		return nil, err
	}
	out, of := map[string]string{}, map[string][]string{}
	for target, a := range all {
		out[target], of[a.Place] = a.Place, append(of[a.Place], target)
	}
	for place, targets := range of {
		if len(targets) == 1 || place == "" {
			continue
		}
		rec, err := ld.Records.Get(ctx, places.ClaimKey(place))
		if err != nil {
			return nil, err
		}
		c, err := places.DecodeClaim(rec.Value)
		if err != nil || c == nil {
			continue
		}
		for _, target := range targets {
			if !c.Of(runs.ProjectOf(target), runs.WorkspaceOf(target)) {
				delete(out, target)
			}
		}
	}
	return out, nil
}

// waiting returns the queues of a repository's states, without the applies that no longer wait.
func waiting(ctx context.Context, ld Ledger, repo int64) (map[string][]runs.Turn, error) {
	all, err := byName[[]runs.Turn](ctx, ld, "queue", repo)
	if err != nil {
		return nil, err
	}
	for name, queue := range all {
		var still []runs.Turn
		for _, t := range queue {
			target := t.Target
			if target == "" {
				target = name
			}
			s, err := ld.Read(ctx, t.Pull.Runs()+"/"+target)
			if err != nil {
				return nil, err
			}
			if !t.Over(s.Run) {
				still = append(still, t)
			}
		}
		all[name] = still
	}
	return all, nil
}

// byName returns the values of a repository's records in a collection, by the last segment of their keys.
func byName[T any](ctx context.Context, ld Ledger, collection string, repo int64) (map[string]T, error) {
	dir := fmt.Sprintf("%s/%d", collection, repo)
	list, err := ld.Records.List(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	out := map[string]T{}
	for _, rec := range list {
		v, err := decode[T](rec)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out[strings.TrimPrefix(rec.Key, dir+"/")] = *v
		}
	}
	return out, nil
}
