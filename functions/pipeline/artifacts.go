package pipeline

import (
	"context"
	"errors"
)

// ErrNoArtifact is the absence of an artifact.
var ErrNoArtifact = errors.New("there is no such artifact")

// Artifacts is a store of larger values, which are secret: saved plans contain values in clear.
type Artifacts interface {
	Put(ctx context.Context, a Artifact, data []byte) error
	// Get returns an artifact; the error wraps ErrNoArtifact if there is none.
	Get(ctx context.Context, a Artifact) ([]byte, error)
	// Delete removes an artifact, if it exists.
	Delete(ctx context.Context, a Artifact) error
}

// An Artifact names an entry. Key alone identifies it; the rest is its owner, to which its
// encryption is bound.
type Artifact struct {
	Key    string
	Repo   string // "owner/name"
	Number int    // of the pull request
	SHA    string // its head
}
