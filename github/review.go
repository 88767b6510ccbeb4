package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// Reviews returns the reviews that count now, one for each reviewer, oldest first. The latest review of a
// reviewer counts, except that a review with only comments does not replace an approval or a request for
// changes.
func (c *Client) Reviews(ctx context.Context, number int) ([]Review, error) {
	all, err := listReviews(ctx, c.client.PullRequests, c.repo.Owner, c.repo.Name, number)
	return all, failed(fmt.Sprintf("list the reviews of pull request %s#%d", c.repo, number), err)
}

// A ReviewState is the verdict of a review.
type ReviewState string

const (
	Approved         ReviewState = "approved"
	ChangesRequested ReviewState = "changes_requested"
	Commented        ReviewState = "commented"
	Dismissed        ReviewState = "dismissed"
)

// A Review is one reviewer's opinion of a pull request.
type Review struct {
	Author string // login
	State  ReviewState
	SHA    string    // the head that was reviewed
	At     time.Time // of submission
}

// listReviews returns the reviews of a pull request that count now; see Reviews.
func listReviews(ctx context.Context, s *gh.PullRequestsService, owner, name string, number int) ([]Review, error) {
	var all []Review
	for page := 1; page != 0; {
		list, res, err := s.ListReviews(ctx, owner, name, number, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			all = append(all, reviewOf(r))
		}
		page = res.NextPage
	}
	return latestReviews(all), nil
}

// reviewOf converts a review from go-github's type.
func reviewOf(r *gh.PullRequestReview) Review {
	return Review{
		// The API writes the state in capitals, webhooks in lower case.
		Author: r.GetUser().GetLogin(), State: ReviewState(strings.ToLower(r.GetState())),
		SHA: r.GetCommitID(), At: r.GetSubmittedAt().Time,
	}
}

// latestReviews returns those of the given reviews that count now; see Reviews. Reviews without an author (the
// account was deleted) and reviews that are not submitted do not count.
func latestReviews(all []Review) []Review {
	counts := map[string]Review{}
	for _, r := range slices.SortedStableFunc(slices.Values(all), reviewsByTime) {
		switch r.State {
		case Approved, ChangesRequested, Dismissed:
		case Commented:
			if is, ok := counts[r.Author]; ok && is.State != Commented {
				continue
			}
		default:
			continue
		}
		if r.Author != "" {
			counts[r.Author] = r
		}
	}
	var out []Review
	for _, r := range counts {
		out = append(out, r)
	}
	slices.SortFunc(out, reviewsByTime)
	return out
}

func reviewsByTime(a, b Review) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Author, b.Author))
}
