package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v60/github"

	"github.com/lockstep-iac/lockstep/github/internal/contributing"
)

// MaxCommits is the number of commits that GitHub lists of a pull request at most.
const MaxCommits = contributing.Most

// Contributors are the people behind the commits of a pull request.
type Contributors = contributing.Contributors

// A Push is a move of a branch, by somebody.
type Push = contributing.Push

// Contributors returns who wrote or committed the commits of a pull request.
func (c *Client) Contributors(ctx context.Context, number int) (Contributors, error) {
	out, err := contributing.List(ctx, c.client.PullRequests, c.repo.Owner, c.repo.Name, number)
	return out, failed(fmt.Sprintf("list the commits of pull request %s#%d", c.repo, number), err)
}

// Pushes returns the last pushes to a branch, newest first. GitHub need not list all of them.
func (c *Client) Pushes(ctx context.Context, branch string) ([]Push, error) {
	out, err := contributing.Pushes(ctx, c.client, c.repo.Owner, c.repo.Name, branch)
	return out, failed(fmt.Sprintf("list the pushes to %s of %s", branch, c.repo), err)
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
