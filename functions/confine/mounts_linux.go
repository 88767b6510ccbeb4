package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// showOnly gives the calling thread and its descendants their own file system. It contains only the files of
// the view v, the system's own files and a new /proc. Paths stay the same. showOnly uses a mount namespace,
// which needs a user namespace. The change cannot be undone, so the thread must never run other code.
// Source: pivot_root(2), mount_namespaces(7), user_namespaces(7)
func showOnly(v View) error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	// Any directory can be the mount point of the new root.
	m := mounts{root: filepath.Join(v.Tmp, ".root"), tmp: v.Tmp}
	if err := os.Mkdir(m.root, 0o700); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", m.root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=1m"); err != nil {
		return fmt.Errorf("mount a root: %w", err)
	}
	if err := m.fill(v); err != nil {
		return err
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, m.root, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make the root read-only: %w", err)
	}
	return enter(m.root)
}

// enter makes a directory the root of the file system, and unmounts the old root.
func enter(root string) error {
	if err := unix.Chdir(root); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	// If both arguments are the same directory, pivot_root mounts the old root on top of the new one.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the old root: %w", err)
	}
	return unix.Chdir("/")
}

// mounts is a new root directory, below which files are made visible by mounts.
type mounts struct{ root, tmp string }

// fill makes the files of the view v visible below the new root. Parent directories come first.
func (m mounts) fill(v View) error {
	if err := m.bind(v.Tmp, "/tmp", false); err != nil {
		return err
	}
	if err := m.system(); err != nil {
		return err
	}
	readOnly := map[string]bool{}
	for _, p := range v.Read {
		readOnly[filepath.Clean(p)] = true
	}
	for _, p := range append([]string{v.Tmp}, v.Write...) {
		readOnly[filepath.Clean(p)] = false
	}
	var paths []string
	for p := range readOnly {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		if err := m.bind(p, p, readOnly[p]); err != nil {
			return err
		}
	}
	return nil
}

// system mounts the system files that every program needs.
func (m mounts) system() error {
	for _, p := range systemFiles {
		if err := m.bind(p, p, true); err != nil {
			return err
		}
	}
	for _, p := range deviceFiles {
		if p == "/dev/shm" {
			continue
		}
		if err := m.bind(p, p, false); err != nil {
			return err
		}
	}
	for _, x := range []struct{ kind, at, options string }{{"proc", "/proc", ""}, {"tmpfs", "/dev/shm", "mode=1777,size=64m"}} {
		at := filepath.Join(m.root, x.at)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(x.kind, at, x.kind, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, x.options); err != nil {
			return fmt.Errorf("mount %s: %w", x.at, err)
		}
	}
	for link, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, filepath.Join(m.root, "dev", link)); err != nil {
			return err
		}
	}
	return nil
}

// bind makes the file, directory or symbolic link from visible at path, below the new root. A missing file is
// ignored.
func (m mounts) bind(from, path string, readOnly bool) error {
	at := filepath.Join(m.root, path)
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		return m.link(from, at, readOnly)
	}
	if info.IsDir() {
		err = os.MkdirAll(at, 0o755)
	} else if _, err = os.Lstat(at); err != nil {
		err = os.WriteFile(at, nil, 0o644)
	}
	if err != nil {
		return err
	}
	flags := uintptr(unix.MS_BIND | unix.MS_REC)
	if from == m.tmp {
		flags = unix.MS_BIND // the new root is in it
	}
	if err := unix.Mount(from, at, "", flags, ""); err != nil {
		return fmt.Errorf("show %s: %w", path, err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID}
	if !strings.HasPrefix(path, "/dev/") {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if readOnly {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("protect %s: %w", path, err)
	}
	return nil
}

// link makes a symbolic link and its target visible.
func (m mounts) link(from, at string, readOnly bool) error {
	to, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if err := os.Symlink(to, at); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	real, err := filepath.EvalSymlinks(from)
	if err != nil || real == from {
		return nil // the link leads nowhere
	}
	if _, err := os.Lstat(filepath.Join(m.root, real)); err == nil {
		return nil // it is there already
	}
	return m.bind(real, real, readOnly)
}
