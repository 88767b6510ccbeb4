package statebackend

import (
	"context"
	"fmt"
	"net/url"
)

// DefaultWorkspace is the workspace that every backend has. It cannot be deleted.
const DefaultWorkspace = "default"

// Backend is a configured store for the states of one configuration. Each workspace has one state. A Backend
// is safe for concurrent use.
type Backend interface {
	// Workspaces lists the workspaces that have a state, sorted. "default" is always first, even without a
	// state.
	Workspaces(ctx context.Context) ([]string, error)

	// DeleteWorkspace removes the state of a workspace and its side records (digest, backup) if the state's
	// version is still prev. Otherwise the error is a *ConflictError. Deleting a workspace that does not
	// exist succeeds. "default" cannot be deleted.
	//
	// The caller holds the workspace's lock, and releases it afterwards. The caller also decides whether a
	// state that still tracks objects may be deleted, since only the caller can read the state.
	DeleteWorkspace(ctx context.Context, name string, prev Version) error

	// Open returns the state of a workspace. The state need not exist: its first Put creates it. Open reads
	// and locks nothing. Each call returns a new value, which remembers only the lock that it took itself.
	Open(workspace string) (Workspace, error)
}

// Workspace is the state of one workspace, and its lock.
type Workspace interface {
	Store
	Locker

	// Place is the location of the state for messages: a path or a URL.
	Place() string
}

// CheckWorkspaceName returns an error if name is not a valid workspace name. The rule is Terraform's: a name is
// valid if escaping it as a path segment of a URL does not change it. The names "." and ".." are also not
// valid.
func CheckWorkspaceName(name string) error {
	if name == "" || name == "." || name == ".." || url.PathEscape(name) != name {
		return fmt.Errorf("%q is not a workspace name: use letters, digits, and the characters - _ . ~ $ & + : = @", name)
	}
	return nil
}
