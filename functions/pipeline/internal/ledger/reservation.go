package ledger

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Reservation returns a person's lock on the state of a run; nil if there is none.
func (ld Ledger) Reservation(ctx context.Context, r runs.Run) (*runs.Reservation, error) {
	keys, err := locksOf(ctx, ld, r, others(r)...)
	if err != nil {
		return nil, err
	}
	return reserved(ctx, ld, keys)
}

// locksOf returns the keys under which a lock on the state of a run may be recorded: those of the state, of its
// further addresses, and of its project. The last is needed because a lock may be older than the known address.
func locksOf(ctx context.Context, ld Ledger, r runs.Run, further ...string) (keys []string, err error) {
	name, err := nameOf(ctx, ld, r)
	names := []string{name}
	if name != r.Target() {
		names = append(names, r.Target())
	}
	for _, name := range append(names, namesElsewhere(r.Target(), further...)...) {
		keys = append(keys, runs.ReservationKey(r.Pull.Repo.ID, name))
	}
	return keys, err
}

// reserved returns the lock that is recorded under one of the keys; nil if there is none.
func reserved(ctx context.Context, ld Ledger, keys []string) (*runs.Reservation, error) {
	var lifted *runs.Reservation
	for _, key := range keys {
		v, err := get[runs.Reservation](ctx, ld, key)
		if err != nil || v != nil && !v.Lifted {
			return v, err
		}
		if v != nil {
			lifted = v
		}
	}
	return lifted, nil
}

// Reserve records a person's lock. It replaces a lock of the same pull request, but not one of another pull
// request. It returns the lock that exists afterwards.
func (ld Ledger) Reserve(ctx context.Context, r runs.Run, v runs.Reservation) (*runs.Reservation, error) {
	keys, err := locksOf(ctx, ld, r)
	if err != nil {
		return nil, err
	}
	have, err := ld.Reservation(ctx, r)
	if err != nil || have != nil && have.Number != v.Number && !have.Lifted {
		return have, err
	}
	for _, name := range namesElsewhere(r.Target(), r.Address.From) {
		have, err = reserve(ctx, ld, runs.ReservationKey(r.Pull.Repo.ID, name), v)
		if err != nil || have.Number != v.Number {
			return have, err
		}
	}
	return reserve(ctx, ld, keys[0], v)
}

func reserve(ctx context.Context, ld Ledger, key string, v runs.Reservation) (have *runs.Reservation, err error) {
	err = Edit(ctx, ld, key, func(was *runs.Reservation) *runs.Reservation {
		if have = &v; was != nil && was.Number != v.Number && !was.Lifted {
			have = was
		}
		return have
	})
	return have, err
}

// LiftReservation releases the lock on the state of a run that a person has taken for the pull request with
// this number. It returns the lock; nil if there is none.
func (ld Ledger) LiftReservation(ctx context.Context, r runs.Run, number int) (lifted *runs.Reservation, err error) {
	keys, err := locksOf(ctx, ld, r, OtherPlaces(r)...)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		v, err := lift(ctx, ld, key, number)
		if err != nil {
			return nil, err
		}
		if v != nil && (lifted == nil || lifted.Lifted) {
			lifted = v
		}
	}
	return lifted, nil
}

func lift(ctx context.Context, ld Ledger, key string, number int) (lifted *runs.Reservation, err error) {
	err = Edit(ctx, ld, key, func(have *runs.Reservation) *runs.Reservation {
		if lifted = nil; have == nil || have.Number != number {
			return nil
		}
		lifted = have
		next := *have
		next.Lifted = true
		return &next
	})
	return lifted, err
}

// DropReservation removes the records of a lock that [Ledger.LiftReservation] has released.
func (ld Ledger) DropReservation(ctx context.Context, r runs.Run, number int) error {
	keys, err := locksOf(ctx, ld, r, OtherPlaces(r)...)
	if err != nil {
		return err
	}
	for _, key := range keys {
		rec, err := ld.Records.Get(ctx, key)
		if err != nil {
			return err
		}
		v, err := decode[runs.Reservation](rec)
		if err != nil {
			return err
		}
		if v == nil || v.Number != number || !v.Lifted {
			continue
		}
		if err := ld.Records.Delete(ctx, rec.Key, rec.Version); err != nil && !errors.Is(err, pipeline.ErrConflict) { // locked again since, or gone
			return err
		}
	}
	return nil
}
