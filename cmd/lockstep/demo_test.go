package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	demoworld "github.com/lockstep-iac/lockstep/cmd/lockstep/internal/demo"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

// demoCommand runs `lockstep demo` in a process of its own, with an own temporary directory,
// which must be empty afterwards.
func demoCommand(d programtest.Dir, args ...string) *exec.Cmd {
	tmp := filepath.Join(d.Path, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(func() {
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			d.T.Errorf("left behind: %v (%v)", left, err)
		}
	})
	return &exec.Cmd{
		Path: programtest.Executable(d.T), Args: append([]string{"lockstep", "demo"}, args...),
		Dir: d.Path, Env: append(d.Environ(), "TMPDIR="+tmp),
	}
}

func TestDemoTellsAll(t *testing.T) {
	t.Parallel()
	out, err := demoCommand(programtest.NewDir(t), "--all").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	at := 0
	for _, s := range demoworld.Stories() {
		i := strings.Index(string(out[at:]), "== "+s.Name+" ==\n"+s.Shows)
		if i < 0 {
			t.Fatalf("%s is not told in its place:\n%s", s.Name, out)
		}
		at += i
	}
	if !strings.Contains(string(out[at:]), "All results were as expected.\n") {
		t.Errorf("it has no end:\n%s", out[at:])
	}
}

// The script is what a reader of the README runs first: one story on a page, and a line for each other one.
func TestDemoScript(t *testing.T) {
	t.Parallel()
	out, err := demoCommand(programtest.NewDir(t), "--script").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	story, others, _ := strings.Cut(string(out), "\nMore stories\n")
	if n := strings.Count(story, "\n"); n > 65 || !strings.Contains(story, "== "+demoworld.Stories()[0].Name+" ==") {
		t.Errorf("a story of %d lines:\n%s", n, story)
	}
	for _, s := range demoworld.Stories()[1:] {
		if !strings.Contains(others, "\n"+s.Name+" ") || strings.Contains(story, "== "+s.Name+" ==") {
			t.Errorf("%s is not listed, or is told", s.Name)
		}
	}
}

func TestDemoStories(t *testing.T) {
	t.Parallel()
	list := inProcess("demo", "-list")
	if n := strings.Count(list.Out, "\n"); list.Code != 0 || n != len(demoworld.Stories()) || !strings.HasPrefix(list.Out, "killed-apply ") {
		t.Errorf("list: %+v", list)
	}
	for line := range strings.Lines(list.Out) {
		if len(line) > 130 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	one := inProcess("demo", "-story", "replay")
	if one.Code != 0 || !strings.Contains(one.Out, "Told: replay.") || strings.Contains(one.Out, "comment-apply") {
		t.Errorf("one: %+v", one)
	}
	none := inProcess("demo", "-script", "-story", "love")
	if want := "lockstep: error: there is no story \"love\"\nlockstep: hint: run `lockstep demo -list` for all stories\n"; none.Code != 1 || none.Stderr != want {
		t.Errorf("none: %+v", none)
	}
}

// The page is there until it is interrupted, and then nothing is left.
func TestDemoPage(t *testing.T) {
	t.Parallel()
	cmd := demoCommand(programtest.NewDir(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "The demo is at ")
	if err != nil || !ok {
		t.Fatalf("%q %v", line, err)
	}
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || !bytes.Contains(body, []byte("Two subnets, and flow logs")) || !bytes.Contains(body, []byte("ready to apply")) {
		t.Errorf("%v\n%s", err, body)
	}
	// A stream that is open must not keep it.
	stream, err := http.Get(url + "events?since=1")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, stderr.String())
	}
}

func TestDemoCannotBegin(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	d := programtest.NewDir(t, "full/file", "x", "file", "x")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-addr", taken.Addr().String()}, "another program already listens on"},
		{[]string{"-addr", "192.0.2.1:0"}, "is not an address of this machine"},
		{[]string{"-addr", "nonsense"}, "is not an address of this machine"},
		{[]string{"-data", "full"}, "full is not empty"},
		{[]string{"-data", "file/dir"}, "cannot be created"},
		{[]string{"love"}, `you gave "love"`},
	} {
		cmd := demoCommand(d, c.args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if err == nil || !strings.Contains(stderr.String(), c.want) || !strings.HasPrefix(stderr.String(), "lockstep: error: ") {
			t.Errorf("%v: %v\n%s", c.args, err, stderr.String())
		}
	}
}
