package requirementfacts

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// Hub is the part of GitHub that facts are read from. In each interface a *github.FinalError is an
// error that stays the same until a person has mended something.
type Hub interface {
	Discussions
	Branches
	People
}

// Discussions reads a pull request, and the talk about it.
type Discussions interface {
	Reviews(ctx context.Context, number int) ([]github.Review, error)
	// Contributors returns who wrote the commits.
	Contributors(ctx context.Context, number int) (github.Contributors, error)
	ChangedFiles(ctx context.Context, number int) (paths []string, all bool, err error)
	Discussion(ctx context.Context, number int) (github.Discussion, error)
	// CommentsSince returns the comments on all pull requests since a time, oldest first.
	CommentsSince(ctx context.Context, since time.Time) ([]github.Comment, error)
	LabelEvents(ctx context.Context, number int) ([]github.LabelEvent, error)
}

// Branches reads commits, and the rules of branches.
type Branches interface {
	File(ctx context.Context, sha, path string) ([]byte, error)
	// UnknownOwners returns the owners in the CODEOWNERS file of a commit whom GitHub leaves out.
	UnknownOwners(ctx context.Context, sha string) ([]string, error)
	Behind(ctx context.Context, sha, base string) (bool, error)
	// Pushes returns pushes to a branch, as far as GitHub lists them.
	Pushes(ctx context.Context, branch string) ([]github.Push, error)
	Reports(ctx context.Context, sha string) ([]github.Report, error)
	// Environment returns the protection rules of an environment for deployments of a branch.
	Environment(ctx context.Context, name, branch string) (github.Environment, error)
	RequiredReports(ctx context.Context, branch string) (github.Rules, error)
}

// People reads the rights of people.
type People interface {
	Permission(ctx context.Context, login string) (github.Permission, error)
	InTeam(ctx context.Context, org, team, login string) (bool, error)
}
