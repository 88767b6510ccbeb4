// Package reviewing reads the reviews of pull requests, and picks those that count. It refuses to know what follows from them, and
// GitHub's errors, which it returns as they are. Start at [All].
package reviewing

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// A State is the verdict of a review.
type State string

const (
	Approved         State = "approved"
	ChangesRequested State = "changes_requested"
	Commented        State = "commented"
	Dismissed        State = "dismissed"
)

// A Review is one reviewer's opinion of a pull request.
type Review struct {
	Author string // login
	State  State
	SHA    string    // the head that was reviewed
	At     time.Time // of submission
}

// All returns the reviews of a pull request that count now, one for each reviewer, oldest first.
func All(ctx context.Context, s *gh.PullRequestsService, owner, name string, number int) ([]Review, error) {
	var all []Review
	for page := 1; page != 0; {
		list, res, err := s.ListReviews(ctx, owner, name, number, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			all = append(all, Of(r))
		}
		page = res.NextPage
	}
	return latest(all), nil
}

// Of returns a review as GitHub tells it.
func Of(r *gh.PullRequestReview) Review {
	return Review{
		// The API writes it in capitals, webhooks in lower case.
		Author: r.GetUser().GetLogin(), State: State(strings.ToLower(r.GetState())),
		SHA: r.GetCommitID(), At: r.GetSubmittedAt().Time,
	}
}

// latest returns the reviews that count now, one for each reviewer, oldest first: the latest one, except that remarks without a
// verdict do not replace a verdict. Those of deleted accounts, which have no
// author, and those that are not submitted do not.
func latest(all []Review) []Review {
	counts := map[string]Review{}
	for _, r := range slices.SortedStableFunc(slices.Values(all), byTime) {
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
	slices.SortFunc(out, byTime)
	return out
}

func byTime(a, b Review) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Author, b.Author)) }
