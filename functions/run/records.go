package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// stored is a run as it was read.
type stored struct {
	Run
	version Version
}

// to moves the run on, keeping the version it was read at.
func (s stored) to(next Phase) stored { s.Run = s.Run.to(next); return s }

// load reads the record of a run by its key. Without one it is r itself.
func (t *task) load(ctx context.Context, r Run) (stored, error) {
	rec, err := t.Records.Get(ctx, r.key())
	if err != nil {
		return stored{}, fmt.Errorf("read run: %w", err)
	}
	if rec.Version == "" {
		return stored{Run: r}, nil
	}
	return decodeRun(rec)
}

func decodeRun(rec Record) (stored, error) {
	s := stored{version: rec.Version}
	if err := json.Unmarshal(rec.Value, &s.Run); err != nil {
		return s, fmt.Errorf("read run %s: the record is damaged: %w", rec.Key, err)
	}
	return s, nil
}

// save writes a run if nobody else did since it was read; otherwise the error wraps
// ErrConflict.
func (t *task) save(ctx context.Context, s stored) (stored, error) {
	version, err := t.Records.Put(ctx, s.key(), encode(s.Run), s.version)
	if err != nil {
		return s, fmt.Errorf("write run %s: %w", s.key(), err)
	}
	s.version = version
	return s, nil
}

// runs returns the records of all projects of the pull request, sorted by project.
func (t *task) runs(ctx context.Context) ([]stored, error) {
	list, err := t.Records.List(ctx, t.message.Pull.runs())
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var out []stored
	for _, rec := range list {
		s, err := decodeRun(rec)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// lastApply reads which pull request was last applied to the state of a run; nil if
// none was.
func (t *task) lastApply(ctx context.Context, r Run) (*LastApply, Version, error) {
	rec, err := t.Records.Get(ctx, r.stateKey())
	if err != nil || rec.Version == "" {
		return nil, "", err
	}
	var l LastApply
	if err := json.Unmarshal(rec.Value, &l); err != nil {
		return nil, "", fmt.Errorf("read %s: the record is damaged: %w", r.stateKey(), err)
	}
	return &l, rec.Version, nil
}

// remember writes which pull request was last applied. Whoever applied later wins;
// the lock of the state has put them in order.
func (t *task) remember(ctx context.Context, r Run, l LastApply) error {
	for {
		_, version, err := t.lastApply(ctx, r)
		if err == nil {
			_, err = t.Records.Put(ctx, r.stateKey(), encode(l), version)
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
}

// settle notes that the pull request which was last applied is not open any more.
func (t *task) settle(ctx context.Context, r stored) error {
	l, version, err := t.lastApply(ctx, r.Run)
	if err != nil || l == nil || l.Number != r.Pull.Number || l.Settled {
		return err
	}
	l.Settled = true
	_, err = t.Records.Put(ctx, r.stateKey(), encode(l), version)
	if errors.Is(err, ErrConflict) {
		err = nil // another one was applied since
	}
	return err
}
