package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/lockstep-iac/lockstep/statebackend"
)

var _ statebackend.Sidecar = (*workspace)(nil)

// sidecarOf returns the path of the sidecar of a state file: .terraform.tfstate.digests. It is named for its
// content, so that people know it.
func sidecarOf(path string) string { return hidden(path, "digests") }

// ReadSidecar reads the file beside the state file that is written (see Options.StateOutPath).
func (w *workspace) ReadSidecar(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := sidecarOf(w.at(w.out))
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the file beside the state: %w", err)
	}
	defer f.Close()
	content, _, err := contentOf(f, path)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(content)
}

// WriteSidecar replaces the file. Whoever may read the state may read the file, and nobody else.
func (w *workspace) WriteSidecar(ctx context.Context, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := w.at(w.out)
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("write the file beside the state: %w", err)
	}
	if err := writeWholeAs(sidecarOf(path), data, info.Mode().Perm()); err != nil {
		return fmt.Errorf("write the file beside the state: %w", err)
	}
	return nil
}
