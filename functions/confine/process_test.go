//go:build linux

package confine

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// escapes are what programs do to outlive their run; each leaves a sleep of a number.
var escapes = map[string]string{
	"background":        "sleep %d & true",
	"a session":         "setsid sleep %d & true",
	"a double fork":     "(setsid sh -c 'sleep %d & exit' &) ; true",
	"deaf to signals":   "setsid sh -c \"trap '' TERM INT HUP; sleep %d\" & true",
	"a closed terminal": "setsid nohup sleep %d </dev/null >/dev/null 2>&1 & true",
	"respawning":        "setsid sh -c 'while :; do sleep %d; done' & true",
	"many":              "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do setsid sleep %d & done; true",
	"output held open":  "sleep %d & exec true",
}

// number is for a sleep that nobody else sleeps.
var number = func() func() int {
	n := 100_000 + os.Getpid()%50_000*10
	return func() int { n++; return n }
}()

// modes are with namespaces, and without.
var modes = map[string]bool{"with": false, "without": true}

// TestDescendantsEnd holds that nothing of a run is left when it is over.
func TestDescendantsEnd(t *testing.T) {
	for mode, without := range modes {
		for name, script := range escapes {
			t.Run(mode+"/"+name, func(t *testing.T) {
				n := number()
				p, err := Start(Spec{Path: self(t), Args: []string{"shell", fmt.Sprintf(script, n) + "; sleep 0.05; exit 0"}, Env: []string{"PATH=/usr/bin:/bin"}, Without: without})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if e := p.Wait(); e.Reason != "" || e.Code != 0 {
					t.Errorf("it ends with %v", e)
				}
				if d := time.Since(began); d > 2*time.Minute {
					t.Errorf("it takes %s", d)
				}
				if left := alive(fmt.Sprintf("sleep %d", n)); len(left) > 0 {
					t.Errorf("left are %q", left)
				}
			})
		}
	}
}

// TestKill holds that killing a process kills all of it.
func TestKill(t *testing.T) {
	for mode, without := range modes {
		t.Run(mode, func(t *testing.T) {
			n := number()
			script := fmt.Sprintf("setsid sh -c \"trap '' TERM; while :; do sleep %d; done\" & while :; do sleep 0.01 & sleep 0.002; done", n)
			p, err := Start(Spec{Path: self(t), Args: []string{"shell", script}, Env: []string{"PATH=/usr/bin:/bin"}, Without: without})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
			if len(alive(fmt.Sprintf("sleep %d", n))) == 0 {
				t.Fatal("it does not begin")
			}
			p.Kill()
			if e := p.Wait(); e.Reason != Killed {
				t.Errorf("it ends with %v", e)
			}
			if left := alive(fmt.Sprint("sleep ", n)); len(left) > 0 {
				t.Errorf("left are %q", left)
			}
		})
	}
}

// TestLimits holds that a process is ended at each of its limits, with the reason.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		args   []string
		limits Limits
		want   Reason
	}{
		"memory":           {[]string{"memory", "20ms"}, Limits{Memory: 256 << 20}, Memory},
		"memory of others": {[]string{"shell", self(t) + " memory 20ms & " + self(t) + " memory 20ms & wait"}, Limits{Memory: 400 << 20}, Memory},
		"processor time":   {[]string{"spin"}, Limits{CPU: 300 * time.Millisecond}, CPU},
		"time":             {[]string{"sleep"}, Limits{Wall: 300 * time.Millisecond}, Wall},
		"disk":             {[]string{"shell", "cd " + dir + "; i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > f$i; done"}, Limits{Disk: 20 << 20}, Disk},
		"processes":        {[]string{"shell", "i=0; while [ $i -lt 300 ]; do i=$((i+1)); sleep 100 & done; wait"}, Limits{Processes: 50}, Processes},
		"a fork bomb":      {[]string{"shell", "b() { [ $1 -lt 8 ] && { b $(($1+1)) | b $(($1+1)) & }; sleep 60; }; b 0"}, Limits{Processes: 100, Wall: 20 * time.Second}, Processes},
	} {
		for mode, without := range modes {
			t.Run(name+"/"+mode, func(t *testing.T) {
				p, err := Start(Spec{Path: self(t), Args: test.args, Env: []string{"PATH=/usr/bin:/bin"}, Limits: test.limits, Dirs: []string{dir}, Without: without})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				e := p.Wait()
				if e.Reason != test.want || e.Used == 0 {
					t.Errorf("it ends with %v, after %s", e, time.Since(began))
				}
				if d := time.Since(began); d > 2*time.Minute {
					t.Errorf("it takes %s", d)
				}
			})
		}
	}
}

// TestStack holds that endless recursion ends soon, and says so.
func TestStack(t *testing.T) {
	var said strings.Builder
	p, err := Start(Spec{Path: self(t), Args: []string{"overflow"}, Limits: Limits{Memory: 1 << 30}, Stderr: &said})
	if err != nil {
		t.Fatal(err)
	}
	if e := p.Wait(); e.Code != 2 || !strings.Contains(said.String(), "goroutine stack exceeds") {
		t.Errorf("it ends with %v: %.300s", e, said.String())
	}
}

// parent starts one that has a child with a daemon, and returns it once the daemon is there.
func parent(t *testing.T, n int, args ...string) (*exec.Cmd, io.Writer, *bufio.Reader) {
	t.Helper()
	return parentOf(t, n, 1, fmt.Sprintf("setsid sh -c \"trap '' TERM; while :; do sleep %d; done\" & wait", n), args...)
}

// parentOf starts one whose child runs a script, and returns it once so many processes are there.
func parentOf(t *testing.T, n, count int, script string, args ...string) (*exec.Cmd, io.Writer, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(self(t), append([]string{"parent", args[0], script}, args[1:]...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewReader(out)
	line, _ := lines.ReadString('\n')
	if _, err := strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatalf("it says %q", line)
	}
	for range 1000 {
		if len(alive(fmt.Sprint("sleep ", n))) >= count {
			return cmd, in, lines
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it does not begin")
	return nil, nil, nil
}

// TestParentIsKilled holds that kill -9 of the parent leaves nobody.
func TestParentIsKilled(t *testing.T) {
	for mode := range modes {
		t.Run(mode, func(t *testing.T) {
			n := number()
			cmd, _, _ := parent(t, n, mode)
			cmd.Process.Kill()
			cmd.Wait()
			gone(t, n)
		})
	}
}

// TestParentOfManyIsKilled holds that kill -9 of the parent leaves nobody though the child ends with its own child, before the
// others of many descendants could be killed.
func TestParentOfManyIsKilled(t *testing.T) {
	for mode := range modes {
		t.Run(mode, func(t *testing.T) {
			n, many := number(), 200
			script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); setsid sleep %d & done; wait", many, n)
			cmd, _, _ := parentOf(t, n, many, script, mode)
			cmd.Process.Kill()
			cmd.Wait()
			gone(t, n)
		})
	}
}

// TestChildIsKilled holds that nobody is left either when a program kills the child that
// orphans come to.
func TestChildIsKilled(t *testing.T) {
	for mode := range modes {
		t.Run(mode, func(t *testing.T) {
			n := number()
			_, in, lines := parent(t, n, mode, "kill")
			io.WriteString(in, "now\n")
			if line, _ := lines.ReadString('\n'); line != "ended\n" {
				t.Fatalf("it says %q", line)
			}
			if left := alive(fmt.Sprint("sleep ", n)); len(left) > 0 {
				t.Errorf("left are %q", left)
			}
		})
	}
}

func gone(t *testing.T, n int) {
	t.Helper()
	for range 300 {
		if len(alive(fmt.Sprint("sleep ", n))) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("left are %q", alive(fmt.Sprint("sleep ", n)))
}
