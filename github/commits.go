package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v60/github"

	"github.com/lockstep-iac/lockstep/github/internal/contributing"
)

// MaxCommits is the number of commits that GitHub lists of a pull request at most.
const MaxCommits = contributing.Most

// Contributors returns the logins of the users who wrote or committed the commits of a pull request, as
// far as GitHub knows them. all is false if there may be more commits than GitHub lists.
func (c *Client) Contributors(ctx context.Context, number int) (logins []string, all bool, err error) {
	logins, all, err = contributing.Logins(ctx, c.client.PullRequests, c.repo.Owner, c.repo.Name, number)
	return logins, all, failed(fmt.Sprintf("list the commits of pull request %s#%d", c.repo, number), err)
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
