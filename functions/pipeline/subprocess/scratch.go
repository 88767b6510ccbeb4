package subprocess

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// longestScratch is the maximum length of a path of a directory for runs. Sockets of plugins are below that
// directory, with names of up to 62 bytes. The kernel allows 107 bytes for the path of a socket. Source:
// unix(7)
const longestScratch = 44

// A Scratch is a directory for temporary files: checkouts and downloads. Only one process uses it. If the
// process dies, another process removes the directory later.
type Scratch struct {
	Dir  string
	lock *os.File
}

// OpenScratch creates a directory for this process below dir. It creates dir, too, if dir does not exist.
// Before that, it removes the directories of processes that are gone, for example after kill -9. If the path is
// too long for sockets, it uses the system's directory for temporary files.
func OpenScratch(dir string) (*Scratch, error) {
	if len(dir) > longestScratch {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("lockstep-%d", os.Getuid()))
	}
	if len(dir) > longestScratch {
		dir = fmt.Sprintf("/tmp/lockstep-%d", os.Getuid())
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	// Only one process at a time does this. Otherwise a new directory that has no lock yet would look
	// abandoned.
	all, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	if err := syscall.Flock(int(all.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err := sweep(dir); err != nil {
		return nil, fmt.Errorf("remove what earlier runs left: %w", err)
	}
	own, err := os.MkdirTemp(dir, "*")
	if err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(own+lockSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		return nil, err
	}
	return &Scratch{Dir: own, lock: lock}, nil
}

// lockSuffix is the suffix of the lock file that shows other processes that the owner of a directory is alive.
// The kernel releases the lock when the process ends.
const lockSuffix = ".lock"

// private creates a directory that belongs only to the user of this process. If the directory exists, private
// checks its owner. In a directory for temporary files, any other user can have created it before.
func private(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || ok && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a directory of ours: remove it, or name another", dir)
	}
	return os.Chmod(dir, 0o700)
}

// sweep removes the directories of processes that are gone.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		lock, err := os.OpenFile(path+lockSuffix, os.O_RDWR, 0)
		if err == nil {
			busy := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
			lock.Close()
			if busy {
				continue
			}
		}
		errs = append(errs, remove(path), os.RemoveAll(path+lockSuffix))
	}
	return errors.Join(errs...)
}

// Empty removes all files in the directory, except for those with the paths in but. No process may be using them.
func (s *Scratch) Empty(but ...string) error {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		if slices.Contains(but, filepath.Join(s.Dir, e.Name())) {
			continue
		}
		err = errors.Join(err, remove(filepath.Join(s.Dir, e.Name())))
	}
	return err
}

// Close removes the directory.
func (s *Scratch) Close() error {
	return errors.Join(remove(s.Dir), os.Remove(s.lock.Name()), s.lock.Close())
}

// remove removes a directory with all its content, including directories whose permissions a program has
// removed.
func remove(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			os.Chmod(path, 0o700) // called before the directory is read
		}
		return nil
	})
	return os.RemoveAll(dir)
}
