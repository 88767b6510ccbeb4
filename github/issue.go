package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// PutIssue ensures that Lockstep's App has an issue with the content x, and returns the number of the issue. If
// number is not 0, PutIssue changes the issue with this number. If number is 0, it changes the App's open issue
// with the marker of x, or creates an issue.
//
// If x says that the issue is closed and there is none, PutIssue creates none and returns 0. It also returns 0
// if the repository has issues disabled, or if the issue was deleted. Only issues that the App wrote count,
// because anybody can write a marker. Bytes that are not UTF-8 are replaced.
func (c *Client) PutIssue(ctx context.Context, number int, x Issue) (int, error) {
	if x.Marker == "" || !strings.HasPrefix(x.Body, x.Marker) {
		panic("github: an issue that does not begin with its marker")
	}
	x.Title, x.Body = utf8Only(x.Title), utf8Only(x.Body)
	what := fmt.Sprintf("write the issue %q of %s", x.Title, c.repo)
	if len(x.Body) > MaxComment {
		return 0, fmt.Errorf("%s: it is %d bytes long, and %d are allowed", what, len(x.Body), MaxComment)
	}
	login, err := c.app.Login(ctx)
	if err != nil {
		return 0, err
	}
	number, err = putIssue(ctx, c.client.Issues, c.repo.Owner, c.repo.Name, login, number, x)
	if err == nil {
		return number, nil
	}
	var re *gh.ErrorResponse
	if errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == http.StatusGone {
		return 0, nil // issues are disabled in the repository
	}
	if err = failed(what, err); errors.Is(err, ErrNotFound) { // issues are disabled, or the App has no access to the repository any more
		_, _, err = c.client.PullRequests.List(ctx, c.repo.Owner, c.repo.Name, &gh.PullRequestListOptions{ListOptions: gh.ListOptions{PerPage: 1}})
		err = failed(what, err)
	}
	return 0, err
}

// An Issue is the content of an issue that Lockstep writes.
type Issue struct {
	Marker string // the beginning of Body: an invisible text by which the issue is found
	Title  string
	Body   string // Markdown
	Open   bool
}

// putIssue does the work of PutIssue, in the repository owner/name. login is the login of the App. If there are
// several open issues with x's marker, it changes the oldest.
//
// Source: https://docs.github.com/en/rest/issues/issues
func putIssue(ctx context.Context, s *gh.IssuesService, owner, name, login string, number int, x Issue) (int, error) {
	if number == 0 {
		found, err := findIssue(ctx, s, owner, name, login, x.Marker)
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

// findIssue returns the number of the oldest open issue that login wrote and that begins with marker; 0 if
// there is none.
func findIssue(ctx context.Context, s *gh.IssuesService, owner, name, login, marker string) (int, error) {
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
