package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A Discussion is the part of a pull request that only GitHub's GraphQL API tells.
type Discussion struct {
	// Open is the number of conversations of reviews that are not resolved.
	Open int
	// ReviewMissing is set if the rules of the base branch want reviews that are not there, or changes
	// are requested.
	ReviewMissing bool
}

// discussionQuery asks for both.
// Source: https://docs.github.com/en/graphql/reference/objects#pullrequest
const discussionQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    databaseId
    pullRequest(number: $number) {
      reviewDecision
      reviewThreads(first: 100, after: $after) {
        nodes { isResolved }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`

// A discussionAnswer is GitHub's answer, in which an error comes with the status 200.
type discussionAnswer struct {
	Data struct {
		Repository *struct {
			DatabaseID  int64 `json:"databaseId"`
			PullRequest *struct {
				ReviewDecision *string `json:"reviewDecision"`
				ReviewThreads  struct {
					Nodes []struct {
						IsResolved bool `json:"isResolved"`
					} `json:"nodes"`
					PageInfo struct {
						HasNextPage bool   `json:"hasNextPage"`
						EndCursor   string `json:"endCursor"`
					} `json:"pageInfo"`
				} `json:"reviewThreads"`
			} `json:"pullRequest"`
		} `json:"repository"`
	} `json:"data"`
	Errors []struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"errors"`
}

// Discussion reads the conversations of a pull request.
func (c *Client) Discussion(ctx context.Context, number int) (Discussion, error) {
	what := fmt.Sprintf("read the conversations of pull request %s#%d", c.repo, number)
	var out Discussion
	for after := (*string)(nil); ; {
		req, err := c.queries.NewRequest("POST", c.graphQL(), map[string]any{
			"query": discussionQuery, "variables": map[string]any{"owner": c.repo.Owner, "name": c.repo.Name, "number": number, "after": after},
		})
		if err != nil {
			return Discussion{}, fmt.Errorf("%s: %w", what, err)
		}
		var a discussionAnswer
		if _, err := c.queries.Do(ctx, req, &a); err != nil {
			return Discussion{}, failed(what, err)
		}
		if err := a.refusal(c.repo.ID); err != nil {
			return Discussion{}, failed(what, err)
		}
		p := a.Data.Repository.PullRequest
		for _, t := range p.ReviewThreads.Nodes {
			if !t.IsResolved {
				out.Open++
			}
		}
		out.ReviewMissing = p.ReviewDecision != nil && *p.ReviewDecision != "APPROVED"
		if !p.ReviewThreads.PageInfo.HasNextPage {
			return out, nil
		}
		after = &p.ReviewThreads.PageInfo.EndCursor
	}
}

// refusal returns the error in an answer that has one, or lacks the pull request.
func (a discussionAnswer) refusal(repo int64) error {
	if len(a.Errors) > 0 {
		e := a.Errors[0]
		switch e.Type {
		case "NOT_FOUND":
			return ErrNotFound
		case "FORBIDDEN":
			return &FinalError{Why: "GitHub says: " + e.Message, Remedy: forbiddenRemedy}
		case "RATE_LIMITED":
			return &RateLimitedError{}
		}
		return errors.New("GitHub says: " + e.Message)
	}
	if r := a.Data.Repository; r == nil || r.PullRequest == nil || r.DatabaseID != repo {
		return ErrNotFound
	}
	return nil
}

// graphQL is the address of the GraphQL API. A GitHub Enterprise server has its REST API at /api/v3/.
// Source: https://docs.github.com/en/enterprise-server/graphql/guides/managing-enterprise-accounts
func (c *Client) graphQL() string {
	at := *c.app.api
	at.Path = strings.TrimSuffix(at.Path, "v3/") + "graphql"
	return at.String()
}
