package pagedata

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runstatus"
	"github.com/lockstep-iac/lockstep/github"
)

// A pulled is what the records contain about a pull request: the facts about its head when Lockstep last
// examined it, and the runs of its projects.
type pulled struct {
	pipeline.Pull
	look runstatus.Look
	runs []runs.Run
}

// pulls returns all pull requests, by repository, the newest first. It needs All.
func (s Site) pulls(ctx context.Context) ([]pulled, error) {
	type id struct {
		repo   int64
		number int
	}
	all := map[id]*pulled{}
	of := func(p pipeline.Pull) *pulled {
		x := all[id{p.Repo.ID, p.Number}]
		if x == nil {
			x = &pulled{Pull: p}
			all[id{p.Repo.ID, p.Number}] = x
		}
		return x
	}
	looks, err := s.All(ctx, "pull")
	if err != nil {
		return nil, err
	}
	for _, rec := range looks {
		l, err := runstatus.DecodeLook(rec)
		if err != nil {
			return nil, err
		}
		if l.Pull.App == "" { // the pages know the first App only
			of(l.Pull).look = l
		}
	}
	list, err := s.All(ctx, "run")
	if err != nil {
		return nil, err
	}
	decoded, err := decode(list)
	if err != nil {
		return nil, err
	}
	for _, r := range decoded {
		x := of(r.Pull)
		x.runs = append(x.runs, r)
	}
	var out []pulled
	for _, x := range all {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b pulled) int {
		return cmp.Or(cmp.Compare(a.Repo.String(), b.Repo.String()), cmp.Compare(b.Number, a.Number), cmp.Compare(b.Repo.ID, a.Repo.ID))
	})
	return out, nil
}

// pulled returns one pull request.
func (s Site) pulled(ctx context.Context, repo github.Repo, number int) (x pulled, err error) {
	x.Pull = pipeline.Pull{Repo: repo, Number: number}
	if x.look, err = runstatus.LastLook(ctx, s.Records, x.Pull); err != nil {
		return x, err
	}
	x.runs, err = s.runs(ctx, repo, number)
	return x, err
}

// listed reports whether the pull request appears in lists: it affects a project, or Lockstep has reported
// something about the pull request as a whole.
func (x pulled) listed() bool {
	return len(x.runs) > 0 || x.look.Told || !x.look.Closed && (x.look.Refused != "" || x.look.GivenUp != "")
}

// standing returns whether the pull request is open, merged or closed on GitHub. If the pull request's head
// was never examined, standing concludes this from the runs of its projects.
func (x pulled) standing() string {
	any := func(is func(runs.Run) bool) bool { return slices.ContainsFunc(x.runs, is) }
	closed := x.look.Closed || x.look.Head == "" && any(func(r runs.Run) bool { return r.Phase == runs.Dropped || r.Spec.AfterMerge })
	switch {
	case !closed:
		return "open"
	case x.look.Merged || any(func(r runs.Run) bool { return r.End.Fate == runs.Merged || r.Spec.AfterMerge }):
		return "merged"
	}
	return "closed"
}

// head returns the SHA of the pull request's head, as last examined. If it was never examined, head finds
// the SHA in the runs of the pull request's projects.
func (x pulled) head() string {
	head := runstatus.HeadOf(x.look)
	for _, r := range x.runs {
		if x.look.Head == "" && head == "" && r.Phase != runs.Superseded {
			return r.Spec.Head
		}
	}
	return head
}

// read adds to the snapshot the records about the checks of the pull request's head, because they contain
// decisions about requirements. It does so only if a plan of the pull request waits for its apply. If an apply is
// in progress, it adds the records of the pull request's applies.
func (x pulled) read(ctx context.Context, s *snapshot) error {
	if slices.ContainsFunc(x.runs, func(r runs.Run) bool { return r.Standing() == comment.Applying }) {
		if err := s.add(ctx, runstatus.ApplyDir(x.Pull)); err != nil {
			return err
		}
	}
	i := slices.IndexFunc(x.runs, func(r runs.Run) bool {
		waits := []comment.Standing{comment.Ready, comment.OnMerge, comment.OnceMerged, comment.Renewed}
		return slices.Contains(waits, r.Standing()) && !runstatus.Former(r, runstatus.HeadOf(x.look))
	})
	if i < 0 {
		return nil
	}
	return s.add(ctx, path.Dir(runs.CheckDir(x.runs[i])))
}

// A snapshot has some whole collections of records, each read in one request, and returns their records from
// memory. It requests records of other collections one by one.
type snapshot struct {
	pipeline.Records
	all  func(ctx context.Context, collection string) ([]pipeline.Record, error)
	dirs []string
	have map[string]pipeline.Record
}

// snapshot reads the records that can block applies: the last applies of states, and locks by people. It also
// reads the addresses of states, because they lead to these records.
func (s Site) snapshot(ctx context.Context) (*snapshot, error) {
	out := &snapshot{Records: s.Records, all: s.All, have: map[string]pipeline.Record{}}
	for _, collection := range []string{"state", "lock", "address"} {
		if err := out.add(ctx, collection); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// add reads a whole collection of records into the snapshot.
func (s *snapshot) add(ctx context.Context, collection string) error {
	list, err := s.all(ctx, collection)
	if err == nil {
		s.keep(collection, list)
	}
	return err
}

// keep adds all records of a collection or a directory to the snapshot.
func (s *snapshot) keep(dir string, list []pipeline.Record) {
	for _, rec := range list {
		s.have[rec.Key] = rec
	}
	s.dirs = append(s.dirs, dir+"/")
}

// Get implements pipeline.Records.
func (s *snapshot) Get(ctx context.Context, key string) (pipeline.Record, error) {
	rec, ok := s.have[key]
	if ok || slices.ContainsFunc(s.dirs, func(dir string) bool { return strings.HasPrefix(key, dir) }) {
		return rec, nil
	}
	return s.Records.Get(ctx, key)
}

// runs reads the records of a pull request's projects.
func (s Site) runs(ctx context.Context, repo github.Repo, number int) ([]runs.Run, error) {
	list, err := s.Records.List(ctx, fmt.Sprintf("run/%d/%d", repo.ID, number))
	if err != nil {
		return nil, err
	}
	return decode(list)
}

func decode(list []pipeline.Record) ([]runs.Run, error) {
	var out []runs.Run
	for _, rec := range list {
		var r runs.Run
		if err := json.Unmarshal(rec.Value, &r); err != nil {
			return nil, fmt.Errorf("read %s: %w", rec.Key, err)
		}
		if r.Pull.App == "" { // the pages know the first App only
			out = append(out, r)
		}
	}
	return out, nil
}
