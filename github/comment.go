package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// MaxComment is the limit of a comment's length. GitHub counts characters. Lockstep counts bytes, which are
// never fewer.
// Source: GitHub's answer to a longer comment, "body is too long (maximum is 65536 characters)".
const MaxComment = 65536

// Earlier says where to look for a comment that may exist, to save requests. Without it, finding the comment
// takes one request for each hundred comments.
type Earlier struct {
	// ID is the ID of the comment when it was last written; 0 if unknown. If Lockstep has no comment with this
	// ID any more, all comments are searched.
	ID int64
	// Since is the start of the search: the comment was not written before that time. Zero if unknown.
	Since time.Time
}

// PutComment ensures that exactly one of Lockstep's comments begins with a marker, a text that people do not
// see, and that this comment has the given body. It edits the existing comment, or writes a new one. It returns
// the comment's ID and the time of its present text, in seconds of GitHub's clock.
//
// Only comments that the App wrote count, because anybody can write a marker. A marker counts only as the first
// bytes of a comment, because later text may come from others, for example from a plan. Two calls at the same
// time may have left several comments: PutComment keeps the oldest, and deletes the others. Bytes that are not
// UTF-8 are replaced.
func (c *Client) PutComment(ctx context.Context, number int, e Earlier, marker, body string) (id int64, at time.Time, err error) {
	if marker == "" || !strings.HasPrefix(body, marker) {
		panic("github: a comment that does not begin with its marker")
	}
	body = utf8Only(body)
	if len(body) > MaxComment {
		return 0, at, fmt.Errorf("comment on %s#%d: it is %d bytes long, and %d are allowed", c.repo, number, len(body), MaxComment)
	}
	own, err := c.ourComments(ctx, number, e, marker)
	if err != nil {
		return 0, at, err
	}
	if len(own) == 0 {
		made, _, err := c.client.Issues.CreateComment(ctx, c.repo.Owner, c.repo.Name, number, &gh.IssueComment{Body: &body})
		if err != nil {
			return 0, at, failed(fmt.Sprintf("comment on %s#%d", c.repo, number), err)
		}
		return made.GetID(), made.GetUpdatedAt().Time, nil
	}
	id, at = own[0].GetID(), own[0].GetUpdatedAt().Time
	for _, twin := range own[1:] {
		_, err := c.client.Issues.DeleteComment(ctx, c.repo.Owner, c.repo.Name, twin.GetID())
		if err = failed(fmt.Sprintf("delete comment %d on %s#%d", twin.GetID(), c.repo, number), err); err != nil && !errors.Is(err, ErrNotFound) {
			return 0, at, err
		}
	}
	if own[0].GetBody() == body {
		return id, at, nil
	}
	edited, _, err := c.client.Issues.EditComment(ctx, c.repo.Owner, c.repo.Name, id, &gh.IssueComment{Body: &body})
	if err != nil {
		return 0, at, failed(fmt.Sprintf("edit comment %d on %s#%d", id, c.repo, number), err)
	}
	return id, edited.GetUpdatedAt().Time, nil
}

// Minimize folds a comment that Lockstep's App wrote: GitHub shows one line instead, "This comment was marked as
// outdated", and the text after a click. It does nothing if Lockstep has no comment with this ID any more.
// Source: https://docs.github.com/en/graphql/reference/mutations#minimizecomment
func (c *Client) Minimize(ctx context.Context, comment int64) error {
	what := fmt.Sprintf("minimize comment %d on %s", comment, c.repo)
	login, err := c.app.Login(ctx)
	if err != nil {
		return err
	}
	x, _, err := c.client.Issues.GetComment(ctx, c.repo.Owner, c.repo.Name, comment)
	if err = failed(what, err); errors.Is(err, ErrNotFound) || err == nil && !wrote(x, login) {
		return nil
	}
	if err != nil {
		return err
	}
	a, err := ask(ctx, c, c.client, minimizeMutation, map[string]any{"id": x.GetNodeID()})
	if err == nil {
		err = deniedIn(a)
	}
	if err = failed(what, err); errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// utf8Only replaces bytes that are not UTF-8. JSON would turn each of these bytes into three bytes. The text
// would then be longer than Lockstep has measured, and would differ from Lockstep's text when it is read again.
func utf8Only(s string) string { return strings.ToValidUTF8(s, "?") }

// ourComments returns the comments that Lockstep's App wrote and that begin with the marker, the oldest first.
// If the comment with e.ID is one of them, it returns only that one.
func (c *Client) ourComments(ctx context.Context, number int, e Earlier, marker string) ([]*gh.IssueComment, error) {
	login, err := c.app.Login(ctx)
	if err != nil {
		return nil, err
	}
	if e.ID != 0 {
		x, _, err := c.client.Issues.GetComment(ctx, c.repo.Owner, c.repo.Name, e.ID)
		if err = failed(fmt.Sprintf("read comment %d on %s#%d", e.ID, c.repo, number), err); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		if err == nil && wrote(x, login) && strings.HasPrefix(x.GetBody(), marker) && strings.HasSuffix(x.GetIssueURL(), fmt.Sprintf("/%d", number)) {
			return []*gh.IssueComment{x}, nil
		}
	}
	options := gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: 100}}
	if !e.Since.IsZero() {
		options.Since = &e.Since
	}
	var own []*gh.IssueComment
	for page := 1; page != 0; {
		options.Page = page
		// GitHub returns the oldest comment first.
		list, res, err := c.client.Issues.ListComments(ctx, c.repo.Owner, c.repo.Name, number, &options)
		if err != nil {
			return nil, failed(fmt.Sprintf("list the comments on %s#%d", c.repo, number), err)
		}
		for _, x := range list {
			if wrote(x, login) && strings.HasPrefix(x.GetBody(), marker) {
				own = append(own, x)
			}
		}
		page = res.NextPage
	}
	return own, nil
}

// wrote reports whether the App with a login wrote the comment x. Only the logins of Apps end in "[bot]"; the
// type of the account confirms that the author is an App.
func wrote(x *gh.IssueComment, login string) bool {
	return x.GetUser().GetType() == "Bot" && strings.EqualFold(x.GetUser().GetLogin(), login)
}

// A Comment is a comment on a pull request or an issue, by any author.
type Comment struct {
	ID     int64
	Number int    // of the pull request or the issue
	Issue  bool   // it is on an issue
	Author string // login; "" if the account was deleted
	Bot    bool   // the author is an App
	Ours   bool   // the author is our App
	Body   string
	At     time.Time // of writing
	Edited bool      // Body was changed after At
	// Updated is the time of the last change of Body.
	Updated time.Time
}

// CommentsSince returns the comments on any pull request or issue of the repository that were written since a time, the
// oldest first. Source: https://docs.github.com/en/rest/issues/comments#list-issue-comments-for-a-repository
func (c *Client) CommentsSince(ctx context.Context, since time.Time) ([]Comment, error) {
	login, err := c.app.Login(ctx)
	if err != nil {
		return nil, err
	}
	sort, direction := "created", "asc"
	var out []Comment
	for page := 1; page != 0; {
		list, res, err := c.client.Issues.ListComments(ctx, c.repo.Owner, c.repo.Name, 0, &gh.IssueListCommentsOptions{
			Since: &since, Sort: &sort, Direction: &direction, ListOptions: gh.ListOptions{Page: page, PerPage: 100},
		})
		if err != nil {
			return nil, failed(fmt.Sprintf("list the comments on %s", c.repo), err)
		}
		for _, x := range list {
			number, issue, ok := numberOfPage(x.GetHTMLURL())
			// GitHub also lists older comments that were edited since.
			if !ok || x.GetCreatedAt().Before(since) {
				continue
			}
			y := commentOf(x, number, login)
			y.Issue = issue
			out = append(out, y)
		}
		page = res.NextPage
	}
	return out, nil
}

// commentOf returns a comment on a pull request. login is the login of our App.
func commentOf(x *gh.IssueComment, number int, login string) Comment {
	return Comment{
		ID: x.GetID(), Number: number, Author: x.GetUser().GetLogin(), Bot: x.GetUser().GetType() == "Bot", Ours: wrote(x, login),
		Body: x.GetBody(), At: x.GetCreatedAt().Time, Edited: !x.GetUpdatedAt().Equal(x.GetCreatedAt()), Updated: x.GetUpdatedAt().Time,
	}
}

// maxCommentPages limits the requests of [Client.Comments], for a hundred comments each.
const maxCommentPages = 10

// Comments returns the comments on a pull request that were written or edited since a time, the oldest first: at most
// 1,000. Source: https://docs.github.com/en/rest/issues/comments#list-issue-comments
func (c *Client) Comments(ctx context.Context, number int, since time.Time) ([]Comment, error) {
	login, err := c.app.Login(ctx)
	if err != nil {
		return nil, err
	}
	options := gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: 100}}
	if !since.IsZero() {
		options.Since = &since
	}
	var out []Comment
	for options.Page = 1; options.Page != 0 && options.Page <= maxCommentPages; {
		list, res, err := c.client.Issues.ListComments(ctx, c.repo.Owner, c.repo.Name, number, &options)
		if err != nil {
			return nil, failed(fmt.Sprintf("list the comments on %s#%d", c.repo, number), err)
		}
		for _, x := range list {
			out = append(out, commentOf(x, number, login))
		}
		options.Page = res.NextPage
	}
	return out, nil
}

// A Reaction is GitHub's name of an emoji reaction to a comment, such as "eyes". Source:
// https://docs.github.com/en/rest/reactions/reactions#about-reactions
type Reaction string

const (
	Eyes     Reaction = "eyes"     // seen
	Rocket   Reaction = "rocket"   // done
	Confused Reaction = "confused" // not understood, or refused
)

// React puts a reaction under a comment. If the App has already put this reaction there, nothing changes.
func (c *Client) React(ctx context.Context, comment int64, r Reaction) error {
	_, _, err := c.client.Reactions.CreateIssueCommentReaction(ctx, c.repo.Owner, c.repo.Name, comment, string(r))
	if err != nil {
		return failed(fmt.Sprintf("react to comment %d on %s", comment, c.repo), err)
	}
	return nil
}
