package ledger

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// addresses is the record of the addresses of a project's state: one for each base branch.
type addresses struct {
	Place string           // the last address on any base branch
	Of    map[string]where `json:",omitempty"` // by base branch
}

// where is the address of a project's state on one base branch, with its former addresses.
type where struct {
	Place string
	// Was is the previous address. Before are older addresses, the latest first. They are those at which a pull
	// request still had an apply that was not merged, or a lock, when the state was last moved.
	Was    string   `json:",omitempty"`
	Before []string `json:",omitempty"`
}

// former returns the earlier addresses of the state, the latest first.
func (w where) former() []string { return append([]string{w.Was}, w.Before...) }

// Place sets the address of a run's state to place. It sets the additional addresses as the decision p says:
// see [runs.Address]. base is the name of the base branch.
func Place(ctx context.Context, ld Ledger, r *runs.Run, place string, p admission.Placing, base string) error {
	were := append(slices.Clone(r.Address.Were), r.Address.Place)
	r.Address.Place, r.Address.From, r.Address.Before = place, "", nil
	switch p.Kind {
	case admission.SamePlace:
		at, err := putAddress(ctx, ld, *r, base)
		if err != nil {
			return err
		}
		were = append(were, at.Was)
		former, err := inUse(ctx, ld, *r, at.former())
		if err != nil {
			return err
		}
		if len(former) > 0 {
			r.Address.From, r.Address.Before = former[0], former[1:]
		}
	case admission.MovedPlace:
		r.Address.From = p.From
		all, err := addressOf(ctx, ld, r.Pull.Repo.ID, r.Target())
		if err != nil {
			return err
		}
		at := all.in(base)
		if r.Address.Before, err = inUse(ctx, ld, *r, append([]string{at.Place}, at.former()...)); err != nil {
			return err
		}
	}
	r.Address.Were = nil
	for _, was := range were {
		if was != "" && was != place && !slices.Contains(r.Address.Were, was) {
			r.Address.Were = append(r.Address.Were, was)
		}
	}
	return forget(ctx, ld, r)
}

// FollowMove handles a plan that moves its state, if the base branch has moved the state to another address in
// the meantime. It records that in the run. It returns false if that is not so.
func FollowMove(r *runs.Run, p admission.Placing) bool {
	if p.Kind != admission.MovedPlace || p.From == r.Address.From {
		return false
	}
	r.Address.From, r.Address.Before = p.From, others(*r)
	return true
}

// maxWere is the number of a run's former addresses that are always kept: see [forget]. Each of them is read
// when the pull request ends, and a pull request may name another address with each push.
const maxWere = 16

// forget removes the oldest former addresses of a run, so that at most maxWere remain. It keeps those at which
// the run's pull request has an apply or a lock.
func forget(ctx context.Context, ld Ledger, r *runs.Run) error {
	var own []string
	old := r.Address.Were[:max(0, len(r.Address.Were)-maxWere)]
	for i, name := range namesElsewhere(r.Target(), old...) {
		last, err := lastOf(ctx, ld, r.Pull.Repo.ID, name)
		if err != nil {
			return err
		}
		v, err := reserved(ctx, ld, []string{runs.ReservationKey(r.Pull.Repo.ID, name)})
		if err != nil {
			return err
		}
		if last != nil && last.Number == r.Pull.Number || v != nil && v.Number == r.Pull.Number {
			own = append(own, old[i])
		} else if slices.Contains(others(*r), old[i]) {
			continue // its plan is listed there
		} else if err := unlist(ctx, ld, r.OpenKey(name)); err != nil {
			return err
		}
	}
	r.Address.Were = append(own, r.Address.Were[len(old):]...)
	return nil
}

// putAddress records the address of a run's state as the project's address on a base branch, and returns it. An
// address outside of a bucket is not recorded, because it contains the project's name anyway.
func putAddress(ctx context.Context, ld Ledger, r runs.Run, base string) (now where, err error) {
	if now.Place = r.Address.Place; r.StateName() == r.Target() {
		return now, nil
	}
	all, err := addressOf(ctx, ld, r.Pull.Repo.ID, r.Target())
	was := all.in(base)
	if err != nil || was.Place == r.Address.Place && all.Place == r.Address.Place {
		return was, err
	}
	if now = was; was.Place != r.Address.Place {
		now = where{Place: r.Address.Place, Was: was.Place}
		if now.Before, err = inUse(ctx, ld, r, was.former()); err != nil {
			return now, err
		}
		if err = moveLast(ctx, ld, r, was.Place); err != nil {
			return now, err
		}
	}
	key := runs.AddressKey(r.Pull.Repo.ID, r.Target())
	err = Edit(ctx, ld, key, func(have *addresses) *addresses {
		next := addresses{Place: r.Address.Place, Of: map[string]where{}}
		if have != nil {
			maps.Copy(next.Of, have.Of)
		}
		next.Of[base] = now
		forgetBases(next.Of, base)
		return &next
	})
	return now, err
}

// maxBases is the maximum number of base branches in a record of addresses. A record has a maximum size, and a
// repository may have a branch for each release.
const maxBases = 128

// forgetBases removes the addresses of some base branches, if there are too many. It keeps those of the branch
// base. It begins with addresses that have no former address, because the next plan for the branch records them
// once more.
func forgetBases(of map[string]where, base string) {
	names := slices.Sorted(maps.Keys(of))
	slices.SortStableFunc(names, func(a, b string) int { return min(len(of[a].Was), 1) - min(len(of[b].Was), 1) })
	for _, name := range names {
		if len(of) > maxBases && name != base {
			delete(of, name)
		}
	}
}

// firstAddress records the address of the state to which a run was applied, if no address is recorded for its
// project on the base branch. It keeps a different recorded address, because this pull request may never be
// merged. If the base branch moves the state, the next plan notices it.
func firstAddress(ctx context.Context, ld Ledger, r runs.Run) error {
	if r.StateName() == r.Target() {
		return nil
	}
	all, err := addressOf(ctx, ld, r.Pull.Repo.ID, r.Target())
	if at := all.in(r.Asked.Into).Place; err != nil || at != "" && at != r.Address.Place {
		return err
	}
	_, err = putAddress(ctx, ld, r, r.Asked.Into)
	return err
}

// AdoptLock renames the record of a lock, from the name of a project to the name of its state. The lock was
// recorded before the address of the state was known, and the project was renamed since. r is a run with the
// project's old name.
func AdoptLock(ctx context.Context, ld Ledger, r runs.Run) error {
	if r.StateName() == r.Target() {
		return nil
	}
	v, err := ld.Reservation(ctx, r)
	if err != nil || v == nil || v.Lifted {
		return err
	}
	_, err = ld.Reserve(ctx, r, *v)
	return err
}

// in returns the address on a base branch.
func (a addresses) in(base string) where { return a.Of[base] }

// addressOf returns the recorded addresses of a project's state. target identifies the project. The result is
// empty if there is no record.
func addressOf(ctx context.Context, ld Ledger, repo int64, target string) (addresses, error) {
	return Get[addresses](ctx, ld, runs.AddressKey(repo, target))
}

// moveLast copies the record of an unmerged apply from a state's former address to the new one, because the
// state at the new address contains the objects of that apply. From then on, each of the two records is handled
// separately.
func moveLast(ctx context.Context, ld Ledger, r runs.Run, former string) error {
	if former == "" {
		return nil
	}
	last, err := lastOf(ctx, ld, r.Pull.Repo.ID, runs.StateName(former, r.Target()))
	if err != nil || last == nil || last.Settled {
		return err
	}
	_, err = ld.Change(ctx, r.StateKey(), func(old []byte) ([]byte, error) {
		if old != nil {
			return nil, ErrAsIs
		}
		return pipeline.Encode(last), nil
	})
	return err
}

// inUse returns those former addresses of a run's state that a pull request still uses: it has an apply there
// that is in progress or not merged, or a person's lock. It leaves out addresses that now belong to another
// project.
func inUse(ctx context.Context, ld Ledger, r runs.Run, former []string) (counts []string, err error) {
	for _, place := range former {
		if place == "" || place == r.Address.Place || place == r.Address.From || slices.Contains(counts, place) {
			continue
		}
		there := r
		there.Address.Place, there.Address.From, there.Address.Before = place, "", nil
		if is, err := used(ctx, ld, there); err != nil {
			return nil, err
		} else if is {
			counts = append(counts, place)
		}
	}
	return counts, nil
}

func used(ctx context.Context, ld Ledger, there runs.Run) (bool, error) {
	rec, err := ld.Records.Get(ctx, places.ClaimKey(there.Address.Place))
	if err != nil {
		return false, err
	}
	c, err := places.DecodeClaim(rec.Value)
	if err != nil || c != nil && (c.RepoID != there.Pull.Repo.ID || !c.Of(there.Project, there.Workspace)) {
		return false, err
	}
	name := there.StateName()
	last, err := lastOf(ctx, ld, there.Pull.Repo.ID, name)
	if err != nil || last != nil && !last.Settled {
		return err == nil, err
	}
	v, err := reserved(ctx, ld, []string{runs.ReservationKey(there.Pull.Repo.ID, name)})
	if err != nil || v != nil && !v.Lifted {
		return err == nil, err
	}
	queue, err := ld.Queue(ctx, there)
	return len(queue) > 0, err
}

// OtherPlaces returns all addresses, besides Place, at which the state of a run is or was: see [runs.Address].
func OtherPlaces(r runs.Run) []string {
	further := slices.DeleteFunc(others(r), func(place string) bool { return slices.Contains(r.Address.Were, place) })
	return append(further, r.Address.Were...)
}

// others returns the addresses, besides Place, at which applies and locks matter for the objects of this run.
func others(r runs.Run) []string {
	if r.Address.From == "" {
		return slices.Clone(r.Address.Before)
	}
	return append([]string{r.Address.From}, r.Address.Before...)
}

// namesElsewhere returns the names of the states at the given addresses. It leaves out the name that is made
// from the project itself (target).
func namesElsewhere(target string, places ...string) (names []string) {
	for _, place := range places {
		if place != "" {
			names = append(names, runs.StateName(place, target))
		}
	}
	return names
}

// nameOf returns the name of a run's state: see [runs.StateName]. For a run without a plan, it is made from the
// last known address of the project.
func nameOf(ctx context.Context, ld Ledger, r runs.Run) (string, error) {
	return nameAt(ctx, ld, r.Pull.Repo.ID, r.Address.Place, r.Target())
}

// nameAt returns the name of the state at place, a text from places.Place.String. If place is "", the name is
// made from target, the project.
func nameAt(ctx context.Context, ld Ledger, repo int64, place, target string) (string, error) {
	if place == "" {
		a, err := addressOf(ctx, ld, repo, target)
		if err != nil {
			return "", err
		}
		place = a.Place
	}
	return runs.StateName(place, target), nil
}
