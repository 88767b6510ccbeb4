package machine

import (
	"cmp"
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Site shows the records of a machine: the runs of all pull requests, and their plans. The
// conversation is on GitHub, and the pages are read-only.
type Site struct {
	m   *Machine
	web string // GitHub's pages, without a slash at the end; "" if unknown
}

var _ page.Site = Site{}

// Site returns the machine for the page. web is the address of GitHub's own pages, without a slash
// at the end, or "".
func (m *Machine) Site(web string) Site { return Site{m, web} }

// Changed implements page.Site.
func (s Site) Changed(ctx context.Context, since uint64) uint64 {
	return s.m.changed.Wait(ctx, since)
}

// Pulls implements page.Site: by repository, the newest first.
func (s Site) Pulls(ctx context.Context) ([]page.Pull, error) {
	all, err := s.m.Data.Records.All(ctx, "run")
	if err != nil {
		return nil, err
	}
	list, err := decode(all)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b runs.Run) int {
		return cmp.Or(cmp.Compare(a.Pull.Repo.String(), b.Pull.Repo.String()), b.Pull.Number-a.Pull.Number)
	})
	var out []page.Pull
	for _, r := range list {
		if n := len(out); n == 0 || out[n-1].PullID != idOf(r) {
			out = append(out, s.pull(r))
		}
		last := &out[len(out)-1]
		last.Projects = append(last.Projects, shown(r, r.Standing()))
		if r.Phase != runs.Superseded {
			last.Head = r.Head
		}
	}
	return out, nil
}

// Pull implements page.Site.
func (s Site) Pull(ctx context.Context, id page.PullID) (page.Pull, error) {
	runs, err := s.find(ctx, id)
	if err != nil {
		return page.Pull{}, err
	}
	p := s.pull(runs[0])
	p.Projects, err = s.m.Projects(ctx, runs[0].Pull.Repo, id.Number)
	return p, err
}

// Plan implements page.Site.
func (s Site) Plan(ctx context.Context, id page.PullID, name string) (string, error) {
	runs, err := s.find(ctx, id)
	if err != nil {
		return "", err
	}
	return s.m.Plan(ctx, runs[0].Pull.Repo, id.Number, name)
}

// find returns the runs of a pull request, or page.ErrNotFound if there are none. Addresses contain
// the repository's name, and records its number.
func (s Site) find(ctx context.Context, id page.PullID) ([]runs.Run, error) {
	all, err := s.m.Data.Records.All(ctx, "run")
	if err != nil {
		return nil, err
	}
	list, err := decode(all)
	list = slices.DeleteFunc(list, func(r runs.Run) bool { return idOf(r) != id })
	if err == nil && len(list) == 0 {
		err = page.ErrNotFound
	}
	return list, err
}

// pull returns a run's facts about its pull request.
func (s Site) pull(r runs.Run) page.Pull {
	p := page.Pull{PullID: idOf(r), Head: r.Head}
	switch {
	case r.Phase == runs.Dropped && r.Merged:
		p.Standing = "merged"
	case r.Phase == runs.Dropped:
		p.Standing = "closed"
	default:
		p.Standing = "open"
	}
	if s.web != "" {
		p.URL = s.web + p.Path()
	}
	return p
}

func idOf(r runs.Run) page.PullID {
	return page.PullID{Owner: r.Pull.Repo.Owner, Name: r.Pull.Repo.Name, Number: r.Pull.Number}
}
