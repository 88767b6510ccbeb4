package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v60/github"
)

// A Source is the place of a text that a person has written: a comment on a pull request, a comment on a line
// of a file, or a review. Exactly one ID is not 0.
type Source struct {
	Comment, Line, Review int64 `json:",omitempty"`
}

// IsZero reports whether s names no text.
func (s Source) IsZero() bool { return s == Source{} }

// Written returns the present version of a text on a pull request. For a review, GitHub does not say whether it
// was edited. The error wraps ErrNotFound if the text does not exist, or is on another pull request.
func (c *Client) Written(ctx context.Context, number int, s Source) (Comment, error) {
	what := fmt.Sprintf("read what was written on %s#%d", c.repo, number)
	var err error
	var out Comment
	var page string
	switch {
	case s.Review != 0:
		var x *gh.PullRequestReview
		if x, _, err = c.client.PullRequests.GetReview(ctx, c.repo.Owner, c.repo.Name, number, s.Review); err == nil {
			page, out = x.GetHTMLURL(), Comment{ID: s.Review, Author: x.GetUser().GetLogin(), Body: x.GetBody(), At: x.GetSubmittedAt().Time}
		}
	case s.Line != 0:
		var x *gh.PullRequestComment
		if x, _, err = c.client.PullRequests.GetComment(ctx, c.repo.Owner, c.repo.Name, s.Line); err == nil {
			page = x.GetHTMLURL()
			out = Comment{ID: s.Line, Author: x.GetUser().GetLogin(), Body: x.GetBody(), At: x.GetCreatedAt().Time, Edited: !x.GetUpdatedAt().Equal(x.GetCreatedAt())}
		}
	default:
		var x *gh.IssueComment
		if x, _, err = c.client.Issues.GetComment(ctx, c.repo.Owner, c.repo.Name, s.Comment); err == nil {
			page = x.GetHTMLURL()
			out = Comment{ID: s.Comment, Author: x.GetUser().GetLogin(), Body: x.GetBody(), At: x.GetCreatedAt().Time, Edited: !x.GetUpdatedAt().Equal(x.GetCreatedAt())}
		}
	}
	if err != nil {
		return Comment{}, failed(what, err)
	}
	if n, _, ok := numberOfPage(page); !ok || n != number {
		return Comment{}, fmt.Errorf("%s: it is about another one: %w", what, ErrNotFound)
	}
	out.Number = number
	return out, nil
}
