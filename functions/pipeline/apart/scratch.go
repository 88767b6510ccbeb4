package apart

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// longestScratch is how long the path of a directory for runs may be: sockets of plugins are
// below it, by names of up to 62 bytes, and the kernel takes 107 for the path of one.
// Source: unix(7)
const longestScratch = 44

// Scratch is a directory for what is needed while something runs: checkouts, what is fetched,
// temporary files. It is nobody else's, and nothing in it outlives its process for long.
type Scratch struct {
	Dir  string
	lock *os.File
}

// OpenScratch makes a directory of this process' own below dir, which is made, too. What
// processes have left there that are gone, as kill -9 leaves it, is removed first. Where the
// path is too long for sockets, the system's directory for temporary files is used.
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
	// One at a time: a directory whose lock is not there yet looks left.
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

// lockSuffix ends the name of the file by whose lock others see that a process lives. The
// kernel releases it with the process.
const lockSuffix = ".lock"

// private makes a directory that is ours alone, or finds it so: anybody can make one in a
// directory for temporary files, before us.
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

// Empty removes everything in it. Nothing may be under way.
func (s *Scratch) Empty() error {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		err = errors.Join(err, remove(filepath.Join(s.Dir, e.Name())))
	}
	return err
}

// Close removes it.
func (s *Scratch) Close() error {
	return errors.Join(remove(s.Dir), os.Remove(s.lock.Name()), s.lock.Close())
}

// remove removes a directory with all that is in it, also what a program has closed to us.
func remove(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			os.Chmod(path, 0o700) // before it is read
		}
		return nil
	})
	return os.RemoveAll(dir)
}
