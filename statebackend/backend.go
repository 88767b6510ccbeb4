package statebackend

import (
	"context"
	"fmt"
	"net/url"
)

// DefaultWorkspace is the workspace that every backend has and none can delete.
const DefaultWorkspace = "default"

// Backend is a configured place for the states of one configuration, one state
// a workspace. It is safe for concurrent use.
type Backend interface {
	// Workspaces lists the workspaces that have a state, sorted, "default"
	// always first, whether it has a state or not.
	Workspaces(ctx context.Context) ([]string, error)

	// DeleteWorkspace removes the state of a workspace and its side records
	// (digest, backup) if the state's version is still prev; otherwise the error
	// is a *ConflictError. The caller, who can read the state, decides whether
	// one that still tracks objects may be deleted, holds the workspace's lock,
	// and releases it afterwards. Deleting a workspace that does not exist
	// succeeds. "default" cannot be deleted.
	DeleteWorkspace(ctx context.Context, name string, prev Version) error

	// Open returns the state of a workspace, which need not exist: its first
	// Put creates it. Nothing is read or locked yet. Each call returns a value
	// of its own, which remembers its own lock.
	Open(workspace string) (Workspace, error)
}

// Workspace is the state of one workspace, and its lock.
type Workspace interface {
	Store
	Locker

	// Place is the location of the state as messages name it: a path, a URL.
	Place() string
}

// CheckWorkspaceName returns an error if a name cannot be a workspace's. The
// rule is Terraform's: escaping the name as a path segment of a URL does not
// change it. The directories "." and ".." are refused, too.
func CheckWorkspaceName(name string) error {
	if name == "" || name == "." || name == ".." || url.PathEscape(name) != name {
		return fmt.Errorf("%q is not a workspace name: use letters, digits, and the characters - _ . ~ $ & + : = @", name)
	}
	return nil
}
