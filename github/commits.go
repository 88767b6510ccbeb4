package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"sync"

	gh "github.com/google/go-github/v60/github"
)

// Contributors returns the users who wrote or committed the commits of a pull request.
func (c *Client) Contributors(ctx context.Context, number int) (Contributors, error) {
	out, err := contributors(ctx, c.client.PullRequests, c.repo.Owner, c.repo.Name, number)
	return out, failed(fmt.Sprintf("list the commits of pull request %s#%d", c.repo, number), err)
}

// Pushes returns the last pushes to a branch, newest first. The list may be incomplete.
func (c *Client) Pushes(ctx context.Context, branch string) ([]Push, error) {
	out, err := pushes(ctx, c.client, c.repo.Owner, c.repo.Name, branch)
	return out, failed(fmt.Sprintf("list the pushes to %s of %s", branch, c.repo), err)
}

// Behind reports whether the commit base contains commits that the commit sha lacks.
func (c *Client) Behind(ctx context.Context, sha, base string) (bool, error) {
	what := fmt.Sprintf("compare %.7s of %s with %.7s", sha, c.repo, base)
	for _, s := range []string{sha, base} {
		if err := checkSHA(s); err != nil {
			return false, fmt.Errorf("%s: %w", what, err)
		}
	}
	x, _, err := c.client.Repositories.CompareCommits(ctx, c.repo.Owner, c.repo.Name, base, sha, &gh.ListOptions{PerPage: 1})
	if err != nil {
		return false, failed(what, err)
	}
	return x.GetBehindBy() > 0, nil
}

// MaxCommits is the maximum number of commits that GitHub lists for a pull request. Source:
// https://docs.github.com/en/rest/pulls/pulls#list-commits-on-a-pull-request
const MaxCommits = 250

// webFlow is the login that GitHub names as the committer of commits made on its web pages. It does not count
// as a contributor. If webFlow is named as a commit's author, the author is unknown: anybody can write its
// email address into a commit.
const webFlow = "web-flow"

// Contributors are the authors and committers of the commits of a pull request.
type Contributors struct {
	// Logins are the users who wrote or committed the commits, and co-authors whose email addresses contain a
	// login.
	Logins []string
	// Commits are the SHAs of the commits. Unlinked are the SHAs of commits whose author or committer GitHub
	// links to no user.
	Commits, Unlinked []string
	// All is set if the list of commits is complete; GitHub lists at most MaxCommits.
	All bool
}

// contributors returns the contributors to a pull request of the repository owner/name; see
// [Client.Contributors].
func contributors(ctx context.Context, pulls *gh.PullRequestsService, owner, name string, number int) (c Contributors, err error) {
	seen := map[string]bool{"": true}
	add := func(login string) {
		if !seen[login] {
			seen[login] = true
			c.Logins = append(c.Logins, login)
		}
	}
	for page := 1; page != 0; {
		list, res, err := pulls.ListCommits(ctx, owner, name, number, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return Contributors{}, err
		}
		for _, x := range list {
			c.Commits = append(c.Commits, x.GetSHA())
			author, committer := x.GetAuthor().GetLogin(), x.GetCommitter().GetLogin()
			if author == webFlow {
				author = ""
			}
			if author == "" || committer == "" {
				c.Unlinked = append(c.Unlinked, x.GetSHA())
			}
			if add(author); committer != webFlow {
				add(committer)
			}
			for _, found := range coAuthor().FindAllStringSubmatch(x.GetCommit().GetMessage(), -1) {
				add(found[1])
			}
		}
		page = res.NextPage
	}
	c.All = len(c.Commits) < MaxCommits
	return c, nil
}

// coAuthor matches a line of a commit's message that names a co-author by the address that GitHub gives to users.
// Sources: https://docs.github.com/en/pull-requests/committing-changes-to-your-project/creating-and-editing-commits/creating-a-commit-with-multiple-authors,
// https://docs.github.com/en/account-and-profile/reference/email-addresses-reference#your-noreply-email-address
var coAuthor = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?mi)^co-authored-by:[^<\n]*<(?:[0-9]+\+)?([a-z0-9_-]{1,39}(?:\[bot\])?)@users\.noreply\.github\.com>`)
})

// CoAuthor returns the line of a commit's message that names a user as a co-author. [Client.Contributors] then counts the user.
func CoAuthor(login string) string {
	return fmt.Sprintf("Co-authored-by: %[1]s <%[1]s@users.noreply.github.com>", login)
}

// A Push is a move of a branch from one commit to another. By is the login of the user who pushed; "" if GitHub
// does not say.
type Push struct{ By, Before, After string }

// pushes lists the last hundred moves of a branch, newest first.
// Source: https://docs.github.com/en/rest/repos/repos#list-repository-activities
func pushes(ctx context.Context, client *gh.Client, owner, name, branch string) (out []Push, err error) {
	req, err := client.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/activity?ref=%s&per_page=100", owner, name, url.QueryEscape("refs/heads/"+branch)), nil)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Before, After string
		Actor         *gh.User
	}
	if _, err := client.Do(ctx, req, &list); err != nil {
		return nil, err
	}
	for _, x := range list {
		out = append(out, Push{x.Actor.GetLogin(), x.Before, x.After})
	}
	return out, nil
}
