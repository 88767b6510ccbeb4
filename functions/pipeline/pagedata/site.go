// Package pagedata makes the content of the pages from the records of the pipeline: pull requests with their
// runs, and repositories with their projects, locks, drift and audit records. It implements page.Site and
// page.Catalog for `lockstep serve`, for the demo and for the function of the page on AWS.
//
// The package reads the stores and writes nothing. It does not know who the reader is: the funcs of a [Site]
// decide which repositories exist for the reader of a context. Start reading at [Site].
package pagedata

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A Site shows the records of the first App of a deployment. The pages are read-only, because the conversation
// is on GitHub.
type Site struct {
	Records   pipeline.Records
	Artifacts pipeline.Artifacts
	// Chains has the audit records; nil if there are none.
	Chains pipeline.Chains
	// Where returns, for people, where an artifact is; nil if people cannot read artifacts.
	Where func(pipeline.Artifact) string
	// Secrets are removed from every text.
	Secrets []github.Secret
	// Web is the address of GitHub's web pages, without a slash at the end; "" if unknown.
	Web string
	// Access decides which repositories exist for the reader of a context. If it is nil, all repositories exist,
	// and All must be set.
	Access Access
	// All returns all records of a collection, if the store can; otherwise it is nil. The list of all pull
	// requests needs it.
	All func(ctx context.Context, collection string) ([]pipeline.Record, error)
	// Wait waits for a change: see page.Site. It is nil if nothing announces changes.
	Wait func(ctx context.Context, since uint64) uint64
}

// An Access decides which repositories exist for the reader of a context.
type Access interface {
	// Repository returns the repository that has a name now. The error is page.ErrNotFound if there is none, and
	// also if the reader may not read it.
	Repository(ctx context.Context, owner, name string) (github.Repo, error)
	// Repositories returns the repositories that the reader may read.
	Repositories(ctx context.Context) ([]github.Repo, error)
}

var (
	_ page.Site    = Site{}
	_ page.Catalog = Site{}
)

// Changed implements page.Site.
func (s Site) Changed(ctx context.Context, since uint64) uint64 {
	if s.Wait == nil {
		return 0
	}
	return s.Wait(ctx, since)
}

// Pulls implements page.Site: it returns the pull requests by repository, the newest first. It leaves out a pull request
// that affects no project. Pulls reads a fixed number of collections of records, and one more for each pull request with a
// plan that waits for an apply, or with an apply in progress. It makes no request for a single project. If All is nil, it
// returns none: the pull requests are then on the pages of their repositories.
func (s Site) Pulls(ctx context.Context) ([]page.Pull, error) {
	if s.All == nil {
		return nil, nil
	}
	all, err := s.pulls(ctx)
	if err != nil {
		return nil, err
	}
	from, err := s.snapshot(ctx)
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
		if err := s.glance(ctx, from, x, &p); err != nil {
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
	return p, s.show(ctx, x, &p)
}

// Text implements page.Site.
func (s Site) Text(ctx context.Context, id page.PullID, kind page.TextKind, name string) (string, error) {
	x, err := s.find(ctx, id)
	if err != nil {
		return "", err
	}
	return s.textOf(ctx, x.Repo, id.Number, kind, name)
}

// find returns the records about the pull request with the address id. The error is page.ErrNotFound if there
// are none. (Addresses of pages contain the repository's name, but records contain its ID.)
func (s Site) find(ctx context.Context, id page.PullID) (pulled, error) {
	if s.Access != nil {
		repo, err := s.Access.Repository(ctx, id.Owner, id.Name)
		if err != nil {
			return pulled{}, err
		}
		x, err := s.pulled(ctx, repo, id.Number)
		if err == nil && x.look.Pull.Number == 0 && len(x.runs) == 0 {
			err = page.ErrNotFound
		}
		return x, err
	}
	all, err := s.pulls(ctx)
	if err != nil {
		return pulled{}, err
	}
	i := slices.IndexFunc(all, func(x pulled) bool { return idOf(x.Pull) == id })
	if i < 0 {
		return pulled{}, page.ErrNotFound
	}
	return all[i], nil
}

// pull returns the page data about the pull request itself. An issue about drift has the same page, and never more than one
// project.
func (s Site) pull(x pulled) page.Pull {
	p := page.Pull{PullID: idOf(x.Pull), Head: x.head(), Standing: x.standing()}
	path := p.Path()
	if len(x.runs) > 0 && x.runs[0].Spec.OnIssue {
		p.Title, p.Standing = "Issue about "+runs.Label(x.runs[0]), ""
		path = fmt.Sprintf("%s/issues/%d", page.RepositoryID{Owner: p.Owner, Name: p.Name}.Path(), p.Number)
	}
	if s.Web != "" {
		p.URL = s.Web + path
	}
	return p
}

func idOf(p pipeline.Pull) page.PullID {
	return page.PullID{Owner: p.Repo.Owner, Name: p.Repo.Name, Number: p.Number}
}
