package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/requirementfacts"
	"github.com/lockstep-iac/lockstep/github"
)

// Pulls reads pull requests and people on GitHub. In all interfaces of this package, a *github.FinalError is an
// error that stays until a person fixes something. Lockstep shows the error to people and finishes the message.
type Pulls interface {
	PullRequest(ctx context.Context, number int) (github.PullRequest, error)
	// Confirm checks that the repository of a pull request has, or had, the name in the message. The error
	// wraps github.ErrNotFound in two cases: GitHub redirects that name to another repository, or does not know
	// it.
	Confirm(ctx context.Context, number int) error
	// MergeResult returns the trial merge of an open pull request: a merge of its head and the tip of its base
	// branch. For a merged pull request it returns that tip. The error wraps github.ErrNotYet if GitHub has not
	// made the trial merge yet.
	MergeResult(ctx context.Context, number int) (github.Merge, error)
	// MergedOnto returns the tip of the base branch before a pull request was merged (onto), and the commit
	// with the changes (merge). The error wraps github.ErrNotFound if they cannot be found out.
	MergedOnto(ctx context.Context, number int) (onto, merge string, err error)
	ChangedFiles(ctx context.Context, number int) (files []github.FileChange, all bool, err error)
	Permission(ctx context.Context, login string) (github.Permission, error)
	// Written returns the present text of a comment or review. The error wraps github.ErrNotFound if it does
	// not exist.
	Written(ctx context.Context, number int, s github.Source) (github.Comment, error)
	// Queue returns the merge queue of a pull request, in the order of the merges.
	Queue(ctx context.Context, number int) ([]github.Queued, error)
}

// Commits reads the commits of a repository.
type Commits interface {
	// Tip returns the present commit of a branch.
	Tip(ctx context.Context, branch string) (string, error)
	// Onto returns the first parent of a commit.
	Onto(ctx context.Context, sha string) (string, error)
	// File returns a file at a commit. The error wraps github.ErrNotFound if the commit does not have it.
	File(ctx context.Context, sha, path string) ([]byte, error)
	// Checkout unpacks a commit of the repository into an empty directory.
	Checkout(ctx context.Context, sha, dir string) (github.Unpacked, error)
}

// Hub has those requests to GitHub's API that are needed to read facts.
type Hub interface {
	Pulls
	Commits
	requirementfacts.Hub
	// Check returns Lockstep's check run with the same name, external ID and commit as like. The error wraps
	// github.ErrNotFound if there is none.
	Check(ctx context.Context, like github.Check) (github.Check, error)
	// Seal returns the seal of a text, which only the App can make: see [github.Client.Seal].
	Seal(text []byte) string
}
