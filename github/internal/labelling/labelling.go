// Package labelling reads the times at which labels were put on pull requests. It refuses to know what they mean, and GitHub's
// errors, which it returns as they are. Start at [Events].
package labelling

import (
	"context"

	gh "github.com/google/go-github/v60/github"
)

// An Event is a time at which somebody put a label on a pull request, or removed it.
type Event struct {
	Label string
	Actor string // login; "" of a deleted account
	Added bool
}

// Events returns those of a pull request, oldest first.
func Events(ctx context.Context, s *gh.IssuesService, owner, name string, number int) ([]Event, error) {
	var out []Event
	for page := 1; page != 0; {
		list, res, err := s.ListIssueEvents(ctx, owner, name, number, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if kind := e.GetEvent(); kind == "labeled" || kind == "unlabeled" {
				out = append(out, Event{e.GetLabel().GetName(), e.GetActor().GetLogin(), kind == "labeled"})
			}
		}
		page = res.NextPage
	}
	return out, nil
}
