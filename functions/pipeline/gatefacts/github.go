package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/requirementfacts"
	"github.com/lockstep-iac/lockstep/github"
)

// Pulls reads GitHub's present view of pull requests and people. Here and in the other
// interfaces a *github.FinalError is an error that stays the same until a person has mended
// something: people read it, and the message is done with.
type Pulls interface {
	PullRequest(ctx context.Context, number int) (github.PullRequest, error)
	// Confirm holds that the repository of a pull request has, or had, the name by which it is known here; the error
	// wraps github.ErrNotFound if GitHub leads by that name to another one, or nowhere.
	Confirm(ctx context.Context, number int) error
	// MergeResult names the trial merge of an open pull request's head with the tip of
	// its base branch; of a merged one that tip. An error wraps github.ErrNotYet if GitHub has not made it.
	MergeResult(ctx context.Context, number int) (github.Merge, error)
	// MergedOnto returns the tip of the base branch before a pull request was merged, and the commit with its changes; an error wraps
	// github.ErrNotFound where nobody can tell.
	MergedOnto(ctx context.Context, number int) (onto, merge string, err error)
	ChangedFiles(ctx context.Context, number int) (paths []string, all bool, err error)
	Permission(ctx context.Context, login string) (github.Permission, error)
	// Written reads a text about a pull request as it is now; the error wraps github.ErrNotFound if there is none.
	Written(ctx context.Context, number int, s github.Source) (github.Comment, error)
	// Queue returns the merge queue that a pull request is in, the first to be merged first.
	Queue(ctx context.Context, number int) ([]github.Queued, error)
}

// Commits reads the commits of a repository.
type Commits interface {
	// Tip returns the present commit of a branch.
	Tip(ctx context.Context, branch string) (string, error)
	// Onto returns the first parent of a commit.
	Onto(ctx context.Context, sha string) (string, error)
	// File returns a file at a commit; the error wraps github.ErrNotFound if there is
	// none.
	File(ctx context.Context, sha, path string) ([]byte, error)
	// Checkout unpacks the repository at a commit into an empty directory.
	Checkout(ctx context.Context, sha, dir string) (github.Unpacked, error)
}

// Hub is the part of GitHub that facts are read from.
type Hub interface {
	Pulls
	Commits
	requirementfacts.Hub
	// Check returns our check run with the name, external ID and commit of another; the
	// error wraps github.ErrNotFound if there is none.
	Check(ctx context.Context, like github.Check) (github.Check, error)
}
