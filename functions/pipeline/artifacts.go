package pipeline

import (
	"context"
	"errors"
)

// ErrNoArtifact reports that an artifact does not exist.
var ErrNoArtifact = errors.New("there is no such artifact")

// Artifacts stores values that are too large for a record. The values are secret: a saved plan contains
// sensitive values in clear text.
type Artifacts interface {
	Put(ctx context.Context, a Artifact, data []byte) error
	// Get returns an artifact. The error wraps ErrNoArtifact if the artifact does not exist.
	Get(ctx context.Context, a Artifact) ([]byte, error)
	// Delete removes an artifact. It succeeds if the artifact does not exist.
	Delete(ctx context.Context, a Artifact) error
}

// An Artifact names a value in [Artifacts]. Key alone identifies the value. The other fields say to which pull
// request the value belongs; its encryption is bound to them.
type Artifact struct {
	Key    string
	Repo   string // "owner/name"
	Number int    // of the pull request
	SHA    string // its head
}
