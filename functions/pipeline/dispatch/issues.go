package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// issueHub has the requests to GitHub about issues that take commands.
type issueHub interface {
	// IssueAsPull returns an issue in the form of a merged pull request that has changed nothing. The error wraps
	// github.ErrNotFound if the issue was deleted or transferred.
	IssueAsPull(ctx context.Context, number int) (github.PullRequest, error)
	// ConfirmIssue is like Confirm, for an issue.
	ConfirmIssue(ctx context.Context, number int) error
}

// An issueReader shows the issues that take commands in the form of merged pull requests. So Lockstep handles commands
// on these issues like commands after a merge, through the same gate. Such an issue has no files, no reviews and no
// conversations. Only the records say which issues take commands. Every other number counts as that of a pull request.
type issueReader struct {
	GitHub
	ledger ledger.Ledger
	pull   pipeline.Pull // the pull request of the message; its number does not matter
	known  map[int]bool  // by number: whether it is an issue that takes commands
}

func newIssueReader(hub GitHub, ld ledger.Ledger, p pipeline.Pull) *issueReader {
	return &issueReader{hub, ld, p, map[int]bool{}}
}

// is reports whether a number is that of an issue that takes commands.
func (h *issueReader) is(ctx context.Context, number int) (bool, error) {
	if is, known := h.known[number]; known {
		return is, nil
	}
	p := h.pull
	p.Number = number
	x, err := h.ledger.IssueOf(ctx, p)
	if err == nil {
		h.known[number] = x.Target != ""
	}
	return h.known[number], err
}

// PullRequest first asks GitHub for a pull request. For most numbers, nothing else needs to be read.
func (h *issueReader) PullRequest(ctx context.Context, number int) (github.PullRequest, error) {
	if h.known[number] {
		return h.IssueAsPull(ctx, number)
	}
	p, err := h.GitHub.PullRequest(ctx, number)
	if err == nil {
		h.known[number] = false
	}
	if !errors.Is(err, github.ErrNotFound) {
		return p, err
	}
	is, unread := h.is(ctx, number)
	if unread != nil || !is {
		return p, errors.Join(err, unread)
	}
	return h.IssueAsPull(ctx, number)
}

func (h *issueReader) Confirm(ctx context.Context, number int) error {
	if is, err := h.is(ctx, number); err != nil || !is {
		return errors.Join(err, h.GitHub.Confirm(ctx, number))
	}
	return h.ConfirmIssue(ctx, number)
}

func (h *issueReader) MergeResult(ctx context.Context, number int) (github.Merge, error) {
	is, err := h.is(ctx, number)
	if err != nil || !is {
		m, failed := h.GitHub.MergeResult(ctx, number)
		return m, errors.Join(err, failed)
	}
	p, err := h.IssueAsPull(ctx, number)
	return github.Merge{Base: p.Base.SHA, BaseRef: p.Base.Ref, Head: p.Head.SHA, SHA: p.MergeSHA, Merged: true, Updated: p.Updated}, err
}

func (h *issueReader) MergedOnto(ctx context.Context, number int) (onto, merge string, err error) {
	is, err := h.is(ctx, number)
	if err != nil || !is {
		onto, merge, failed := h.GitHub.MergedOnto(ctx, number)
		return onto, merge, errors.Join(err, failed)
	}
	p, err := h.IssueAsPull(ctx, number)
	return p.MergeSHA, p.MergeSHA, err
}

// without returns the zero value for an issue, and what read returns for a pull request.
func without[T any](ctx context.Context, h *issueReader, number int, read func() (T, error)) (none T, err error) {
	is, err := h.is(ctx, number)
	if err != nil || is {
		return none, err
	}
	return read()
}

func (h *issueReader) ChangedFiles(ctx context.Context, number int) (files []github.FileChange, all bool, err error) {
	all = true
	files, err = without(ctx, h, number, func() (files []github.FileChange, err error) {
		files, all, err = h.GitHub.ChangedFiles(ctx, number)
		return files, err
	})
	return files, all && err == nil, err
}

func (h *issueReader) Queue(ctx context.Context, number int) ([]github.Queued, error) {
	return without(ctx, h, number, func() ([]github.Queued, error) { return h.GitHub.Queue(ctx, number) })
}

func (h *issueReader) Reviews(ctx context.Context, number int) ([]github.Review, error) {
	return without(ctx, h, number, func() ([]github.Review, error) { return h.GitHub.Reviews(ctx, number) })
}

func (h *issueReader) Discussion(ctx context.Context, number int) (github.Discussion, error) {
	return without(ctx, h, number, func() (github.Discussion, error) { return h.GitHub.Discussion(ctx, number) })
}

func (h *issueReader) Contributors(ctx context.Context, number int) (github.Contributors, error) {
	c, err := without(ctx, h, number, func() (github.Contributors, error) { return h.GitHub.Contributors(ctx, number) })
	c.All = c.All || err == nil && h.known[number]
	return c, err
}

// Land refuses to merge an issue.
func (h *issueReader) Land(ctx context.Context, number int, sha, method string) error {
	if is, err := h.is(ctx, number); err != nil || is {
		return errors.Join(err, fmt.Errorf("merge #%d: it is an issue", number))
	}
	return h.GitHub.Land(ctx, number, sha, method)
}
