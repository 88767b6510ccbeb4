package statebackend

import (
	"context"
	"errors"
	"fmt"
)

// A Sidecar is a workspace that can keep one more object beside its state. Only the newest write counts, and no lock
// and no condition protects it: the content itself has to say which state it belongs to. A reader must expect old,
// damaged or missing content.
//
// The object is as well protected as the state: it is encrypted if the state is, readers of the state may read it,
// and it is deleted with the workspace.
type Sidecar interface {
	// ReadSidecar returns the object; nil if there is none.
	ReadSidecar(ctx context.Context) ([]byte, error)
	// WriteSidecar replaces the object. After a crash there is the old object, the new one, or none. data is not
	// empty, and is not kept after the call.
	WriteSidecar(ctx context.Context, data []byte) error
}

// NoSidecar returns the error of a workspace that cannot keep a sidecar. It wraps errors.ErrUnsupported.
func NoSidecar(w Workspace) error {
	return fmt.Errorf("the backend of %s keeps nothing beside a state: %w", w.Place(), errors.ErrUnsupported)
}

// ReadSidecar calls the method of w. The error wraps errors.ErrUnsupported if w is no [Sidecar].
func ReadSidecar(ctx context.Context, w Workspace) ([]byte, error) {
	if s, ok := w.(Sidecar); ok {
		return s.ReadSidecar(ctx)
	}
	return nil, NoSidecar(w)
}

// WriteSidecar calls the method of w. The error wraps errors.ErrUnsupported if w is no [Sidecar].
func WriteSidecar(ctx context.Context, w Workspace, data []byte) error {
	if s, ok := w.(Sidecar); ok {
		return s.WriteSidecar(ctx, data)
	}
	return NoSidecar(w)
}
