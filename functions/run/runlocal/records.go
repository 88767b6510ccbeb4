package runlocal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	n := strconv.Itoa(slices.Max(all))
	rec.Value, err = os.ReadFile(filepath.Join(dir, mark+n))
	rec.Version = run.Version(n)
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
	if version(n) != prev {
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

func version(n int) run.Version {
	if n == 0 {
		return ""
	}
	return run.Version(strconv.Itoa(n))
}

// List implements run.Records.
func (r Records) List(ctx context.Context, prefix string) ([]run.Record, error) {
	var keys []string
	// Only what is below the last directory that the prefix names can match.
	top := prefix[:strings.LastIndex(prefix, "/")+1]
	err := filepath.WalkDir(filepath.Join(r.dir, filepath.FromSlash(top)), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(d.Name(), mark) {
			return err
		}
		rel, err := filepath.Rel(r.dir, filepath.Dir(path))
		key := filepath.ToSlash(rel)
		if err == nil && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list records: %w", err)
	}
	slices.Sort(keys)
	var out []run.Record
	for _, key := range slices.Compact(keys) {
		rec, err := r.Get(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("list records: %w", err)
		}
		out = append(out, rec)
	}
	return out, nil
}
