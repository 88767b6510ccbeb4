package encryption

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// log is a journal whose segments are encrypted, each for its own number. A segment cannot replace a segment
// of another number, a state or a plan.
type log struct {
	statebackend.Log
	cipher *Cipher
}

func purpose(number uint64) []byte { return fmt.Appendf(nil, "lockstep journal %d", number) }

// Segments implements statebackend.Log: it returns the segments decrypted.
func (l *log) Segments(ctx context.Context, first func(statebackend.Segment) bool) ([]statebackend.Segment, error) {
	plain := map[uint64][]byte{} // the segments for which first was called
	open := func(s statebackend.Segment) (statebackend.Segment, error) {
		data, known := plain[s.Number]
		if !known {
			var err error
			if data, _, err = l.cipher.decrypt(ctx, s.Data, purpose(s.Number)); err != nil {
				return s, fmt.Errorf("record group %d of the journal %s: %w", s.Number, l.Place(), err)
			}
		}
		plain[s.Number] = data
		return statebackend.Segment{Number: s.Number, Data: data}, nil
	}
	all, err := l.Log.Segments(ctx, func(s statebackend.Segment) bool {
		opened, err := open(s)
		return err != nil || first != nil && first(opened) // after an error: stop here, and report it again below
	})
	if err != nil {
		return nil, err
	}
	for i, s := range all {
		if all[i], err = open(s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Append implements statebackend.Log. As with a state, the same bytes have another ciphertext in each
// attempt.
func (l *log) Append(ctx context.Context, number uint64, data []byte, durable bool) error {
	sealed, err := l.cipher.encrypt(ctx, data, purpose(number))
	if err != nil {
		return fmt.Errorf("encrypt the journal %s: %w", l.Place(), err)
	}
	err = l.Log.Append(ctx, number, sealed, durable)
	if !errors.As(err, new(*statebackend.TakenError)) {
		return err
	}
	stored, e := l.Segments(ctx, func(s statebackend.Segment) bool { return s.Number <= number })
	if e != nil {
		return err
	}
	for _, s := range stored {
		if s.Number == number && bytes.Equal(s.Data, data) {
			return nil
		}
	}
	return err
}
