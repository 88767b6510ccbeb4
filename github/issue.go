package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// An Issue is the content of an issue of ours.
type Issue struct {
	Marker string // the beginning of Body: a text that people do not see, and by which it is found
	Title  string
	Body   string // Markdown, at most MaxComment bytes
	Open   bool
}

// PutIssue makes sure that there is an issue of ours with the content x, and returns its number. With a number it
// changes that issue; with 0 it changes the open one that our App made with x's marker, or makes it. It makes none that
// is not open: then, and where the repository has no issues or the issue was deleted, the number is 0. An issue is ours
// if the App wrote it, as with comments. Bytes that are not UTF-8 are replaced.
//
// Source: https://docs.github.com/en/rest/issues/issues
func (c *Client) PutIssue(ctx context.Context, number int, x Issue) (int, error) {
	if x.Marker == "" || !strings.HasPrefix(x.Body, x.Marker) {
		panic("github: an issue that does not begin with its marker")
	}
	x.Title, x.Body = utf8Only(x.Title), utf8Only(x.Body)
	what := fmt.Sprintf("write the issue %q of %s", x.Title, c.repo)
	if len(x.Body) > MaxComment {
		return 0, fmt.Errorf("%s: it is %d bytes long, and %d are allowed", what, len(x.Body), MaxComment)
	}
	if number == 0 {
		found, err := c.findIssue(ctx, x.Marker)
		if err != nil {
			return 0, unlessGone(what, err)
		}
		number = found
	}
	switch {
	case number != 0:
		state := map[bool]string{true: "open", false: "closed"}[x.Open]
		_, _, err := c.client.Issues.Edit(ctx, c.repo.Owner, c.repo.Name, number, &gh.IssueRequest{Title: &x.Title, Body: &x.Body, State: &state})
		if err != nil {
			return 0, unlessGone(what, err)
		}
		return number, nil
	case !x.Open:
		return 0, nil
	}
	made, _, err := c.client.Issues.Create(ctx, c.repo.Owner, c.repo.Name, &gh.IssueRequest{Title: &x.Title, Body: &x.Body})
	if err != nil {
		return 0, unlessGone(what, err)
	}
	return made.GetNumber(), nil
}

// unlessGone is the error of a request about issues; nil where there are none.
func unlessGone(what string, err error) error {
	var re *gh.ErrorResponse
	if errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == http.StatusGone {
		return nil
	}
	if err = failed(what, err); errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// findIssue returns the number of our oldest open issue with the marker; 0 if there is none.
func (c *Client) findIssue(ctx context.Context, marker string) (int, error) {
	login, err := c.app.Login(ctx)
	if err != nil {
		return 0, err
	}
	for page := 1; page != 0; {
		list, res, err := c.client.Issues.ListByRepo(ctx, c.repo.Owner, c.repo.Name, &gh.IssueListByRepoOptions{
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
