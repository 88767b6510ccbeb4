//go:build linux

package confine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A target is another run, and what else is on the machine, for whoever tries to reach it.
type target struct {
	Pid      int
	Dir      string // of the other run
	Socket   string // in it
	Abstract string
	Port     int // of serve's page, or of Lambda's Runtime API
	Key      int // of its shared memory
	Memory   uintptr
	Data     string // the data directory, with the App's key
	Cache    string // of providers
	Tmp      string // a file in /tmp
	Shm      string // a file in /dev/shm
	Own      string // the run's own directory
}

const secret = "hunter2hunter2"

// beVictim is the program of another run: its environment, memory and files have a secret, it
// listens on sockets, and it says when it was signalled.
func beVictim(args []string) {
	var x target
	if err := json.Unmarshal([]byte(args[0]), &x); err != nil {
		panic(err)
	}
	x.Pid = os.Getpid()
	memory := []byte(secret + " in memory")
	x.Memory = uintptr(unsafe.Pointer(&memory[0]))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	x.Port = l.Addr().(*net.TCPAddr).Port
	a, err := net.Listen("unix", "@"+x.Abstract)
	must(err)
	u, err := net.Listen("unix", x.Socket)
	must(err)
	for _, l := range []net.Listener{l, a, u} {
		go func() {
			for {
				c, err := l.Accept()
				must(err)
				io.WriteString(c, secret)
				c.Close()
			}
		}()
	}
	id, err := unix.SysvShmGet(x.Key, 4096, unix.IPC_CREAT|0o600)
	must(err)
	shared, err := unix.SysvShmAttach(id, 0, 0)
	must(err)
	copy(shared, secret)
	must(os.Chdir(x.Dir))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	data, err := json.Marshal(x)
	must(err)
	must(os.WriteFile("ready.new", data, 0o600))
	must(os.Rename("ready.new", "ready"))
	for range signals {
		must(os.WriteFile("signalled", nil, 0o600))
	}
	fmt.Println(memory)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A way is one that a program tries to get at something of others; nil says that it got it.
type way struct {
	name string
	try  func(x target) error
}

// ways are tried by programs of ours in the place of a provider's own code: with system calls,
// which no shell hinders.
var ways = []way{
	{"read a file of another run", func(x target) error { return reads(filepath.Join(x.Dir, "checkout.tf")) }},
	{"list another run's directory", func(x target) error { _, err := os.ReadDir(x.Dir); return err }},
	{"write into another run's directory", func(x target) error { return os.WriteFile(filepath.Join(x.Dir, "evil"), nil, 0o600) }},
	{"link a file of another run into one's own", func(x target) error {
		own := filepath.Join(x.Own, "linked")
		defer os.Remove(own)
		return os.Link(filepath.Join(x.Dir, "checkout.tf"), own)
	}},
	{"read another run's environment", func(x target) error { return reads(proc(x, "environ")) }},
	{"read another run's memory by /proc", func(x target) error {
		f, err := os.Open(proc(x, "mem"))
		if err != nil {
			return err
		}
		defer f.Close()
		b := make([]byte, len(secret))
		_, err = f.ReadAt(b, int64(x.Memory))
		return holds(b, err)
	}},
	{"read another run's memory by process_vm_readv", func(x target) error {
		b := make([]byte, len(secret))
		local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
		_, err := unix.ProcessVMReadv(x.Pid, local, []unix.RemoteIovec{{Base: x.Memory, Len: len(b)}}, 0)
		return holds(b, err)
	}},
	{"take an open file of another run's program", func(x target) error {
		fd, err := unix.PidfdOpen(x.Pid, 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 1, 0)
		return err
	}},
	{"go through another run's /proc/PID/cwd", func(x target) error { return reads(proc(x, "cwd/checkout.tf")) }},
	{"see another run's command line", func(x target) error {
		b, err := os.ReadFile(proc(x, "cmdline"))
		if err == nil && !strings.Contains(string(b), "victim") {
			err = errors.New("it is somebody else")
		}
		return err
	}},
	{"signal another run's program", func(x target) error { return syscall.Kill(x.Pid, syscall.SIGUSR1) }},
	{"connect to serve's page or Lambda's Runtime API", func(x target) error { return dials("tcp", fmt.Sprintf("127.0.0.1:%d", x.Port)) }},
	{"connect to the same by IPv6", func(x target) error { return dials("tcp", fmt.Sprintf("[::ffff:127.0.0.1]:%d", x.Port)) }},
	{"connect to an abstract socket of another run", func(x target) error { return dials("unix", "@"+x.Abstract) }},
	{"connect to a socket in another run's directory", func(x target) error { return dials("unix", x.Socket) }},
	{"attach shared memory of another run", func(x target) error {
		id, err := unix.SysvShmGet(x.Key, 0, 0)
		if err != nil {
			return err
		}
		b, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
		if err != nil {
			return err
		}
		return holds(b[:len(secret)], nil)
	}},
	{"read what is in the machine's /tmp", func(x target) error { return reads(x.Tmp) }},
	{"read what is in the machine's /dev/shm", func(x target) error { return reads(x.Shm) }},
	{"read the App's key", func(x target) error { return reads(filepath.Join(x.Data, "key.pem")) }},
	{"read states and plans in the data directory", func(x target) error { return reads(filepath.Join(x.Data, "states/terraform.tfstate")) }},
	{"change a provider in the cache", func(x target) error {
		return os.WriteFile(filepath.Join(x.Cache, "terraform-provider-x"), []byte("evil"), 0o755)
	}},
	{"put another provider into the cache", func(x target) error {
		return os.WriteFile(filepath.Join(x.Cache, "terraform-provider-y"), []byte("evil"), 0o755)
	}},
	{"read the environment of the run's own engine", func(target) error { return reads(fmt.Sprintf("/proc/%d/environ", os.Getppid())) }},
	{"make namespaces, for rights in them", func(target) error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}
		return cmd.Run()
	}},
	{"mount something", func(x target) error { return unix.Mount("tmpfs", x.Own, "tmpfs", 0, "") }},
	{"set up io_uring", func(target) error {
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])), 0)
		if errno != 0 {
			return errno
		}
		return nil
	}},
	{"trace another run's program", func(x target) error {
		return unix.PtraceSeize(x.Pid) // our end ends it; signals stop it until then, so it comes last
	}},
}

func proc(x target, name string) string { return fmt.Sprintf("/proc/%d/%s", x.Pid, name) }

func reads(path string) error {
	b, err := os.ReadFile(path)
	return holds(b, err)
}

func holds(b []byte, err error) error {
	if err == nil && !bytes.Contains(b, []byte(secret)) {
		err = errors.New("no secret is in it")
	}
	return err
}

func dials(network, address string) error {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	b, err := io.ReadAll(c)
	return holds(b, err)
}

// try tries all ways, and writes into its own directory what became of each.
func try(args []string) {
	var x target
	must(json.Unmarshal([]byte(args[0]), &x))
	got := map[string]string{}
	for _, w := range ways {
		if err := w.try(x); err != nil {
			got[w.name] = err.Error()
		} else {
			got[w.name] = ""
		}
	}
	data, err := json.Marshal(got)
	must(err)
	must(os.WriteFile(filepath.Join(x.Own, "got"), data, 0o600))
}
