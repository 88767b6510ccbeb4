package mutating

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A mutant does anything: it may remove, rename and overwrite files that its package would
// never touch, and signal processes that are not its own. So each runs under Landlock, which
// leaves it the runner's directory to write to, and its own processes to signal; it can read all.
// The environment variable turns this program into the one that go test -exec starts a test with.
//
// Source: landlock(7)
const confinedVariable = "MUTATING_CONFINED_TO"

// maxMemory is the address space of a test in bytes. A mutant may fill its memory without end.
const maxMemory = 8 << 30

// landlockVersion is the first version of Landlock that keeps a process from signalling others.
const landlockVersion = 6

func TestMain(m *testing.M) {
	dir := os.Getenv(confinedVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv(confinedVariable)
	fmt.Fprintln(os.Stderr, "mutating:", enter(dir, os.Args[1:]))
	os.Exit(1)
}

// enter runs a program in the place of this one, confined to the directory. It returns only with
// an error.
func enter(dir string, args []string) error {
	runtime.LockOSThread() // the rules are this thread's; the program that it becomes has them, too
	if err := confine(dir); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: maxMemory, Max: maxMemory}); err != nil {
		return fmt.Errorf("limit the memory: %w", err)
	}
	return unix.Exec(args[0], args, os.Environ())
}

func confine(dir string) error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || version < landlockVersion {
		return errors.New("mutants run only where Landlock confines them, in its version 6 or later")
	}
	const write = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	const all = write | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	attr := struct{ files, network, scoped uint64 }{files: all, scoped: unix.LANDLOCK_SCOPE_SIGNAL}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make the rules of Landlock: %w", errno)
	}
	for path, rights := range map[string]uint64{dir: all, "/dev/null": write, "/dev/zero": write, "/dev/full": write, "/dev/tty": write, "/dev/ptmx": write, "/dev/pts": write, "/proc": write} {
		if err := allow(int(rules), path, rights); err != nil {
			return fmt.Errorf("allow %s: %w", path, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("enter the rules of Landlock: %w", errno)
	}
	return nil
}

func allow(rules int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// TestConfined holds that a program changes files only in the runner's directory, and signals
// only its own processes.
func TestConfined(t *testing.T) {
	t.Parallel()
	inside, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(outside+"/file", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &runner{dir: inside, env: os.Environ()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	victim := exec.Command("sleep", "60")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { victim.Process.Kill(); victim.Wait() }()
	for _, test := range []struct {
		script string
		ok     bool
	}{
		{"echo new >" + inside + "/file", true},
		{"mkdir " + inside + "/d && mv " + inside + "/file " + inside + "/d", true},
		{"echo new >/dev/null", true},
		{"cat " + outside + "/file", true},
		{"sleep 60 & kill $!", true},
		{"echo new >" + outside + "/file", false},
		{"echo new >" + outside + "/other", false},
		{"rm " + outside + "/file", false},
		{"mv " + outside + "/file " + inside, false},
		{"mv " + inside + "/d/file " + outside + "/file", false},
		{fmt.Sprintf("kill %d", victim.Process.Pid), false},
	} {
		c := exec.Command(self, "/bin/sh", "-c", test.script)
		c.Env = append(r.env, confinedVariable+"="+inside)
		if out, err := c.CombinedOutput(); (err == nil) != test.ok {
			t.Errorf("%s: %v\n%s", test.script, err, out)
		}
	}
}
