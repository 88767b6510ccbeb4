package runlocal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lockstep-iac/lockstep/functions/run"
)

// Records implements run.Records. Every value of a record is a file of its own with
// the next number, which only one writer can make: that is the condition. Old values
// stay, since a number that was free again could be taken twice; they are the
// record's history.
type Records struct{ dir string }

// mark begins the names of values. It is in no key: there it is escaped.
const mark = "#"

// Get implements run.Records.
func (r Records) Get(ctx context.Context, key string) (run.Record, error) {
	rec := run.Record{Key: key}
	dir := keyPath(r.dir, key)
	all, err := numbers(dir, mark)
	if err != nil || len(all) == 0 {
		return rec, err
	}
	return r.read(rec, slices.Max(all))
}

// deleted is the value of a record that is not there any more.
var deleted = []byte("\x00deleted")

// read reads the Nth value of a record.
func (r Records) read(rec run.Record, n int) (run.Record, error) {
	value, err := os.ReadFile(filepath.Join(keyPath(r.dir, rec.Key), mark+strconv.Itoa(n)))
	if err == nil && !bytes.Equal(value, deleted) {
		rec.Value, rec.Version = value, version(n)
	}
	return rec, err
}

// Put implements run.Records.
func (r Records) Put(ctx context.Context, key string, value []byte, prev run.Version) (run.Version, error) {
	dir := keyPath(r.dir, key)
	all, err := numbers(dir, mark)
	if err != nil {
		return "", fmt.Errorf("put record %s: %w", key, err)
	}
	n := 0
	if len(all) > 0 {
		n = slices.Max(all)
	}
	if n > 0 {
		rec, err := r.read(run.Record{Key: key}, n)
		if err != nil {
			return "", fmt.Errorf("put record %s: %w", key, err)
		}
		if rec.Version != prev {
			return "", run.ErrConflict
		}
	} else if prev != "" {
		return "", run.ErrConflict
	}
	err = writeNew(filepath.Join(dir, mark+strconv.Itoa(n+1)), value)
	if errors.Is(err, fs.ErrExist) {
		return "", run.ErrConflict
	}
	if err != nil {
		return "", fmt.Errorf("put record %s: %w", key, err)
	}
	return version(n + 1), nil
}

func version(n int) run.Version { return run.Version(strconv.Itoa(n)) }

// Delete implements run.Records.
func (r Records) Delete(ctx context.Context, key string, prev run.Version) error {
	if rec, err := r.Get(ctx, key); err == nil && rec.Version == "" && prev == "" {
		return nil
	}
	_, err := r.Put(ctx, key, deleted, prev)
	return err
}

// List implements run.Records.
func (r Records) List(ctx context.Context, dir string) ([]run.Record, error) {
	entries, err := os.ReadDir(keyPath(r.dir, dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list records: %w", err)
	}
	var out []run.Record
	for _, e := range entries { // sorted by name
		if !e.IsDir() {
			continue
		}
		rec, err := r.Get(ctx, dir+"/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("list records: %w", err)
		}
		if rec.Version != "" {
			out = append(out, rec)
		}
	}
	return out, nil
}
