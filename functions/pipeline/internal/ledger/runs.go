package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A Versioned is a run with the version of its record.
type Versioned struct {
	runs.Run
	Version pipeline.Version
}

// To moves the run to another phase. The version stays the same.
func (s Versioned) To(next runs.Phase) Versioned { s.Run = s.Run.To(next); return s }

// Load reads the record of the run r by its key. If there is no record, it returns r.
func (ld Ledger) Load(ctx context.Context, r runs.Run) (Versioned, error) {
	s, err := ld.Read(ctx, r.Key())
	if err == nil && s.Version == "" {
		s.Run = r
	}
	return s, err
}

// Read reads a run by its key. The version is "" if there is no record.
func (ld Ledger) Read(ctx context.Context, key string) (Versioned, error) {
	rec, err := ld.Records.Get(ctx, key)
	if err != nil {
		return Versioned{}, fmt.Errorf("read run: %w", err)
	}
	if rec.Version == "" {
		return Versioned{}, nil
	}
	r, err := DecodeRun(rec)
	return Versioned{r, rec.Version}, err
}

// known reports whether this version of Lockstep knows the phase. That is so if a run can move from it to
// Queued, Dropped or Stopped.
func known(p runs.Phase) bool {
	return p.May(runs.Queued) || p.May(runs.Dropped) || p.May(runs.Stopped)
}

// DecodeRun decodes the record of a run.
func DecodeRun(rec pipeline.Record) (runs.Run, error) {
	var r runs.Run
	if err := json.Unmarshal(rec.Value, &r); err != nil {
		return r, fmt.Errorf("read run %s: the record is damaged: %w", rec.Key, err)
	}
	if !known(r.Phase) || !known(r.End.Was) {
		return r, fmt.Errorf("read run %s: it is %q, which this version of Lockstep does not know: another one has written it", rec.Key, cmp.Or(r.End.Was, r.Phase))
	}
	return r, nil
}

// Save writes a run, unless somebody else has changed its record since it was read. In that case the error
// wraps ErrConflict.
func (ld Ledger) Save(ctx context.Context, s Versioned) (Versioned, error) {
	version, err := ld.Records.Put(ctx, s.Key(), pipeline.Encode(s.Run), s.Version)
	if err != nil {
		return s, fmt.Errorf("write run %s: %w", s.Key(), err)
	}
	s.Version = version
	return s, nil
}

// Successor returns the project that is the run's project with a new name, in a checkout that does not have the
// old name: see [project.Successor]. known are the runs of the pull request: their projects existed at the same
// time as the run's project. all are the projects in the checkout.
func Successor(r runs.Run, known []Versioned, all []project.Project) (p project.Project, ok bool) {
	return project.Successor(project.Former{Place: r.Address.Place, Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace, Now: r.End.Renamed}, all, func(p project.Project) bool {
		return slices.ContainsFunc(known, func(s Versioned) bool { return p.Name == s.Project && p.Workspace == s.Workspace })
	})
}

// Runs returns the records of all projects of a pull request, sorted by project.
func (ld Ledger) Runs(ctx context.Context, p pipeline.Pull) ([]Versioned, error) {
	list, err := ld.Records.List(ctx, p.Runs())
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var out []Versioned
	for _, rec := range list {
		r, err := DecodeRun(rec)
		if err != nil {
			return nil, err
		}
		out = append(out, Versioned{r, rec.Version})
	}
	return out, nil
}

// ErrAsIs is returned by a function that was passed to [Ledger.Change], to leave the record unchanged.
var ErrAsIs = errors.New("there is nothing to change")

// Change replaces the value of a record by next(old). old is nil if there is no record. If somebody else
// changes the record at the same time, Change calls next once more, with the new value. It returns the value
// that is finally stored.
func (ld Ledger) Change(ctx context.Context, key string, next func(old []byte) ([]byte, error)) ([]byte, error) {
	for {
		rec, err := ld.Records.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		value, err := next(rec.Value)
		if errors.Is(err, ErrAsIs) {
			return rec.Value, nil
		}
		if err != nil {
			return nil, fmt.Errorf("change %s: %w", key, err)
		}
		_, err = ld.Records.Put(ctx, key, value, rec.Version)
		if !errors.Is(err, pipeline.ErrConflict) {
			return value, err
		}
	}
}
