package gatefacts

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// Checkouts keeps the checkouts of the commits that a process has used last, so that the plans of a push unpack a commit once. In a
// repository of 500 projects, each plan would otherwise write all of its files and remove them again.
//
// The programs of a run may write into its checkout. So a checkout is used again only if the kernel shows that nobody has
// touched it since it was unpacked. For each file and directory, everything in its inode is compared: its number, mode,
// size and links, and the time of its last change (ctime). A program without privileges can set the time of a file's
// contents, but not that time. A checkout that differs in anything is removed, and the commit is unpacked once more.
//
// Use it only in a process that handles one message at a time, and kills all programs of a run before it ends. nil keeps
// nothing.
type Checkouts struct {
	mu   sync.Mutex
	kept []keptCheckout // the most recently used one last
}

const (
	maxCheckouts       = 2         // a push needs the trial merge and the base
	maxCheckoutBytes   = 128 << 20 // a larger one takes too much of the disk while nobody uses it
	maxCheckoutEntries = 20_000
	// inodeTick is longer than the precision of the times in an inode. Within one tick, a change may leave the time as it is.
	inodeTick = 20 * time.Millisecond
)

// A checkoutKey identifies a checkout: the commit, and with whose rights it was read.
type checkoutKey struct {
	app          string
	installation int64
	repo         int64
	sha          string
}

func checkoutOf(p pipeline.Pull, sha string) checkoutKey {
	return checkoutKey{p.App, p.Installation, p.Repo.ID, sha}
}

type keptCheckout struct {
	key   checkoutKey
	dir   string
	inode []inode
}

// An inode is what the kernel knows about a file or a directory.
type inode struct {
	path                  string
	dev, number, links    uint64
	mode                  uint32
	size                  int64
	modified, changed     int64 // nanoseconds
	owner, group, special uint64
}

// Dirs returns the directories of the checkouts.
func (c *Checkouts) Dirs() (dirs []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kept {
		dirs = append(dirs, k.dir)
	}
	return dirs
}

// take returns the directory of an untouched checkout, which the caller then owns, with its inodes. It returns "" if there is none.
func (c *Checkouts) take(key checkoutKey) (dir string, all []inode) {
	if c == nil {
		return "", nil
	}
	c.mu.Lock()
	i := slices.IndexFunc(c.kept, func(k keptCheckout) bool { return k.key == key })
	if i < 0 {
		c.mu.Unlock()
		return "", nil
	}
	k := c.kept[i]
	c.kept = slices.Delete(c.kept, i, i+1)
	c.mu.Unlock()
	if now, ok := inodesIn(k.dir); ok && slices.Equal(now, k.inode) {
		return k.dir, k.inode
	}
	os.RemoveAll(k.dir)
	return "", nil
}

// put keeps a checkout that nobody uses any more. It reports whether it does. all are its inodes from when it was unpacked; nil
// if it cannot be kept.
func (c *Checkouts) put(key checkoutKey, dir string, all []inode) bool {
	if c == nil || all == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.kept, func(k keptCheckout) bool { return k.key == key }) {
		return false
	}
	c.kept = append(c.kept, keptCheckout{key, dir, all})
	for len(c.kept) > maxCheckouts {
		os.RemoveAll(c.kept[0].dir)
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	return true
}

// unpacked returns the inodes of a new checkout; nil if it cannot be kept. It returns once a change of any of them would be
// noticed.
func (c *Checkouts) unpacked(dir string, u github.Unpacked) []inode {
	if c == nil || u.Bytes > maxCheckoutBytes || u.Files > maxCheckoutEntries {
		return nil
	}
	time.Sleep(inodeTick)
	all, ok := inodesIn(dir)
	if !ok {
		return nil
	}
	return all
}

// inodesIn returns the inodes of a directory and of everything in it. ok is false if they cannot be compared.
func inodesIn(dir string) (all []inode, ok bool) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		x, is := inodeOf(info)
		if !is || len(all) > 2*maxCheckoutEntries {
			return fs.ErrInvalid
		}
		x.path = path
		all = append(all, x)
		return nil
	})
	return all, err == nil
}
