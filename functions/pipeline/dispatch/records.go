package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// stored is a run as it was read.
type stored struct {
	runs.Run
	version pipeline.Version
}

// to moves the run on, keeping the version it was read at.
func (s stored) to(next runs.Phase) stored { s.Run = s.Run.To(next); return s }

// load reads the record of a run by its key. Without one it is r itself.
func (t *task) load(ctx context.Context, r runs.Run) (stored, error) {
	s, err := t.read(ctx, r.Key())
	if err == nil && s.version == "" {
		s.Run = r
	}
	return s, err
}

// read reads a run by its key; without version if there is none.
func (t *task) read(ctx context.Context, key string) (stored, error) {
	rec, err := t.Records.Get(ctx, key)
	if err != nil {
		return stored{}, fmt.Errorf("read run: %w", err)
	}
	if rec.Version == "" {
		return stored{}, nil
	}
	r, err := DecodeRun(rec)
	return stored{r, rec.Version}, err
}

// DecodeRun reads the record of a run.
func DecodeRun(rec pipeline.Record) (runs.Run, error) {
	var r runs.Run
	if err := json.Unmarshal(rec.Value, &r); err != nil {
		return r, fmt.Errorf("read run %s: the record is damaged: %w", rec.Key, err)
	}
	return r, nil
}

// save writes a run if nobody else did since it was read; otherwise the error wraps
// ErrConflict.
func (t *task) save(ctx context.Context, s stored) (stored, error) {
	version, err := t.Records.Put(ctx, s.Key(), pipeline.Encode(s.Run), s.version)
	if err != nil {
		return s, fmt.Errorf("write run %s: %w", s.Key(), err)
	}
	s.version = version
	return s, nil
}

// runs returns the records of all projects of a pull request, sorted by project.
func (t *task) runs(ctx context.Context, p pipeline.Pull) ([]stored, error) {
	list, err := t.Records.List(ctx, p.Runs())
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var out []stored
	for _, rec := range list {
		r, err := DecodeRun(rec)
		if err != nil {
			return nil, err
		}
		out = append(out, stored{r, rec.Version})
	}
	return out, nil
}

// errAsIs, returned by the func of change, leaves the record as it is.
var errAsIs = errors.New("there is nothing to change")

// change makes a new value of a record from the one that is there, nil if there is
// none, until no other writer comes in between. It returns the value that is there
// afterwards.
func (t *task) change(ctx context.Context, key string, next func(old []byte) ([]byte, error)) ([]byte, error) {
	for {
		rec, err := t.Records.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		value, err := next(rec.Value)
		if errors.Is(err, errAsIs) {
			return rec.Value, nil
		}
		if err != nil {
			return nil, fmt.Errorf("change %s: %w", key, err)
		}
		_, err = t.Records.Put(ctx, key, value, rec.Version)
		if !errors.Is(err, pipeline.ErrConflict) {
			return value, err
		}
	}
}

// lastApply reads which pull request was last applied to the state of a run; nil if
// none was.
func (t *task) lastApply(ctx context.Context, r runs.Run) (*runs.LastApply, error) {
	rec, err := t.Records.Get(ctx, r.StateKey())
	if err != nil || rec.Version == "" {
		return nil, err
	}
	return decodeLast(rec.Value)
}

// inTheWay reads the same. One of another pull request that is taken to be open is looked
// up: the news that it was merged or closed may be late, or may never come.
func (t *task) inTheWay(ctx context.Context, r runs.Run) (*runs.LastApply, error) {
	l, err := t.lastApply(ctx, r)
	if err != nil || l == nil || l.Settled || l.Number == r.Pull.Number {
		return l, err
	}
	other, err := t.hub.PullRequest(ctx, l.Number)
	switch {
	case errors.Is(err, github.ErrNotFound): // it cannot be merged any more
	case err != nil || other.Open:
		return l, err
	}
	if _, err := t.settle(ctx, r, l.Number, true); err != nil {
		return nil, err
	}
	return t.lastApply(ctx, r)
}

func decodeLast(value []byte) (*runs.LastApply, error) {
	var l runs.LastApply
	if err := json.Unmarshal(value, &l); err != nil {
		return nil, fmt.Errorf("read the last apply: the record is damaged: %w", err)
	}
	return &l, nil
}

// remember writes which pull request was last applied. Whoever applied later wins;
// the lock of the state has put them in order. One that is remembered already stays as
// it is: it may be settled.
func (t *task) remember(ctx context.Context, r runs.Run, l runs.LastApply) error {
	_, err := t.change(ctx, r.StateKey(), func(old []byte) ([]byte, error) {
		if old != nil {
			have, err := decodeLast(old)
			if err != nil {
				return nil, err
			}
			settled := *have
			settled.Settled = false
			if settled == l {
				return nil, errAsIs
			}
		}
		return pipeline.Encode(l), nil
	})
	return err
}

// settle notes whether a pull request that was applied to the state of a run is out of
// the way: merged or closed, and not opened again. It returns what was last applied, if
// it was this pull request's.
func (t *task) settle(ctx context.Context, r runs.Run, number int, settled bool) (last *runs.LastApply, err error) {
	_, err = t.change(ctx, r.StateKey(), func(old []byte) ([]byte, error) {
		if last = nil; old == nil {
			return nil, errAsIs
		}
		l, err := decodeLast(old)
		if err != nil {
			return nil, err
		}
		if l.Number != number {
			return nil, errAsIs // another one was applied since
		}
		if last = l; l.Settled == settled {
			return nil, errAsIs
		}
		next := *l
		next.Settled = settled
		return pipeline.Encode(next), nil
	})
	return last, err
}
