package requirementfacts

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// Hub has those requests to GitHub's API that read facts. For all interfaces of this package, a
// *github.FinalError stays the same until a person fixes something.
type Hub interface {
	Discussions
	Branches
	People
}

// Discussions reads a pull request and its reviews and comments.
type Discussions interface {
	Reviews(ctx context.Context, number int) ([]github.Review, error)
	// Contributors returns the users who wrote the commits.
	Contributors(ctx context.Context, number int) (github.Contributors, error)
	ChangedFiles(ctx context.Context, number int) (files []github.FileChange, all bool, err error)
	Discussion(ctx context.Context, number int) (github.Discussion, error)
	// CommentsSince returns the comments on all pull requests since a time, the oldest first.
	CommentsSince(ctx context.Context, since time.Time) ([]github.Comment, error)
	LabelEvents(ctx context.Context, number int) ([]github.LabelEvent, error)
}

// Branches reads commits and the rules of branches.
type Branches interface {
	File(ctx context.Context, sha, path string) ([]byte, error)
	// UnknownOwners returns the owners in a commit's CODEOWNERS file whom GitHub ignores.
	UnknownOwners(ctx context.Context, sha string) ([]string, error)
	Behind(ctx context.Context, sha, base string) (bool, error)
	// Pushes returns the pushes to a branch that GitHub lists.
	Pushes(ctx context.Context, branch string) ([]github.Push, error)
	Reports(ctx context.Context, sha string) ([]github.Report, error)
	// Environment returns the protection rules of an environment for deployments of a branch.
	Environment(ctx context.Context, name, branch string) (github.Environment, error)
	RequiredReports(ctx context.Context, branch string) (github.Rules, error)
}

// People reads the permissions of people.
type People interface {
	Permission(ctx context.Context, login string) (github.Permission, error)
	InTeam(ctx context.Context, org, team, login string) (bool, error)
}
