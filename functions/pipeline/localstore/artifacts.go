package localstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Artifacts implements pipeline.Artifacts with one file for each artifact.
type Artifacts struct{ dir string }

// Put implements pipeline.Artifacts.
func (a Artifacts) Put(ctx context.Context, x pipeline.Artifact, data []byte) error {
	err := ctx.Err()
	if err == nil {
		err = replace(a.path(x), data)
	}
	if err != nil {
		return fmt.Errorf("put artifact: %w", err)
	}
	return nil
}

// Get implements pipeline.Artifacts.
func (a Artifacts) Get(ctx context.Context, x pipeline.Artifact) ([]byte, error) {
	path := a.path(x)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("get artifact: %w", err)
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("get artifact %s: %w", x.Key, pipeline.ErrNoArtifact)
	}
	if err != nil {
		return nil, fmt.Errorf("get artifact: %w", err)
	}
	return data, nil
}

// Delete implements pipeline.Artifacts.
func (a Artifacts) Delete(ctx context.Context, x pipeline.Artifact) error {
	err := ctx.Err()
	if err == nil {
		err = os.Remove(a.path(x))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete artifact: %w", err)
	}
	return nil
}

// path returns the file of an artifact. It panics if the key is not a clean path, because only Lockstep's own
// code makes keys.
func (a Artifacts) path(x pipeline.Artifact) string {
	if !fs.ValidPath(x.Key) || x.Key == "." {
		panic(fmt.Sprintf("localstore: the key %q is not a path", x.Key))
	}
	return filepath.Join(a.dir, filepath.FromSlash(x.Key))
}

// replace writes a file, and replaces an existing one. Readers see the old file or the complete new file.
func replace(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // has mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
