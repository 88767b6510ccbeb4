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

// A Room is for a data directory that outlives its runs on a small disk, and belongs to one process at a time: that of
// a Lambda function. Packages that the present run does not need go, the least recently used first, where there is
// no room for another one.
type Room struct {
	// Free returns the bytes that are free on the disk.
	Free func() (int64, error)
	// Want are the bytes that must be free before a package is installed. Its size is not known by then.
	Want int64
}

// used notes the time at which a package was last used, for [Room].
func (run *ensuring) used(dir string) {
	if run.Room != nil {
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // it seems older at worst
	}
}

// makeRoom removes packages until as many bytes are free as the room wants, or until there are none left that the run
// does not need; whole removes all of those. What a killed process has left is removed in any case.
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

// evictable returns the directories that may go, in the order in which they should.
func (run *ensuring) evictable() []string {
	keep := map[string]bool{}
	for _, n := range run.needs {
		keep[run.place(n.provider, n.version)] = true
	}
	// HOST/NAMESPACE/TYPE/VERSION/PLATFORM, beside which packages are unpacked
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

// bringInto is bring, and tries once more with all the room that there can be if the disk is full.
func (run *ensuring) bringInto(ctx context.Context, n need, pkg Package, dir string) (sums, error) {
	got, err := run.bring(ctx, n, pkg, dir)
	if run.Room != nil && isFull(err) {
		run.makeRoom(true)
		got, err = run.bring(ctx, n, pkg, dir)
	}
	return got, err
}

// isFull reports whether an error is that of a full disk.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
