package github

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/github/internal/reviewing"
)

// A ReviewState is the verdict of a review.
type ReviewState = reviewing.State

const (
	Approved         = reviewing.Approved
	ChangesRequested = reviewing.ChangesRequested
	Commented        = reviewing.Commented
	Dismissed        = reviewing.Dismissed
)

// A Review is one reviewer's opinion of a pull request.
type Review = reviewing.Review

// Reviews returns the reviews that count now, one for each reviewer, oldest first: the latest one,
// except that remarks without a verdict do not replace a verdict.
func (c *Client) Reviews(ctx context.Context, number int) ([]Review, error) {
	all, err := reviewing.All(ctx, c.client.PullRequests, c.repo.Owner, c.repo.Name, number)
	return all, failed(fmt.Sprintf("list the reviews of pull request %s#%d", c.repo, number), err)
}
