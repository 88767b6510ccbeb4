package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// A Client reads and writes one repository. It is safe for concurrent use.
type Client struct {
	app    *App
	repo   Repo
	scope  tokenScope
	client *gh.Client
	// queries is the client for requests that only read, GraphQL queries by POST included.
	queries *gh.Client
	meter   *meter
	// now is the repository with its present owner and name, from the last pull request that was read.
	now atomic.Pointer[Repo]
}

// present returns the client's repository with the owner and name from GitHub's latest answer.
func present(c *Client) Repo {
	if now := c.now.Load(); now != nil {
		return *now
	}
	return c.repo
}

// ErrNotFound reports that an object does not exist, or that the App may not see it.
var ErrNotFound = errors.New("not found")

// A RateLimitedError reports that GitHub accepts no more requests until a time. Until then is longer than
// [AppConfig.MaxWait].
type RateLimitedError struct{ Until time.Time }

// Error implements error.
func (e *RateLimitedError) Error() string {
	if e.Until.IsZero() {
		return "GitHub's rate limit is used up for now"
	}
	return "GitHub's rate limit is used up until " + e.Until.UTC().Format(time.RFC3339)
}

// failed adds to an error what the call tried to do; nil stays nil. It leaves out addresses, because some
// contain tokens.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var primary *gh.RateLimitError
	if errors.As(err, &primary) {
		return fmt.Errorf("%s: %w", what, &RateLimitedError{primary.Rate.Reset.Time})
	}
	var secondary *gh.AbuseRateLimitError
	if errors.As(err, &secondary) {
		return fmt.Errorf("%s: %w", what, refused(secondary.RetryAfter))
	}
	var re *gh.ErrorResponse
	if errors.As(err, &re) && re.Response != nil {
		status := re.Response.StatusCode
		wait, given := retryAfter(re.Response.Header)
		switch {
		case status == http.StatusNotFound, status == http.StatusUnprocessableEntity && strings.HasPrefix(re.Message, noCommitWords):
			return fmt.Errorf("%s: %w", what, ErrNotFound)
		case status == http.StatusTooManyRequests, status == http.StatusForbidden && (given || strings.Contains(re.Message, secondaryWords)):
			if !given {
				wait = secondaryWait
			}
			return fmt.Errorf("%s: %w", what, refused(&wait))
		}
		why := fmt.Sprintf("GitHub says %s: %s", re.Response.Status, said(re))
		if e := final(what, status, why); e != nil {
			return e
		}
		return fmt.Errorf("%s: %s", what, why)
	}
	var e *FinalError
	if errors.As(err, &e) {
		return &FinalError{What: what, Why: err.Error(), Remedy: e.Remedy}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// noCommitWords is the beginning of GitHub's answer to a request about the checks of a commit that does not
// exist.
const noCommitWords = "No commit found"

// refused returns the error for a rate limit that ends after wait; nil if wait is nil.
func refused(wait *time.Duration) *RateLimitedError {
	if wait == nil {
		return &RateLimitedError{}
	}
	return &RateLimitedError{time.Now().Add(*wait)}
}

// said returns the message of GitHub's error answer, with its remarks about fields of the request.
func said(re *gh.ErrorResponse) string {
	s := re.Message
	for _, e := range re.Errors {
		s += "; " + e.Error()
	}
	return s
}

// A Permission is a user's permission in a repository. Each level includes the lower ones.
type Permission int

const (
	NoPermission Permission = iota
	ReadPermission
	WritePermission
	AdminPermission
)

var permissions = []string{NoPermission: "none", ReadPermission: "read", WritePermission: "write", AdminPermission: "admin"}

// String returns GitHub's word for the permission, such as "write".
func (p Permission) String() string { return permissions[p] }

// Permission returns the present permission of a user. GitHub reports "maintain" as "write", and "triage" as
// "read". A user whom GitHub does not know has none. Source:
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
func (c *Client) Permission(ctx context.Context, login string) (Permission, error) {
	what := fmt.Sprintf("ask for the permission of %s on %s", login, c.repo)
	if !loginPattern().MatchString(login) {
		return NoPermission, fmt.Errorf("%s: this is not a login", what)
	}
	level, _, err := c.client.Repositories.GetPermissionLevel(ctx, c.repo.Owner, c.repo.Name, login)
	if err != nil {
		err = failed(what, err)
		if errors.Is(err, ErrNotFound) {
			return NoPermission, nil
		}
		return NoPermission, err
	}
	return Permission(max(0, slices.Index(permissions, level.GetPermission()))), nil
}
