//go:build linux

package confine

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test's program is also the parents and children that tests need, by its first argument.
func TestMain(m *testing.M) {
	// What is in shared memory is open to all where there are no namespaces: the tests' files are elsewhere.
	if strings.HasPrefix(os.TempDir(), "/dev/shm/") {
		os.Setenv("TMPDIR", "/tmp")
	}
	Probe()
	confined := Confined()
	if confined {
		if err := Enter(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	if len(os.Args) > 1 {
		if act, ok := acts[os.Args[1]]; ok {
			act(os.Args[2:])
			if confined {
				Leave(0)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// acts are what such a program does.
var acts = map[string]func(args []string){
	"sleep":  func([]string) { time.Sleep(time.Hour) },
	"memory": takeMemory,
	"spin": func([]string) {
		//lint:ignore SA5002 a bomb
		for {
		}
	},
	"overflow": func([]string) { fmt.Println(overflow(0)) },
	"cell":     inCell,
	"shell":    inShell,
	"parent":   beParent,
	"try":      try,
	"victim":   beVictim,
	"sockets":  trySockets,
}

// takeMemory takes 8 MB after another, each after the pause that it is given: without one it may take all that the kernel's own limit
// lets it have before anybody looks.
func takeMemory(args []string) {
	var pause time.Duration
	if len(args) > 0 {
		pause, _ = time.ParseDuration(args[0])
	}
	for kept := [][]byte{}; ; time.Sleep(pause) {
		b := make([]byte, 8<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		kept = append(kept, b)
	}
}

//lint:ignore SA5007 a bomb
func overflow(n int) int { return overflow(n+1) + 1 }

// inShell runs a shell outside of any cell, as the least protected child would.
func inShell(args []string) {
	cmd := exec.Command("/bin/sh", "-c", args[0])
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// inCell runs a command in a cell that its first argument describes.
func inCell(args []string) {
	var s CellSpec
	err := json.Unmarshal([]byte(args[0]), &s)
	var c *Cell
	if err == nil {
		c, err = NewCell(s)
	}
	if err == nil {
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + s.View.Tmp}
		if len(args) > 2 && args[2] == "victim" {
			cmd.Env = append(cmd.Env, "SECRET="+secret)
		}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err = c.Start(cmd); err == nil {
			err = cmd.Wait()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// beParent starts a shell as a child, says its number, and waits.
func beParent(args []string) {
	if err := Adopt(); err != nil {
		panic(err)
	}
	self, _ := os.Executable()
	p, err := Start(Spec{Path: self, Args: []string{"shell", args[1]}, Env: []string{"PATH=/usr/bin:/bin"}, Without: args[0] == "without", Stderr: os.Stderr})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.cmd.Process.Pid)
	if len(args) > 2 { // the child is killed by somebody else
		bufio.NewReader(os.Stdin).ReadString('\n')
		syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL)
		p.Wait()
		fmt.Println("ended")
	}
	time.Sleep(time.Hour)
}

// self is the test's program.
func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// alive reports whether a process whose command line has a text lives.
func alive(text string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var found []string
	for _, f := range files {
		data, _ := os.ReadFile(f)
		line := strings.ReplaceAll(string(data), "\x00", " ")
		if strings.Contains(line, text) && !strings.Contains(line, " parent with") {
			found = append(found, f+" "+line)
		}
	}
	return found
}
