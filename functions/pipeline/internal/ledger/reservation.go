package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Reservation reads the lock of a person on the state of a run; nil if there is none.
func (ld Ledger) Reservation(ctx context.Context, r runs.Run) (*runs.Reservation, error) {
	rec, err := ld.Records.Get(ctx, r.ReservationKey())
	if err != nil || rec.Version == "" {
		return nil, err
	}
	return decodeReservation(rec.Value)
}

func decodeReservation(value []byte) (*runs.Reservation, error) {
	var v runs.Reservation
	if err := json.Unmarshal(value, &v); err != nil {
		return nil, fmt.Errorf("read the lock of a person: the record is damaged: %w", err)
	}
	return &v, nil
}

// Reserve writes the lock of a person, in the place of one of the same pull request. It returns the
// lock that there is then: that of another pull request stays.
func (ld Ledger) Reserve(ctx context.Context, r runs.Run, v runs.Reservation) (*runs.Reservation, error) {
	have := &v
	_, err := ld.Change(ctx, r.ReservationKey(), func(old []byte) ([]byte, error) {
		if have = &v; old == nil {
			return pipeline.Encode(v), nil
		}
		was, err := decodeReservation(old)
		if err != nil {
			return nil, err
		}
		if was.Number != v.Number && !was.Lifted {
			have = was
			return nil, ErrAsIs
		}
		return pipeline.Encode(v), nil
	})
	return have, err
}

// LiftReservation ends the lock that a pull request has on the state of a run, and returns it; nil if it
// has none.
func (ld Ledger) LiftReservation(ctx context.Context, r runs.Run, number int) (*runs.Reservation, error) {
	var lifted *runs.Reservation
	_, err := ld.Change(ctx, r.ReservationKey(), func(old []byte) ([]byte, error) {
		if lifted = nil; old == nil {
			return nil, ErrAsIs
		}
		v, err := decodeReservation(old)
		if err != nil {
			return nil, err
		}
		if v.Number != number {
			return nil, ErrAsIs
		}
		if lifted = v; v.Lifted {
			return nil, ErrAsIs
		}
		next := *v
		next.Lifted = true
		return pipeline.Encode(next), nil
	})
	return lifted, err
}

// DropReservation removes the record of a lock that LiftReservation has ended.
func (ld Ledger) DropReservation(ctx context.Context, r runs.Run, number int) error {
	rec, err := ld.Records.Get(ctx, r.ReservationKey())
	if err != nil || rec.Version == "" {
		return err
	}
	v, err := decodeReservation(rec.Value)
	if err != nil || v.Number != number || !v.Lifted {
		return err
	}
	err = ld.Records.Delete(ctx, rec.Key, rec.Version)
	if errors.Is(err, pipeline.ErrConflict) {
		err = nil // locked anew since, or gone
	}
	return err
}
