// Package issuing finds and writes the issues of an App. It refuses to know their texts, and GitHub's errors, which it
// returns as they are. Start at [Put].
package issuing

import (
	"context"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// An Issue is the content of an issue of ours.
type Issue struct {
	Marker string // the beginning of Body: a text that people do not see, and by which it is found
	Title  string
	Body   string // Markdown
	Open   bool
}

// Put writes an issue into the repository of owner and name as the App of a login, and returns its number. With a number
// it changes that issue; with 0 it changes the oldest open one of the login with x's marker, or makes it if it is to be
// open. The number is 0 if there is none then.
//
// Source: https://docs.github.com/en/rest/issues/issues
func Put(ctx context.Context, s *gh.IssuesService, owner, name, login string, number int, x Issue) (int, error) {
	if number == 0 {
		found, err := find(ctx, s, owner, name, login, x.Marker)
		if err != nil {
			return 0, err
		}
		number = found
	}
	switch {
	case number != 0:
		state := map[bool]string{true: "open", false: "closed"}[x.Open]
		_, _, err := s.Edit(ctx, owner, name, number, &gh.IssueRequest{Title: &x.Title, Body: &x.Body, State: &state})
		return number, err
	case !x.Open:
		return 0, nil
	}
	made, _, err := s.Create(ctx, owner, name, &gh.IssueRequest{Title: &x.Title, Body: &x.Body})
	return made.GetNumber(), err
}

// find returns the number of the oldest open issue of a login with a marker; 0 if there is none.
func find(ctx context.Context, s *gh.IssuesService, owner, name, login, marker string) (int, error) {
	for page := 1; page != 0; {
		list, res, err := s.ListByRepo(ctx, owner, name, &gh.IssueListByRepoOptions{
			Creator: login, State: "open", Direction: "asc", ListOptions: gh.ListOptions{Page: page, PerPage: 100},
		})
		if err != nil {
			return 0, err
		}
		for _, x := range list {
			ours := x.GetUser().GetType() == "Bot" && strings.EqualFold(x.GetUser().GetLogin(), login)
			if ours && !x.IsPullRequest() && strings.HasPrefix(x.GetBody(), marker) {
				return x.GetNumber(), nil
			}
		}
		page = res.NextPage
	}
	return 0, nil
}
