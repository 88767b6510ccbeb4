package confine

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock lets a thread give up rights to files and sockets, for itself and its descendants. The thread needs
// no privileges. A thread in a Landlock domain can trace only processes in the same domain, or in one below it.
// So it cannot read the memory and environment of others.
// Source: landlock(7), https://docs.kernel.org/userspace-api/landlock.html

// rulesetAttr is struct landlock_ruleset_attr. An older kernel accepts members that it does not know if they
// are zero.
type rulesetAttr struct{ fs, net, scoped uint64 }

// rulePort is LANDLOCK_RULE_NET_PORT.
const rulePort = 2

// Landlock's access rights to files, as bits.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// firstRights are the 13 rights of the first version of Landlock.
	firstRights = 1<<13 - 1
	// fileRights are the rights that apply to files other than directories.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockVersion returns the kernel's Landlock ABI version; an error if the kernel has no Landlock.
func landlockVersion() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS, errno == unix.EOPNOTSUPP:
		return 0, errors.New("this kernel has no Landlock")
	case errno != 0:
		return 0, fmt.Errorf("Landlock cannot be used: %w", errno)
	}
	return int(v), nil
}

// handledRights returns the file access rights that a version of Landlock can restrict.
func handledRights(version int) uint64 {
	rights := uint64(firstRights)
	for _, x := range []struct {
		since int
		right uint64
	}{{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}} {
		if version >= x.since {
			rights |= x.right
		}
	}
	return rights
}

// restrictFiles limits the calling thread to the files of the view v. If scope is set, it also forbids signals
// to processes outside of the thread's Landlock domain, and connections to their abstract sockets.
func restrictFiles(version int, v View, scope bool) error {
	attr := rulesetAttr{fs: handledRights(version)}
	if scope {
		attr.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	rules, err := createRuleset(attr)
	if err != nil {
		return err
	}
	defer unix.Close(rules)
	allow := func(path string, rights uint64) error {
		if rights &= attr.fs; rights == 0 {
			return nil
		}
		return allowPath(rules, path, rights)
	}
	for _, path := range append(append([]string{}, systemFiles...), v.Read...) {
		if err := allow(path, readRights); err != nil {
			return err
		}
	}
	for _, path := range append(append([]string{}, deviceFiles...), v.Write...) {
		if err := allow(path, attr.fs); err != nil {
			return err
		}
	}
	// Processes write to their own entries in /proc. The Landlock domain protects the entries of others.
	if err := allow("/proc", readRights|unix.LANDLOCK_ACCESS_FS_WRITE_FILE|unix.LANDLOCK_ACCESS_FS_TRUNCATE); err != nil {
		return err
	}
	return restrictSelf(rules)
}

// restrictPorts forbids the calling thread to connect to the TCP ports in closed. Landlock can only allow
// ports, so restrictPorts allows all ports except these. That takes some milliseconds.
func restrictPorts(closed []int) error {
	rules, err := createRuleset(rulesetAttr{net: unix.LANDLOCK_ACCESS_NET_CONNECT_TCP})
	if err != nil {
		return err
	}
	defer unix.Close(rules)
	no := map[int]bool{}
	for _, port := range closed {
		no[port] = true
	}
	for port := range 1 << 16 {
		if no[port] {
			continue
		}
		rule := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
		if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), rulePort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
			return fmt.Errorf("open port %d: %w", port, errno)
		}
	}
	return restrictSelf(rules)
}

func createRuleset(attr rulesetAttr) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return -1, fmt.Errorf("make Landlock rules: %w", errno)
	}
	return int(fd), nil
}

// allowPath adds a rule that allows the given rights for path and everything below it. It ignores a path that
// does not exist.
func allowPath(rules int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	// struct landlock_path_beneath_attr is packed: 8 and 4 bytes.
	rule := struct {
		access uint64
		fd     int32
	}{rights, int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}

func restrictSelf(rules int) error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return fmt.Errorf("go by Landlock rules: %w", errno)
	}
	return nil
}
