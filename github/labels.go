package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v60/github"
)

// LabelEvents returns all label events of a pull request, oldest first.
func (c *Client) LabelEvents(ctx context.Context, number int) ([]LabelEvent, error) {
	out, err := labelEvents(ctx, c.client.Issues, c.repo.Owner, c.repo.Name, number)
	return out, failed(fmt.Sprintf("list the events of pull request %s#%d", c.repo, number), err)
}

// A LabelEvent records that a user added a label to a pull request, or removed it.
type LabelEvent struct {
	Label string
	Actor string // login; "" if the account was deleted
	Added bool
}

// labelEvents returns the label events of a pull request, oldest first.
func labelEvents(ctx context.Context, s *gh.IssuesService, owner, name string, number int) ([]LabelEvent, error) {
	var out []LabelEvent
	for page := 1; page != 0; {
		list, res, err := s.ListIssueEvents(ctx, owner, name, number, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if kind := e.GetEvent(); kind == "labeled" || kind == "unlabeled" {
				out = append(out, LabelEvent{e.GetLabel().GetName(), e.GetActor().GetLogin(), kind == "labeled"})
			}
		}
		page = res.NextPage
	}
	return out, nil
}
