package ledger

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// earlier is the finding of a version that knows a project's name alone: the number of the last apply, if it is in the way, and that of a lock.
func earlier(t *testing.T, ld Ledger, r runs.Run) (applied, locked int) {
	t.Helper()
	rec, err := ld.Records.Get(t.Context(), runs.StateKey(r.Pull.Repo.ID, r.Target()))
	if err != nil {
		t.Fatal(err)
	}
	if rec.Version != "" {
		last, err := decodeLast(rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !last.Settled {
			applied = last.Number
		}
	}
	if rec, err = ld.Records.Get(t.Context(), runs.ReservationKey(r.Pull.Repo.ID, r.Target())); err != nil {
		t.Fatal(err)
	}
	if rec.Version != "" {
		v, err := decodeReservation(rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !v.Lifted {
			locked = v.Number
		}
	}
	return applied, locked
}

func put(t *testing.T, ld Ledger, key string, value any) {
	t.Helper()
	_, err := ld.Change(t.Context(), key, func([]byte) ([]byte, error) { return pipeline.Encode(value), nil })
	if err != nil {
		t.Fatal(err)
	}
}

// TestEarlierVersionBeside holds that a version which knows a state by its project's name alone, beside this one while it is
// deployed, or in its place again, finds who was applied to it and who has locked it, and that this version finds the same of that one.
func TestEarlierVersionBeside(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ld := Ledger{Records: &memory.Store{}}
	r := net
	r.Address.Place = "s3://states/net"
	expect := func(what string, applied, locked int) {
		t.Helper()
		if a, l := earlier(t, ld, r); a != applied || l != locked {
			t.Errorf("%s: an earlier version finds an apply of #%d and a lock of #%d, want #%d and #%d", what, a, l, applied, locked)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(ld.Remember(ctx, r, runs.LastApply{Number: 7, Head: "h"}))
	_, err := ld.Reserve(ctx, r, runs.Reservation{Number: 7})
	check(err)
	expect("applied and locked", 7, 7)

	_, err = ld.LiftReservation(ctx, r, 7)
	check(err)
	check(ld.DropReservation(ctx, r, 7))
	_, err = ld.Settle(ctx, r, 7, runs.Merged)
	check(err)
	expect("merged", 0, 0)

	// Another one is applied, and locked, by the earlier version.
	put(t, ld, runs.StateKey(5, r.Target()), runs.LastApply{Number: 8, Head: "i", Applies: 2})
	put(t, ld, runs.ReservationKey(5, r.Target()), runs.Reservation{Number: 8})
	last, err := ld.LastApply(ctx, r)
	check(err)
	lock, err := ld.Reservation(ctx, r)
	check(err)
	if last == nil || last.Number != 8 || lock == nil || lock.Number != 8 {
		t.Errorf("after the earlier version: an apply of %+v and a lock of %+v, want #8", last, lock)
	}
	last, err = ld.Settle(ctx, r, 8, runs.Closed)
	check(err)
	if last == nil {
		t.Error("the apply of the earlier version was not settled")
	}
	if last, err = ld.LastApply(ctx, r); err != nil || last.Number != 8 || !last.Settled {
		t.Errorf("settled: %+v, %v", last, err)
	}
}

// TestCopiesOfAnotherState holds that the copies of records under a project's former name are not those of another state whose
// project has that name now, and that an apply that is in the way counts before one of an earlier version that is not.
func TestCopiesOfAnotherState(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ld := Ledger{Records: &memory.Store{}}
	r := net
	r.Address.Place = "s3://states/net"
	if err := ld.Remember(ctx, r, runs.LastApply{Number: 7, Head: "h"}); err != nil {
		t.Fatal(err)
	}
	if _, err := ld.Reserve(ctx, r, runs.Reservation{Number: 7}); err != nil {
		t.Fatal(err)
	}
	other := r
	other.Address.Place = "s3://states/other"
	if last, err := ld.LastApply(ctx, other); last != nil || err != nil {
		t.Errorf("the other state's last apply: %+v, %v", last, err)
	}
	if lock, err := ld.Reservation(ctx, other); lock != nil || err != nil {
		t.Errorf("the other state's lock: %+v, %v", lock, err)
	}
	if lifted, err := ld.LiftReservation(ctx, other, 7); lifted != nil || err != nil {
		t.Errorf("lifted with the other state's: %+v, %v", lifted, err)
	}
	put(t, ld, runs.StateKey(5, r.Target()), runs.LastApply{Number: 6, Head: "g", Settled: true})
	if last, err := ld.LastApply(ctx, r); err != nil || last == nil || last.Number != 7 {
		t.Errorf("the last apply beside an older one: %+v, %v", last, err)
	}
	if last, err := ld.Settle(ctx, r, 7, runs.Merged); err != nil || last == nil {
		t.Errorf("settled beside an older one: %+v, %v", last, err)
	}
}
