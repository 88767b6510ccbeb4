package install

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Room makes room in a data directory that is used by many runs on a small disk. Only one process at a
// time, such as a Lambda function, uses the directory. If there is not enough room for another package,
// packages that the present run does not need are removed, the least recently used first.
type Room struct {
	// Free returns the number of free bytes on the disk.
	Free func() (int64, error)
	// Want is the number of bytes that must be free before a package is installed, whose size is not known
	// yet.
	Want int64
}

// used records the time at which a package was last used, for [Room].
func (run *ensuring) used(dir string) {
	if run.Room != nil {
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // at worst the package seems older
	}
}

// makeRoom removes packages that the run does not need, until the wanted number of bytes is free. If whole is
// set, it removes all packages that the run does not need. In any case, it removes incomplete files that
// killed processes have left.
func (run *ensuring) makeRoom(whole bool) {
	if run.Room == nil {
		return
	}
	for _, dir := range run.evictable() {
		if !whole && !strings.HasPrefix(filepath.Base(dir), tempPrefix) {
			if free, err := run.Room.Free(); err != nil || free >= run.Room.Want {
				return
			}
		}
		_ = os.RemoveAll(dir) // the next installation finds out whether there is room
	}
}

// evictable returns the directories that may be removed, in the order of their removal.
func (run *ensuring) evictable() []string {
	keep := map[string]bool{}
	for _, n := range run.needs {
		keep[run.place(n.provider, n.version)] = true
	}
	// The pattern is HOST/NAMESPACE/TYPE/VERSION/PLATFORM. Packages are unpacked beside these directories.
	found, _ := filepath.Glob(filepath.Join(run.DataDir, ProvidersDir, "*", "*", "*", "*", "*"))
	type aged struct {
		dir  string
		used time.Time
	}
	var all []aged
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || keep[dir] {
			continue
		}
		used := info.ModTime()
		if strings.HasPrefix(info.Name(), tempPrefix) {
			used = time.Time{}
		}
		all = append(all, aged{dir, used})
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.dir, b.dir)) })
	dirs := make([]string, len(all))
	for i, a := range all {
		dirs[i] = a.dir
	}
	return dirs
}

// bringInto calls bring, and calls it again if the disk is full. Before the second call, it makes as much
// room as possible.
func (run *ensuring) bringInto(ctx context.Context, n need, pkg Package, dir string) (sums, error) {
	got, err := run.bring(ctx, n, pkg, dir)
	if run.Room != nil && isFull(err) {
		run.makeRoom(true)
		got, err = run.bring(ctx, n, pkg, dir)
	}
	return got, err
}

// isFull reports whether an error means that the disk is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
