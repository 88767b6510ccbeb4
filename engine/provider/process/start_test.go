//go:build unix

package process_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/lockstep-iac/lockstep/engine/provider/process"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
)

// The test binary also plays plugins that do not start as they should.
func TestMain(m *testing.M) {
	switch os.Getenv("PRETEND") {
	case "":
		os.Exit(m.Run())
	case "ends":
		fmt.Fprintln(os.Stderr, "no such licence")
		os.Exit(7)
	case "logs":
		fmt.Fprintf(os.Stderr, "sdk %q, provider %q\n", os.Getenv("TF_LOG_SDK"), os.Getenv("TF_LOG_PROVIDER"))
		os.Exit(7)
	case "chats":
		fmt.Println("Welcome to the plugin!")
	case "old":
		fmt.Println("1|4|tcp|127.0.0.1:1|grpc")
	case "tcp", "unix":
		pretendServer(os.Getenv("PRETEND"))
	case "netrpc":
		fmt.Println("1|5|tcp|127.0.0.1:1|netrpc")
	case "environment":
		var names []string
		for _, entry := range os.Environ() {
			name, _, _ := strings.Cut(entry, "=")
			names = append(names, name)
		}
		fmt.Fprintln(os.Stderr, "FOO="+os.Getenv("FOO"), "beside", strings.Join(names, " "))
		os.Exit(1)
	case "host":
		host()
	case "hangs":
		fmt.Fprintln(os.Stderr, "waiting for Godot")
	}
	time.Sleep(time.Minute) // somebody has to end us
}

// TestDoesNotStart is a table of plugins that cannot be started, and of what is said
// about it.
func TestDoesNotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pretend := func(what string) process.Launch {
		return process.Launch{Name: "lab", Path: me, Env: []string{"PRETEND=" + what}}
	}
	file := func(name, content string, mode os.FileMode) process.Launch {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return process.Launch{Name: "lab", Path: path}
	}
	hangs := pretend("hangs")
	hangs.StartTimeout = 300 * time.Millisecond
	for name, tc := range map[string]struct {
		launch process.Launch
		want   []string
	}{
		"not there":      {process.Launch{Path: filepath.Join(dir, "nothing")}, []string{"there is no plugin", "lockstep init"}},
		"not executable": {file("data", "hello", 0o644), []string{"must not be executed", "file mode"}},
		"no program":     {file("text", "hello", 0o755), []string{"is not a program", "no executable format"}},
		"other machine":  {file("other", otherMachine(), 0o755), []string{"is not a program for " + runtime.GOOS, "it was built for", "S390"}},
		"ends":           {pretend("ends"), []string{"exit status 7", "no such licence"}},
		"chats":          {pretend("chats"), []string{"not a provider plugin", "Welcome to the plugin!"}},
		"old":            {pretend("old"), []string{"version 4", "5 and 6"}},
		"netrpc":         {pretend("netrpc"), []string{"does not speak gRPC"}},
		"hangs":          {hangs, []string{"within 300ms", "waiting for Godot"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := tc.launch.Start(t.Context(), nil)
			if err == nil {
				c.Close()
				t.Fatal("it started")
			}
			for _, want := range append(tc.want, tc.launch.Path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %s", want, err)
				}
			}
		})
	}
}

// TestQuiet: a plugin writes no log that nobody reads.
func TestQuiet(t *testing.T) {
	t.Parallel()
	me, _ := os.Executable()
	for _, tc := range []struct{ level, env, want string }{
		{"", "X=y", `sdk "off", provider "off"`},
		{"OFF", "X=y", `sdk "off", provider "off"`},
		{"INFO", "X=y", `sdk "", provider ""`},
		{"", "TF_LOG_PROVIDER=DEBUG", `sdk "", provider "DEBUG"`},
	} {
		c, err := process.Launch{Name: "lab", Path: me, Env: []string{"PRETEND=logs", tc.env}, LogLevel: tc.level}.Start(t.Context(), nil)
		if err == nil {
			c.Close()
			t.Fatal("it started")
		}
		if !strings.Contains(err.Error(), tc.want) {
			t.Errorf("with the level %q and %s: %q is not in: %s", tc.level, tc.env, tc.want, err)
		}
	}
}

// otherMachine is the head of a program for a machine that hardly is this one.
func otherMachine() string {
	head := make([]byte, 64)
	copy(head, "\x7fELF\x02\x02\x01") // 64 bits, big endian
	head[17] = 2                      // executable
	head[19] = 22                     // S/390
	head[23] = 1                      // version
	head[53] = 64                     // size of this head
	return string(head)
}

// TestStartCancelled: a start ends with its context.
func TestStartCancelled(t *testing.T) {
	t.Parallel()
	me, _ := os.Executable()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := process.Launch{Path: me, Env: []string{"PRETEND=hangs"}}.Start(ctx, nil)
	if err == nil || !strings.Contains(err.Error(), "given up") {
		t.Errorf("it ended with %v", err)
	}
	if _, err := (process.Launch{Path: me, Env: []string{"PRETEND=hangs"}}).Start(ctx, nil); err == nil {
		t.Error("a start after the end of the context")
	}
}

// TestEnvironment: plugins see what they are given, and nothing of ours.
func TestEnvironment(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "ours")
	me, _ := os.Executable()
	_, err := process.Launch{Path: me, Env: []string{"PRETEND=environment", "FOO=bar"}}.Start(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "FOO=bar beside") {
		t.Errorf("its environment is not known: %v", err)
	}
	if strings.Contains(err.Error(), "AWS_SECRET_ACCESS_KEY") {
		t.Error("the plugin inherits our environment")
	}
}

// TestLog: what a plugin logs goes to the log, and only there.
func TestLog(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]bool{"TRACE": true, "JSON": true, "OFF": false, "": false} {
		var log syncBuffer
		l := launch(t, "lockstep/lab")
		l.Env = append(l.Env, "TF_LOG=TRACE")
		l.Log, l.LogLevel = &log, level
		p := runLaunch(t, l)
		p.Close()
		text := log.String()
		if got := strings.Contains(text, "ConfigureProvider"); got != want {
			t.Errorf("level %q: logged: %v\n%s", level, got, text)
		}
		if level == "JSON" {
			for line := range strings.Lines(text) {
				if !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %s", line)
				}
			}
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// TestReattach: a provider that somebody else started serves several clients, and
// stays when they are closed.
func TestReattach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(providertest.Find(t, "lockstep/lab").Path, "-debug")
	cmd.Env = []string{"LAB_DIR=" + dir, "TMPDIR=" + os.TempDir()}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()

	reattach := parseReattach(t, bufio.NewScanner(out))
	for range 2 {
		c, err := reattach.Start(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := configured(t, c, dir)
		if _, ds := p.change("lab_thing", nothing, p.managed("lab_thing", attrs{"name": str("a")}), nil); ds.HasErrors() {
			t.Error(ds)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}

	reattach.ProtocolVersion = 7
	if _, err := reattach.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "version 7") {
		t.Errorf("protocol 7: %v", err)
	}
	reattach.ProtocolVersion, reattach.Protocol = 6, "netrpc"
	if _, err := reattach.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "netrpc") {
		t.Errorf("net/rpc: %v", err)
	}
	reattach.Protocol, reattach.Address = "grpc", filepath.Join(dir, "nobody")
	if _, err := reattach.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "still running") {
		t.Errorf("nobody there: %v", err)
	}
}

// parseReattach finds the line TF_REATTACH_PROVIDERS='...' that a provider prints.
func parseReattach(t *testing.T, lines *bufio.Scanner) process.Reattach {
	t.Helper()
	for lines.Scan() {
		_, text, ok := strings.Cut(lines.Text(), "TF_REATTACH_PROVIDERS='")
		if !ok {
			continue
		}
		var all map[string]struct {
			Protocol        string
			ProtocolVersion int
			Pid             int
			Test            bool
			Addr            struct{ Network, String string }
		}
		if err := json.Unmarshal([]byte(strings.TrimSuffix(text, "'")), &all); err != nil {
			t.Fatal(err)
		}
		for name, a := range all {
			return process.Reattach{Name: name, Protocol: a.Protocol, ProtocolVersion: a.ProtocolVersion,
				Pid: a.Pid, Test: a.Test, Network: a.Addr.Network, Address: a.Addr.String}
		}
	}
	t.Fatal("the provider does not say how to attach to it")
	return process.Reattach{}
}

// TestNothingLeftBehind: a plugin that was closed leaves no goroutine, no process and
// no file of ours. It is not parallel, so that nobody else makes any.
func TestNothingLeftBehind(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	before := runtime.NumGoroutine()
	p := run(t, "lockstep/lab")
	pid := p.pid()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the process is still there: %v", err)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	deadline := time.Now().Add(10 * time.Second) // goroutines may take a moment to end
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			var stacks bytes.Buffer
			pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			t.Fatalf("goroutines are left:\n%s", &stacks)
		}
		time.Sleep(time.Millisecond)
	}
}

// pretendServer plays a plugin that listens on a network, and says in a file with which kind of connection.
func pretendServer(network string) {
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "s")
	}
	l, err := net.Listen(network, address)
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(os.Getenv("STARTS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(f, "TLS %v\n", os.Getenv("PLUGIN_CLIENT_CERT") != "")
	f.Close()
	fmt.Printf("1|5|%s|%s|grpc|\n", network, l.Addr())
	grpc.NewServer().Serve(l)
}

// TestTLS holds that a plugin on a TCP port is started once more, with TLS, and one on a private socket is not.
func TestTLS(t *testing.T) {
	t.Parallel()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		network, want string
		disabled      bool
	}{
		"a private socket":   {"unix", "TLS false\n", false},
		"a port":             {"tcp", "TLS false\nTLS true\n", false},
		"a port, no TLS":     {"tcp", "TLS false\n", true},
		"a socket, disabled": {"unix", "TLS false\n", true},
	} {
		file := filepath.Join(t.TempDir(), "starts")
		l := process.Launch{Name: "lab", Path: me, Env: []string{"PRETEND=" + x.network, "STARTS=" + file}, DisableTLS: x.disabled}
		if c, err := l.Start(t.Context(), nil); err == nil {
			c.Close()
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != x.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
