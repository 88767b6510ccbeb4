package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// ErrHeadMoved reports that the head of a pull request is no longer the one to merge.
var ErrHeadMoved = errors.New("the pull request has another head by now")

// ErrQueued reports that a pull request is now in the merge queue of its base branch, which merges it.
var ErrQueued = errors.New("the pull request is in the merge queue")

// landRemedy is the advice to users if the App may not merge, or not write a file. By default the App may only read contents.
// Source: https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
const landRemedy = "The GitHub App needs the permission to write contents: give it in the App's settings, and accept it in those of the installation."

// baseWords is a part of GitHub's message when it refuses a merge because another merge into the same branch is
// in progress. Another attempt may succeed.
const baseWords = "Base branch was modified"

// Land merges an open pull request by the method "merge", "squash" or "rebase", if its head is still sha. If
// the base branch requires a merge queue, Land adds the pull request to the queue. GitHub's branch protection
// applies as for people. An error wraps ErrHeadMoved or ErrQueued, or is a *FinalError if GitHub refuses.
// Source: https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
func (c *Client) Land(ctx context.Context, number int, sha, method string) error {
	what := fmt.Sprintf("merge pull request %s#%d", c.repo, number)
	end := time.Now().Add(c.app.config.MaxMergeWait)
	for wait := mergePause; ; wait *= 2 {
		_, _, err := c.client.PullRequests.Merge(ctx, c.repo.Owner, c.repo.Name, number, "", &gh.PullRequestOptions{SHA: sha, MergeMethod: method})
		if !answered(err, http.StatusMethodNotAllowed, baseWords) || time.Now().Add(wait).After(end) || !fits(ctx, wait) {
			if answered(err, http.StatusMethodNotAllowed, "") {
				if queued := enqueue(ctx, c, what, number, sha); queued != nil {
					return queued
				}
			}
			return landed(what, err)
		}
		if err := sleep(ctx, wait); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// enqueue adds a pull request whose head is still sha to the merge queue of its base branch. It returns the
// errors of Land: ErrQueued if it succeeds. It returns nil if the branch has no queue, or if the GitHub server
// has no merge queues. Source: https://docs.github.com/en/graphql/reference/mutations#enqueuepullrequest
func enqueue(ctx context.Context, c *Client, what string, number int, sha string) error {
	var p queriedPull
	err := pages(ctx, c, what, queueingQuery, number, func(x *queriedPull) pageInfo { p = *x; return pageInfo{} })
	switch {
	case errors.Is(err, errNoMember) || err == nil && !p.HasQueue:
		return nil
	case err != nil:
		return err
	case p.InQueue:
		return fmt.Errorf("%s: %w", what, ErrQueued)
	case p.HeadRefOID != sha:
		return fmt.Errorf("%s: %w", what, ErrHeadMoved)
	}
	a, err := ask(ctx, c, c.client, enqueueMutation, map[string]any{"id": p.ID, "sha": sha})
	if err == nil {
		err = deniedIn(a)
	}
	if err == nil {
		err = ErrQueued
	}
	if e := (*FinalError)(nil); errors.As(err, &e) && e.Remedy != "" {
		e.Remedy = landRemedy
	}
	return failed("put into the merge queue, to "+what, err)
}

// landed turns the error of a merge request into one of Land's errors. what says what the call tried to do.
func landed(what string, err error) error {
	var re *gh.ErrorResponse
	if !errors.As(err, &re) || re.Response == nil {
		return failed(what, err)
	}
	switch re.Response.StatusCode {
	case http.StatusConflict:
		return fmt.Errorf("%s: %w", what, ErrHeadMoved)
	case http.StatusMethodNotAllowed:
		return &FinalError{What: what, Why: "GitHub says " + re.Response.Status + ": " + said(re)}
	}
	return contentsFailed(what, err)
}

// contentsFailed is like failed, for a request that needs the permission to write contents. If GitHub denies it,
// the advice is about this permission.
func contentsFailed(what string, err error) error {
	var re *gh.ErrorResponse
	denied := errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == http.StatusForbidden
	err = failed(what, err)
	if e := (*FinalError)(nil); denied && errors.As(err, &e) {
		e.Remedy = landRemedy
	}
	return err
}

// answered reports whether err is an answer of GitHub with a status, whose message contains words.
func answered(err error, status int, words string) bool {
	var re *gh.ErrorResponse
	return errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == status && strings.Contains(re.Message, words)
}

// DeleteBranch deletes the branch of a merged pull request, if its tip is sha. It does nothing if the branch is
// gone or has another tip, or if another pull request uses the branch as its base or head.
func (c *Client) DeleteBranch(ctx context.Context, number int, name, sha string) error {
	what := fmt.Sprintf("delete the branch %s of %s", name, c.repo)
	tip, err := c.ref(ctx, "heads/"+name)
	switch {
	case errors.Is(failed("", err), ErrNotFound):
		return nil
	case err != nil:
		return failed(what, err)
	case tip != sha:
		return nil
	}
	for _, of := range []gh.PullRequestListOptions{{State: "open", Base: name}, {State: "open", Head: present(c).Owner + ":" + name}} {
		others, _, err := c.client.PullRequests.List(ctx, c.repo.Owner, c.repo.Name, &of)
		if err != nil || slices.ContainsFunc(others, func(p *gh.PullRequest) bool { return p.GetNumber() != number }) {
			return failed(what, err)
		}
	}
	_, err = c.client.Git.DeleteRef(ctx, c.repo.Owner, c.repo.Name, "heads/"+name)
	if answered(err, http.StatusUnprocessableEntity, "Reference does not exist") {
		return nil
	}
	return landed(what, err)
}
