package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v60/github"

	"github.com/lockstep-iac/lockstep/github/internal/issuing"
)

// An Issue is the content of an issue of ours, at most MaxComment bytes.
type Issue = issuing.Issue

// PutIssue makes sure that there is an issue of ours with the content x, and returns its number. With a number it
// changes that issue; with 0 it changes the open one that our App made with x's marker, or makes it. It makes none that
// is not open: then, and where the repository has no issues or the issue was deleted, the number is 0. An issue is ours
// if the App wrote it, as with comments. Bytes that are not UTF-8 are replaced.
func (c *Client) PutIssue(ctx context.Context, number int, x Issue) (int, error) {
	if x.Marker == "" || !strings.HasPrefix(x.Body, x.Marker) {
		panic("github: an issue that does not begin with its marker")
	}
	x.Title, x.Body = utf8Only(x.Title), utf8Only(x.Body)
	what := fmt.Sprintf("write the issue %q of %s", x.Title, c.repo)
	if len(x.Body) > MaxComment {
		return 0, fmt.Errorf("%s: it is %d bytes long, and %d are allowed", what, len(x.Body), MaxComment)
	}
	login, err := c.app.Login(ctx)
	if err != nil {
		return 0, err
	}
	number, err = issuing.Put(ctx, c.client.Issues, c.repo.Owner, c.repo.Name, login, number, x)
	if err == nil {
		return number, nil
	}
	var re *gh.ErrorResponse
	if errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == http.StatusGone {
		return 0, nil // the repository has none
	}
	if err = failed(what, err); errors.Is(err, ErrNotFound) { // it has none, or the App is not where the repository is any more
		_, _, err = c.client.PullRequests.List(ctx, c.repo.Owner, c.repo.Name, &gh.PullRequestListOptions{ListOptions: gh.ListOptions{PerPage: 1}})
		err = failed(what, err)
	}
	return 0, err
}
