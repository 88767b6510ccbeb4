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

	// DeleteWorkspace removes the state of a workspace, with what belongs to
	// it, if its version is still prev; otherwise the error is a
	// *ConflictError. Whether a state that still tracks objects may be
	// deleted is for the caller, who can read it, to say. The caller holds the
	// workspace's lock and releases it afterwards. Deleting what is not there
	// succeeds. "default" cannot be deleted.
	DeleteWorkspace(ctx context.Context, name string, prev Version) error

	// Open returns the state of a workspace, which need not exist: it comes
	// into being with its first Put. Nothing is read or locked yet. Each call
	// returns a value of its own, which remembers the lock that it took.
	Open(workspace string) (Workspace, error)
}

// Workspace is the state of one workspace, and its lock.
type Workspace interface {
	Store
	Locker

	// Place says where the state is, in the words of messages: a path, a URL.
	Place() string
}

// CheckWorkspaceName says why a name cannot be a workspace's, or returns nil.
// The rule is Terraform's: a name must be the same after escaping it as a path
// segment of a URL. Names of directories that are not names ("." and "..") are
// refused too.
func CheckWorkspaceName(name string) error {
	if name == "" || name == "." || name == ".." || url.PathEscape(name) != name {
		return fmt.Errorf("%q is not a workspace name: it must not be empty, and hold only characters that need no escaping in a URL path segment", name)
	}
	return nil
}
