package github

import (
	"context"
	"fmt"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// An Installation is an installation of the App in an account.
type Installation struct {
	ID        int64
	Account   string // login
	Suspended bool   // it gets no tokens
}

// Installations returns all installations of the App.
func (a *App) Installations(ctx context.Context) ([]Installation, error) {
	var out []Installation
	for page := 1; page != 0; {
		list, res, err := a.client.Apps.ListInstallations(ctx, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, failed("list the installations of the GitHub App", err)
		}
		for _, i := range list {
			out = append(out, Installation{ID: i.GetID(), Account: i.GetAccount().GetLogin(), Suspended: i.SuspendedAt != nil})
		}
		page = res.NextPage
	}
	return out, nil
}

// Repositories returns the repositories that an installation gives the App access to. It leaves out archived
// ones, which are read-only. The token for this call allows only to read that list.
func (a *App) Repositories(ctx context.Context, installation int64) ([]Repo, error) {
	what := fmt.Sprintf("list the repositories of installation %d", installation)
	client := a.as(tokenScope{Installation: installation})
	var out []Repo
	for page := 1; page != 0; {
		list, res, err := client.Apps.ListRepos(ctx, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, failed(what, err)
		}
		for _, x := range list.Repositories {
			if x.GetArchived() {
				continue
			}
			r := repoOf(x)
			if err := r.check(); err != nil {
				return nil, fmt.Errorf("%s: %w", what, err)
			}
			out = append(out, r)
		}
		page = res.NextPage
	}
	return out, nil
}

// LastChange returns when any pull request of a repository, open or closed, was last changed; zero if there is
// none. Pushes and comments are changes.
//
// It uses one token for all repositories of an installation, which can only read their pull requests. With a
// token for each repository, polling an idle repository would cost two more requests an hour.
func (a *App) LastChange(ctx context.Context, installation int64, r Repo) (time.Time, error) {
	what := fmt.Sprintf("ask for the last change of a pull request of %s", r)
	if err := r.check(); err != nil {
		return time.Time{}, err
	}
	client := a.as(tokenScope{Installation: installation, Name: everyPull})
	list, _, err := client.PullRequests.List(ctx, r.Owner, r.Name, &gh.PullRequestListOptions{
		State: "all", Sort: "updated", Direction: "desc", ListOptions: gh.ListOptions{PerPage: 1},
	})
	if err != nil || len(list) == 0 {
		return time.Time{}, failed(what, err)
	}
	if id := list[0].GetBase().GetRepo().GetID(); id != r.ID {
		return time.Time{}, failed(what, ErrNotFound) // another repository has the name now
	}
	return list[0].GetUpdatedAt().Time, nil
}
