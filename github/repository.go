package github

import (
	"context"
	"fmt"
)

// DefaultBranch returns the name of the repository's default branch, and its present commit. The error wraps
// ErrNotFound if the repository is empty.
//
// Source: https://docs.github.com/en/rest/repos/repos#get-a-repository
func (c *Client) DefaultBranch(ctx context.Context) (name, tip string, err error) {
	r, _, err := c.client.Repositories.Get(ctx, c.repo.Owner, c.repo.Name)
	if err != nil {
		return "", "", failed(fmt.Sprintf("read the repository %s", c.repo), err)
	}
	name = r.GetDefaultBranch()
	tip, err = c.Tip(ctx, name)
	return name, tip, err
}
