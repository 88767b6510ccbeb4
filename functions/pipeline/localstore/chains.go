package localstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Chains implements pipeline.Chains with one file for each record. The file is complete as soon as it has its name.
type Chains struct{ Dir string }

// Add implements pipeline.Chains.
func (c Chains) Add(ctx context.Context, chain string, n int, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := c.path(chain, n)
	err := create(path, data)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("record %d of %s: %w", n, chain, pipeline.ErrConflict)
	}
	if err != nil { // the disk is full, or the directory is not writable
		return fmt.Errorf("%w: %w", pipeline.ErrRefused, err)
	}
	return nil
}

// create writes a file that does not exist yet.
func create(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // has mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path) // Unlike a rename, a link never replaces a file.
}

// Link implements pipeline.Chains.
func (c Chains) Link(ctx context.Context, chain string, n int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(c.path(chain, n))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("record %d of %s: %w", n, chain, pipeline.ErrNoLink)
	}
	return data, err
}

// Last implements pipeline.Chains.
func (c Chains) Last(ctx context.Context, chain string, from int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	files, err := os.ReadDir(filepath.Dir(c.path(chain, 1)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, f := range files {
		if n, err := strconv.Atoi(strings.TrimSuffix(f.Name(), pipeline.LinkSuffix)); err == nil {
			from = max(from, n)
		}
	}
	return from, nil
}

// path returns the file of a record.
func (c Chains) path(chain string, n int) string {
	return filepath.Join(c.Dir, filepath.FromSlash(pipeline.LinkKey(chain, n)))
}

// Each calls visit with each record, chain by chain and in the order of the numbers. Files with other names are not
// visited.
func (c Chains) Each(ctx context.Context, visit func(chain string, n int, data []byte) error) error {
	files := os.DirFS(c.Dir)
	return fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		chain, n, ok := pipeline.LinkOf(path)
		if d.IsDir() || !ok {
			return ctx.Err()
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return visit(chain, n, data)
	})
}
