package localpipeline

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Site shows the records of a machine: the runs of all pull requests, and their plans. The pages are
// read-only, because the conversation is on GitHub.
type Site struct {
	m   *Machine
	web string // GitHub's pages, without a slash at the end; "" if unknown
}

var _ page.Site = Site{}

// Site returns a machine as a page.Site. web is the address of GitHub's web pages, without a slash at the end;
// "" if unknown.
func (m *Machine) Site(web string) Site { return Site{m, web} }

// Changed implements page.Site.
func (s Site) Changed(ctx context.Context, since uint64) uint64 {
	return s.m.changed.Wait(ctx, since)
}

// Pulls implements page.Site: it returns the pull requests by repository, the newest first. It leaves out a
// pull request that affects no project. Pulls reads a fixed number of collections of records, and one more for
// each pull request with a plan that waits for an apply, or with an apply in progress. It makes no request for a single project.
func (s Site) Pulls(ctx context.Context) ([]page.Pull, error) {
	all, err := s.m.pulls(ctx)
	if err != nil {
		return nil, err
	}
	from, err := s.m.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var out []page.Pull
	for _, x := range all {
		if !x.listed() {
			continue
		}
		if err := x.read(ctx, from); err != nil {
			return nil, err
		}
		p := s.pull(x)
		if err := s.m.glance(ctx, from, x, &p); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Pull implements page.Site.
func (s Site) Pull(ctx context.Context, id page.PullID) (page.Pull, error) {
	x, err := s.find(ctx, id)
	if err != nil {
		return page.Pull{}, err
	}
	p := s.pull(x)
	return p, s.m.show(ctx, x, &p)
}

// Text implements page.Site.
func (s Site) Text(ctx context.Context, id page.PullID, kind page.TextKind, name string) (string, error) {
	x, err := s.find(ctx, id)
	if err != nil {
		return "", err
	}
	return s.m.Text(ctx, x.Repo, id.Number, kind, name)
}

// find returns the records about the pull request with the address id. The error is page.ErrNotFound if there
// are none. (Addresses of pages contain the repository's name, but records contain its ID.)
func (s Site) find(ctx context.Context, id page.PullID) (pulled, error) {
	all, err := s.m.pulls(ctx)
	if err != nil {
		return pulled{}, err
	}
	i := slices.IndexFunc(all, func(x pulled) bool { return idOf(x.Pull) == id })
	if i < 0 {
		return pulled{}, page.ErrNotFound
	}
	return all[i], nil
}

// pull returns the page data about the pull request itself.
func (s Site) pull(x pulled) page.Pull {
	p := page.Pull{PullID: idOf(x.Pull), Head: x.head(), Standing: x.standing()}
	if s.web != "" {
		p.URL = s.web + p.Path()
	}
	return p
}

func idOf(p pipeline.Pull) page.PullID {
	return page.PullID{Owner: p.Repo.Owner, Name: p.Repo.Name, Number: p.Number}
}
