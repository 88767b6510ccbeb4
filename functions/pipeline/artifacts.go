package pipeline

import (
	"context"
	"errors"
)

// ErrNoArtifact says that there is nothing under a key.
var ErrNoArtifact = errors.New("there is no such artifact")

// Artifacts keeps larger things, which are secret: saved plans have values in clear.
type Artifacts interface {
	Put(ctx context.Context, a Artifact, data []byte) error
	// Get returns what was put; the error wraps ErrNoArtifact if nothing was.
	Get(ctx context.Context, a Artifact) ([]byte, error)
	// Delete removes what is under a key, if there is something.
	Delete(ctx context.Context, a Artifact) error
}

// An Artifact names something larger that is kept. Key alone tells it from others; the
// rest says what it belongs to, and is bound to it where it is encrypted.
type Artifact struct {
	Key    string
	Repo   string // "owner/name"
	Number int    // of the pull request
	SHA    string // its head
}
