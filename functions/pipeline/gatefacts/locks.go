package gatefacts

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// maxLocks is the maximum size of all cached lock files of a commit together, in bytes.
const maxLocks = 4 << 20

// locksIn returns the dependency lock files of projects in a checkout, by directory; nil for a project without
// one. It leaves out files that it cannot read. They are later requested from GitHub, so that an error affects
// only their own project.
func locksIn(dir string, projects []project.Project) (map[string][]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	locks, left := map[string][]byte{}, maxLocks
	for _, p := range projects {
		lock, err := lockIn(root, path.Join(p.Dir, lockfile.Name))
		if err == nil && len(lock) <= min(github.MaxFile, left) || errors.Is(err, fs.ErrNotExist) {
			locks[p.Dir] = lock
			left -= len(lock)
		}
	}
	return locks, nil
}

// lockIn reads a lock file in a checkout. It reads at most one byte more than the maximum size. It reads
// nothing outside of the checkout.
func lockIn(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, github.MaxFile+1))
}
