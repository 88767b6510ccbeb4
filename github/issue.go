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
// If x says that the issue is closed and there is none, PutIssue creates none and returns 0. It also returns 0 if
// the repository has issues disabled, or if the issue was deleted or transferred to another repository. Only issues
// that the App wrote count, because anybody can write a marker. Bytes that are not UTF-8 are replaced.
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
	// either issues are disabled, or the App has lost access to the repository: then this request fails, too
	if err = failed(what, err); errors.Is(err, ErrNotFound) {
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

// An IssueState says whether an issue is open.
type IssueState string

const (
	IssueOpen   IssueState = "open"
	IssueClosed IssueState = "closed"
)

// IssueAsPull returns an issue in the form of a merged pull request, which has changed nothing: its head, its base and
// its merge are the present commit of the default branch. It has no author, no reviews and no files. The error wraps
// ErrNotFound if the issue was deleted or transferred, or if the number is a pull request's. (For a transferred issue, GitHub
// redirects to another repository, and the client follows no such redirect.)
//
// Source: https://docs.github.com/en/rest/issues/issues#get-an-issue
func (c *Client) IssueAsPull(ctx context.Context, number int) (PullRequest, error) {
	what := fmt.Sprintf("read issue %s#%d", c.repo, number)
	x, _, err := c.client.Issues.Get(ctx, c.repo.Owner, c.repo.Name, number)
	var re *gh.ErrorResponse
	switch {
	case errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == http.StatusGone:
		return PullRequest{}, fmt.Errorf("%s: it was deleted: %w", what, ErrNotFound)
	case err != nil:
		return PullRequest{}, failed(what, err)
	case x.IsPullRequest():
		return PullRequest{}, fmt.Errorf("%s: it is a pull request: %w", what, ErrNotFound)
	}
	r, _, err := c.client.Repositories.Get(ctx, c.repo.Owner, c.repo.Name)
	if err != nil {
		return PullRequest{}, failed(what, err)
	}
	tip, err := c.Tip(ctx, r.GetDefaultBranch())
	if err != nil {
		return PullRequest{}, err
	}
	at := Branch{Repo: repoOf(r), Ref: r.GetDefaultBranch(), SHA: tip}
	if at.Repo.ID != c.repo.ID {
		return PullRequest{}, fmt.Errorf("%s: it belongs to the repository %d, not %d: %w", what, at.Repo.ID, c.repo.ID, ErrNotFound)
	}
	if at.Repo.check() == nil {
		c.now.Store(&at.Repo)
	}
	out := PullRequest{
		Number: number, Title: x.GetTitle(), Merged: true, Head: at, Base: at, DefaultBranch: at.Ref, Private: r.GetPrivate(), MergeSHA: tip,
		URL: x.GetHTMLURL(), Updated: x.GetUpdatedAt().Time, MergedAt: x.GetCreatedAt().Time, Issue: IssueClosed,
	}
	if x.GetState() == "open" {
		out.Issue = IssueOpen
	}
	for _, l := range x.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out, nil
}
