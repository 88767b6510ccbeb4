package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// A Discussion is the state of the review of a pull request that only GitHub's GraphQL API reports.
type Discussion struct {
	// Open is the number of unresolved review conversations.
	Open int
	// ReviewMissing is set if reviews that the base branch requires are missing, or if changes are requested.
	ReviewMissing bool
}

// Discussion returns the review state of a pull request.
func (c *Client) Discussion(ctx context.Context, number int) (out Discussion, err error) {
	what := fmt.Sprintf("read the conversations of pull request %s#%d", c.repo, number)
	return out, pages(ctx, c, what, discussionQuery, number, func(p *queriedPull) pageInfo {
		for _, t := range p.ReviewThreads.Nodes {
			if !t.IsResolved {
				out.Open++
			}
		}
		out.ReviewMissing = p.ReviewDecision != nil && *p.ReviewDecision != "APPROVED"
		return p.ReviewThreads.PageInfo
	})
}

// A Queued is an entry of a merge queue. SHA is the commit of its merge group: the base branch, with this pull
// request and all before it in the queue merged. It is "" until GitHub has made that commit.
type Queued struct {
	Number int
	SHA    string
	By     string    // login of the user or App that added it to the queue
	At     time.Time // time of adding it, in seconds of GitHub's clock
}

// Queue returns the whole merge queue that contains a pull request, in the order of the merges; nil if the pull
// request is in no queue.
func (c *Client) Queue(ctx context.Context, number int) (out []Queued, err error) {
	what := fmt.Sprintf("read the merge queue of pull request %s#%d", c.repo, number)
	return out, pages(ctx, c, what, queueQuery, number, func(p *queriedPull) pageInfo {
		if p.MergeQueue == nil {
			return pageInfo{}
		}
		for _, e := range p.MergeQueue.Entries.Nodes {
			out = append(out, Queued{e.PullRequest.Number, e.HeadCommit.OID, e.Enqueuer.Name(), e.EnqueuedAt})
		}
		return p.MergeQueue.Entries.PageInfo
	})
}

// pages sends a query about a pull request, page by page, and calls the function take with each page. take
// returns whether another page follows. what says what the call tries to do, for errors.
func pages(ctx context.Context, c *Client, what, query string, number int, take func(*queriedPull) pageInfo) error {
	for after := (*string)(nil); ; {
		r := present(c) // GraphQL has no address by ID
		a, err := ask(ctx, c, c.queries, query, map[string]any{"owner": r.Owner, "name": r.Name, "number": number, "after": after})
		if err == nil {
			err = refusal(a, c.repo.ID)
		}
		if err != nil {
			return failed(what, err)
		}
		page := take(a.Data.Repository.PullRequest)
		if !page.HasNextPage {
			return nil
		}
		after = &page.EndCursor
	}
}

// ask sends a GraphQL query or mutation through the client in the parameter by, and returns the answer.
func ask(ctx context.Context, c *Client, by *gh.Client, query string, variables map[string]any) (a queryAnswer, err error) {
	req, err := by.NewRequest("POST", graphQLAddress(c.app.api), map[string]any{"query": query, "variables": variables})
	if err == nil {
		_, err = by.Do(ctx, req, &a)
	}
	return a, err
}

// refusal returns the error in a GraphQL answer. An answer without the pull request, or about another
// repository than repo, is also an error.
func refusal(a queryAnswer, repo int64) error {
	if err := deniedIn(a); err != nil {
		return err
	}
	if r := a.Data.Repository; r == nil || r.PullRequest == nil || r.DatabaseID != repo {
		return ErrNotFound
	}
	return nil
}

// deniedIn returns the error that a GraphQL answer contains; nil if there is none.
func deniedIn(a queryAnswer) error {
	if len(a.Errors) > 0 {
		e := a.Errors[0]
		switch e.Type {
		case "NOT_FOUND":
			return ErrNotFound
		case "FORBIDDEN":
			return &FinalError{Why: "GitHub says: " + e.Message, Remedy: forbiddenRemedy}
		case "RATE_LIMITED":
			return &RateLimitedError{}
		case "UNPROCESSABLE":
			return &FinalError{Why: "GitHub says: " + e.Message}
		}
		if strings.Contains(e.Message, "doesn't exist on type") {
			return errNoMember
		}
		return errors.New("GitHub says: " + e.Message)
	}
	return nil
}

// errNoMember reports that an older GitHub server does not have a member of the query.
var errNoMember = errors.New("this GitHub does not know the member")
