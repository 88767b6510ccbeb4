//go:build linux

package confine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A column is a set of ways of protection, as some machines have it.
type column struct {
	name string
	no   struct{ Namespaces, Landlock, Seccomp bool }
	// open are the ways that it is known not to close.
	open map[string]bool
}

func columns() []column {
	all := column{name: "all"}
	landlock := column{name: "Landlock and seccomp", open: map[string]bool{
		"see another run's command line":                 true,
		"connect to a socket in another run's directory": true,
		"attach shared memory of another run":            true,
		"read what is in the machine's /dev/shm":         true,
	}}
	landlock.no.Namespaces = true
	only := column{name: "namespaces", open: map[string]bool{
		// The network is the machine's, abstract sockets with it.
		"connect to serve's page or Lambda's Runtime API": true,
		"connect to the same by IPv6":                     true,
		"connect to an abstract socket of another run":    true,
		"set up io_uring":                                 true,
		"make namespaces, for rights in them":             true,
	}}
	only.no.Landlock, only.no.Seccomp = true, true
	none := column{name: "none"}
	none.no.Namespaces, none.no.Landlock, none.no.Seccomp = true, true, true
	return slices.DeleteFunc([]column{none, landlock, only, all}, func(c column) bool { return !c.offered() })
}

// offered reports whether this machine has the column's ways of protection.
func (c column) offered() bool {
	version, _ := landlockVersion()
	return (c.no.Namespaces || names().why == "") && (c.no.Landlock || version >= 6)
}

// alwaysClosed are closed to programs without rights on any machine.
var alwaysClosed = map[string]bool{
	"mount something": true,
	"read the environment of the run's own engine": true,
}

// TestWays is the table of what programs of a run are kept from: `go test -run TestWays -v`.
// Each way is open where nothing closes it, or the table would say nothing.
func TestWays(t *testing.T) {
	x := newTarget(t)
	got := map[string]map[string]string{}
	var head []string
	for _, c := range columns() {
		got[c.name] = tryAll(t, x, c)
		head = append(head, c.name)
	}
	t.Logf("| way | %s |", strings.Join(head, " | "))
	for _, w := range ways {
		var cells []string
		for _, c := range columns() {
			why, tried := got[c.name][w.name]
			open := tried && why == ""
			cell := "closed"
			if open {
				cell = "OPEN"
			}
			cells = append(cells, cell)
			want := c.open[w.name] || c.name == "none" && !alwaysClosed[w.name]
			if !tried || open && !want {
				t.Errorf("%s, with %s: it gets it", w.name, c.name)
			}
			if !open && want && c.name != "namespaces" {
				t.Errorf("%s, with %s: %s; this way proves nothing", w.name, c.name, why)
			}
		}
		t.Logf("| %s | %s |", w.name, strings.Join(cells, " | "))
	}
}

// newTarget starts the program of another run.
func newTarget(t *testing.T) target {
	t.Helper()
	dir, err := os.MkdirTemp("", "ways-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	shm, err := os.CreateTemp("/dev/shm", "ways-*")
	if err != nil {
		t.Skip("there is no /dev/shm here")
	}
	shm.Close()
	t.Cleanup(func() { os.Remove(shm.Name()) })
	x := target{
		Dir: filepath.Join(dir, "other"), Socket: filepath.Join(dir, "other/s"), Abstract: filepath.Base(dir), Key: os.Getpid() + 1<<20,
		Data: filepath.Join(dir, "data"), Cache: filepath.Join(dir, "cache"), Tmp: filepath.Join(dir, "tmp"), Shm: shm.Name(),
	}
	for _, name := range []string{"other/checkout.tf", "other/t/x", "data/key.pem", "data/states/terraform.tfstate", "tmp", "cache/terraform-provider-x"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(shm.Name(), []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if id, err := unix.SysvShmGet(x.Key, 0, 0); err == nil {
			unix.SysvShmCtl(id, unix.IPC_RMID, nil)
		}
	})
	told, _ := json.Marshal(x)
	// It is in a cell that is not closed: rights that it had would keep others out.
	spec, _ := json.Marshal(CellSpec{View: View{Write: []string{dir}, Tmp: filepath.Join(x.Dir, "t")}, Without: columns()[0].no})
	var said strings.Builder
	p, err := Start(Spec{
		Path: self(t), Args: []string{"cell", string(spec), self(t), "victim", string(told)}, Env: []string{"SECRET=" + secret},
		Stderr: &said, Without: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); p.Wait() })
	for range 500 {
		if data, err := os.ReadFile(filepath.Join(x.Dir, "ready")); err == nil {
			if err := json.Unmarshal(data, &x); err != nil {
				t.Fatal(err)
			}
			return x
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.Kill()
	p.Wait()
	t.Fatalf("the other run does not begin: %s", said.String())
	return x
}

// tryAll has a program in a cell try all ways, and returns why each failed, "" if it did not.
func tryAll(t *testing.T, x target, c column) map[string]string {
	t.Helper()
	dir, err := os.MkdirTemp("", "trying-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	x.Own = filepath.Join(dir, "own")
	tmp := filepath.Join(dir, "t")
	if err := os.Mkdir(x.Own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	told, _ := json.Marshal(x)
	spec, _ := json.Marshal(CellSpec{
		View: View{Read: []string{x.Cache, self(t)}, Write: []string{x.Own}, Tmp: tmp}, Ports: []int{x.Port}, Without: c.no,
	})
	var said strings.Builder
	p, err := Start(Spec{
		Path: self(t), Args: []string{"cell", string(spec), self(t), "try", string(told)}, Env: []string{"SECRET=" + secret},
		Stderr: &said, Without: c.no.Namespaces, Limits: Limits{Wall: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	end := p.Wait()
	got := map[string]string{}
	data, err := os.ReadFile(filepath.Join(x.Own, "got"))
	if err == nil {
		err = json.Unmarshal(data, &got)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %v: %w: %s", c.name, end, err, said.String()))
	}
	return got
}
