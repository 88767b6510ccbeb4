package dispatch

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// Pulls reads what GitHub says of pull requests and people now. Here and in the other
// interfaces an error that is a *github.FinalError says that asking again has the same
// answer until a person has mended something: it is told, and the message is done with.
type Pulls interface {
	PullRequest(ctx context.Context, number int) (github.PullRequest, error)
	// MergeResult names the trial merge of an open pull request's head with the tip of
	// its base branch. An error wraps github.ErrNotYet if GitHub has not made it.
	MergeResult(ctx context.Context, number int) (github.Merge, error)
	// Tip returns the commit that a branch is at now.
	Tip(ctx context.Context, branch string) (string, error)
	ChangedFiles(ctx context.Context, number int) (paths []string, all bool, err error)
	Permission(ctx context.Context, login string) (github.Permission, error)
	// Reviews returns the reviews that count now, one a reviewer.
	Reviews(ctx context.Context, number int) ([]github.Review, error)
	// File returns a file at a commit; the error wraps github.ErrNotFound if there is
	// none.
	File(ctx context.Context, sha, path string) ([]byte, error)
}

// Checkouts unpacks a repository at a commit into an empty directory.
type Checkouts interface {
	Checkout(ctx context.Context, sha, dir string) (github.Unpacked, error)
}

// Conversation writes on a pull request. All methods may be called twice with the same
// effect as once.
type Conversation interface {
	// PutComment writes the comment that begins with a marker; at is when what it says was
	// written, by GitHub's clock.
	PutComment(ctx context.Context, number int, marker, body string) (id int64, at time.Time, err error)
	React(ctx context.Context, comment int64, r github.Reaction) error
	// PutCheck writes a check run and returns its ID; with id 0 it is ours with c's name
	// and external ID on c's commit, which is made if there is none.
	PutCheck(ctx context.Context, id int64, c github.Check) (int64, error)
	// Check returns what our check run with the name, external ID and commit of another says;
	// the error wraps github.ErrNotFound if there is none.
	Check(ctx context.Context, like github.Check) (github.Check, error)
}

// GitHub is one repository; *github.Client is it.
type GitHub interface {
	Pulls
	Checkouts
	Conversation
}
