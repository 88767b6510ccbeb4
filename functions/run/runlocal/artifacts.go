package runlocal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/lockstep-iac/lockstep/functions/run"
)

// Artifacts implements run.Artifacts: a file each.
type Artifacts struct{ dir string }

// Put implements run.Artifacts.
func (a Artifacts) Put(ctx context.Context, x run.Artifact, data []byte) error {
	if err := replace(keyPath(a.dir, x.Key), data); err != nil {
		return fmt.Errorf("put artifact: %w", err)
	}
	return nil
}

// Get implements run.Artifacts.
func (a Artifacts) Get(ctx context.Context, x run.Artifact) ([]byte, error) {
	data, err := os.ReadFile(keyPath(a.dir, x.Key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("get artifact %s: %w", x.Key, run.ErrNoArtifact)
	}
	if err != nil {
		return nil, fmt.Errorf("get artifact: %w", err)
	}
	return data, nil
}

// Delete implements run.Artifacts.
func (a Artifacts) Delete(ctx context.Context, x run.Artifact) error {
	err := os.Remove(keyPath(a.dir, x.Key))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete artifact: %w", err)
	}
	return nil
}
