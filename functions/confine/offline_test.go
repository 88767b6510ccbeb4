//go:build linux

package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// trySockets says which kinds of sockets a program gets, and answers itself on one in a file, as plugins do.
func trySockets(args []string) {
	for _, x := range []struct {
		name         string
		domain, kind int
	}{
		{"tcp", unix.AF_INET, unix.SOCK_STREAM}, {"udp", unix.AF_INET, unix.SOCK_DGRAM}, {"tcp6", unix.AF_INET6, unix.SOCK_STREAM},
		{"netlink", unix.AF_NETLINK, unix.SOCK_RAW}, {"vsock", unix.AF_VSOCK, unix.SOCK_STREAM},
	} {
		fd, err := unix.Socket(x.domain, x.kind, 0)
		if err == nil {
			unix.Close(fd)
		}
		fmt.Fprintf(os.Stderr, "%s %t\n", x.name, errors.Is(err, unix.EACCES))
	}
	l, err := net.Listen("unix", filepath.Join(args[0], "s"))
	must(err)
	c, err := net.Dial("unix", l.Addr().String())
	must(err)
	c.Close()
	fmt.Fprintln(os.Stderr, "unix works")
}

// TestOffline holds that programs in a cell without networks reach nothing but sockets in files, and that there is no
// such cell where system calls cannot be refused.
func TestOffline(t *testing.T) {
	t.Parallel()
	run := func(s CellSpec) string {
		dir := t.TempDir()
		s.View = View{Read: []string{self(t)}, Write: []string{dir}, Tmp: dir}
		spec, _ := json.Marshal(s)
		var said strings.Builder
		p, err := Start(Spec{Path: self(t), Args: []string{"cell", string(spec), self(t), "sockets", dir}, Stderr: &said, Without: true, Limits: Limits{Wall: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		p.Wait()
		return said.String()
	}
	if got := run(CellSpec{Offline: true}); got != "tcp true\nudp true\ntcp6 true\nnetlink true\nvsock true\nunix works\n" {
		t.Errorf("offline: %s", got)
	}
	if got := run(CellSpec{}); !strings.HasPrefix(got, "tcp false\nudp false\n") {
		t.Errorf("online, where this test would prove nothing: %s", got)
	}
	left := CellSpec{Offline: true}
	left.Without.Seccomp = true
	if got := run(left); !strings.Contains(got, "close the network to them") || strings.Contains(got, "tcp") {
		t.Errorf("without seccomp: %s", got)
	}
}
