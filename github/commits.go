package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v60/github"
)

// MaxCommits is the number of commits that GitHub lists of a pull request at most.
// Source: https://docs.github.com/en/rest/pulls/pulls#list-commits-on-a-pull-request
const MaxCommits = 250

// webFlow is the committer of commits that are made on GitHub's pages.
const webFlow = "web-flow"

// Contributors returns the logins of the users who wrote or committed the commits of a pull request, as
// far as GitHub knows them. all is false if there may be more commits than GitHub lists.
func (c *Client) Contributors(ctx context.Context, number int) (logins []string, all bool, err error) {
	seen, listed := map[string]bool{"": true, webFlow: true}, 0
	for page := 1; page != 0; {
		list, res, err := c.client.PullRequests.ListCommits(ctx, c.repo.Owner, c.repo.Name, number, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, false, failed(fmt.Sprintf("list the commits of pull request %s#%d", c.repo, number), err)
		}
		for _, x := range list {
			for _, login := range []string{x.GetAuthor().GetLogin(), x.GetCommitter().GetLogin()} {
				if !seen[login] {
					seen[login] = true
					logins = append(logins, login)
				}
			}
		}
		listed += len(list)
		page = res.NextPage
	}
	return logins, listed < MaxCommits, nil
}

// Behind reports whether a commit lacks commits of another one.
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
