//go:build linux

package subprocess

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// tool is the test's program as the tool of a step: the first argument names what it does. It writes "done" if it has
// reached what it wanted, and otherwise what prevented it.
func tool(args []string) {
	said := "done"
	if err := deeds[args[0]](args[1:]); err != nil {
		said = err.Error()
	}
	fmt.Println(said)
	os.Exit(0)
}

// grown keeps the memory of the deed "grow".
var grown [][]byte

// deeds are what a step's program may try.
var deeds = map[string]func([]string) error{
	"say": func(a []string) error { fmt.Println(strings.Join(a, "|")); return nil },
	"exit": func(a []string) error {
		n, _ := strconv.Atoi(a[0])
		fmt.Fprintln(os.Stderr, "so it ends")
		os.Exit(n)
		return nil
	},
	"env": func([]string) error { fmt.Println(strings.Join(os.Environ(), "\n")); return nil },
	"cat": func(a []string) error { data, err := os.ReadFile(a[0]); os.Stdout.Write(data); return err },
	"in": func([]string) error {
		dir, err := os.Getwd()
		fmt.Println(dir)
		return err
	},
	"write": func(a []string) error { return os.WriteFile(a[0], []byte("written"), 0o600) },
	"pipe":  func(a []string) error { return unix.Mkfifo(a[0], 0o600) },
	"link":  func(a []string) error { return os.Symlink(a[0], a[1]) },
	"print": func(a []string) error {
		n, _ := strconv.Atoi(a[0])
		line := strings.Repeat("x", 1<<20)
		for range n {
			io.WriteString(os.Stdout, line)
		}
		return nil
	},
	"sleep":   func([]string) error { time.Sleep(time.Hour); return nil },
	"die":     func([]string) error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) },
	"connect": func(a []string) error { c, err := net.DialTimeout(a[0], a[1], time.Second); _ = c; return err },
	"send": func(a []string) error {
		_, err := net.DialTimeout("udp", a[0], time.Second)
		return err
	},
	"netlink":  func([]string) error { _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0); return err },
	"abstract": func(a []string) error { _, err := net.Dial("unix", "@"+a[0]); return err },
	"signal":   func(a []string) error { n, _ := strconv.Atoi(a[0]); return syscall.Kill(n, 0) },
	"attach":   func(a []string) error { n, _ := strconv.Atoi(a[0]); return syscall.PtraceAttach(n) },
	"mount":    func([]string) error { return unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "") },
	"root":     func([]string) error { return syscall.Setuid(0) },
	"spawn": func(a []string) error { // a descendant in a session of its own, which writes later
		c := exec.Command("/proc/self/exe", "tool", "later", a[0])
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return c.Start()
	},
	"later": func(a []string) error {
		time.Sleep(300 * time.Millisecond)
		return os.WriteFile(a[0], []byte("written"), 0o600)
	},
	"fork": func([]string) error {
		for {
			if err := exec.Command("/proc/self/exe", "tool", "sleep").Start(); err != nil {
				return err
			}
		}
	},
	"grow": func([]string) error {
		for {
			b := make([]byte, 16<<20)
			for i := range b {
				b[i] = byte(i)
			}
			grown = append(grown, b)
		}
	},
}

// stepOf returns a run of a step whose tool is the test's program, and its engine.
func stepOf(t *testing.T, on requirements.Moment, args ...string) (*Engine, jobs.StepRun) {
	t.Helper()
	e := newEngine(t)
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	path := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	e.Tool = func(context.Context, jobs.Job, string) (string, error) { return path, nil }
	e.PluginEnv = func(context.Context, jobs.Job) ([]string, error) {
		return []string{"AWS_SECRET_ACCESS_KEY=swordfish-swordfish", "AWS_REGION=eu-central-1"}, nil
	}
	e.Redact = func(text string, others []string) string {
		for _, s := range others {
			text = strings.ReplaceAll(text, s, "(hidden)")
		}
		return text
	}
	j := named(t, "net")
	j.Dir, j.Workspace, j.Head = "live/net", "prod", "1111111111111111111111111111111111111111"
	if err := os.MkdirAll(filepath.Join(j.Checkout, "live/net"), 0o700); err != nil {
		t.Fatal(err)
	}
	return e, jobs.StepRun{Job: j, BaseSHA: "2222222222222222222222222222222222222222", Step: jobs.Step{Step: requirements.Step{
		Name: "lint", On: on, Program: append([]string{"linter", "tool"}, args...), Digest: hex.EncodeToString(sum[:]), Timeout: 600, Required: true,
	}}}
}

// do runs a step and returns what it printed.
func do(t *testing.T, e *Engine, run jobs.StepRun) (jobs.StepResult, string) {
	t.Helper()
	r, err := e.Step(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return r, strings.TrimSpace(string(r.Output))
}

// TestStep runs a program in a checkout: it gets its arguments, the base branch's files, the plan, and nothing else.
func TestStep(t *testing.T) {
	t.Parallel()
	e, run := stepOf(t, requirements.AfterPlan, "say", "{workspace}", "--dir={dir}", "{head_sha}{base_sha}", "{unknown}", "; rm -rf /")
	r, said := do(t, e, run)
	dir := filepath.Join(run.Job.Checkout, "live/net")
	if want := "prod|--dir=" + dir + "|" + run.Job.Head + run.BaseSHA + "|{unknown}|; rm -rf /\ndone"; said != want || !r.Succeeded() || r.ID != run.ID() || r.Took <= 0 {
		t.Errorf("%+v: %s, want %s", r, said, want)
	}
	run.Program = []string{"linter", "tool", "in"}
	if _, said := do(t, e, run); said != dir+"\ndone" {
		t.Errorf("it runs in %s", said)
	}
	run.Base = map[string][]byte{"config/.lint.hcl": []byte("strict")}
	run.Program = []string{"linter", "tool", "cat", "{files}/config/.lint.hcl"}
	if _, said := do(t, e, run); said != "strictdone" {
		t.Errorf("the base branch's file: %s", said)
	}
	run.Plan = []byte(`{"format_version":"1.2"}`)
	run.Program = []string{"linter", "tool", "cat", "{plan_json}"}
	if _, said := do(t, e, run); said != `{"format_version":"1.2"}done` {
		t.Errorf("the plan: %s", said)
	}
	run.Program = []string{"linter", "tool", "exit", "3"}
	if r, _ := do(t, e, run); r.Exit != 3 || r.Problem != "" || r.Succeeded() || string(r.Errors) != "so it ends\n" {
		t.Errorf("exit: %+v", r)
	}
	run.Env = map[string]string{"LEVEL": "high"}
	run.Program = []string{"linter", "tool", "env"}
	_, said = do(t, e, run)
	for _, kv := range strings.Split(strings.TrimSuffix(said, "\ndone"), "\n") {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "LEVEL", "HOME", "TMPDIR", "PATH":
		default:
			t.Errorf("its environment has %s", kv)
		}
	}
	run.PlanRole = true
	r, said = do(t, e, run)
	if said = r.Redact(said); strings.Contains(said, "swordfish") || !strings.Contains(said, "AWS_SECRET_ACCESS_KEY=(hidden)") || !strings.Contains(said, "AWS_REGION=eu-central-1") {
		t.Errorf("with the role of plans: %s", said)
	}
}

// protections are the kernel's protections that machines have. TestStepsAreConfined runs with each. The functions of AWS
// Lambda have no namespaces, and may have no Landlock.
var protections = map[string]without{"namespaces": {}, "Landlock": {Namespaces: true}, "seccomp": {Namespaces: true, Landlock: true}}

// hasLandlock reports whether the kernel has Landlock.
func hasLandlock() bool {
	version, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return int(version) > 0
}

// otherRun makes a directory of another run, or of Lockstep, with a secret in state.json. Its rights keep nobody out.
func otherRun(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte("hunter2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestStepsAreConfined is the table of what a step's program tries, and a pull request by it: with all protections, and on
// machines that lack some. open are those protections with which the program succeeds: cmd/docs/explain/security.md names
// them.
func TestStepsAreConfined(t *testing.T) {
	t.Parallel()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tcp.Close() })
	name := fmt.Sprintf("lockstep-step-%d", os.Getpid())
	abstract, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { abstract.Close() })
	us := strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		name string
		args []string
		on   requirements.Moment
		open string
	}{
		{"read files of another run", []string{"cat", "{others}/state.json"}, "", "seccomp"},
		{"write files of another run", []string{"write", "{others}/x"}, "", "seccomp"},
		{"read Lockstep's environment", []string{"cat", "/proc/" + us + "/environ"}, "", ""},
		{"read Lockstep's memory", []string{"cat", "/proc/" + us + "/mem"}, "", ""},
		{"read its engine's environment", []string{"cat", "/proc/1/environ"}, "", ""},
		{"signal Lockstep", []string{"signal", us}, "", "seccomp"},
		{"attach to its engine", []string{"attach", "1"}, "", ""},
		{"connect to this machine", []string{"connect", "tcp", tcp.Addr().String()}, "", ""},
		{"connect by IPv6", []string{"connect", "tcp6", "[::1]:80"}, "", ""},
		{"send a datagram", []string{"send", "127.0.0.1:53"}, "", ""},
		{"look at the network's devices", []string{"netlink"}, "", ""},
		{"connect to an abstract socket", []string{"abstract", name}, "", "seccomp"},
		{"write into the checkout", []string{"write", "{dir}/main.tf"}, "", "seccomp"},
		{"write into the repository's .git", []string{"write", "{checkout}/.git/config"}, "", "seccomp"},
		{"write through a link of the checkout", []string{"write", "{dir}/out/x"}, requirements.Generate, "seccomp"},
		{"read through a link of the checkout", []string{"cat", "{dir}/out/state.json"}, "", "seccomp"},
		{"exchange the tool", []string{"write", "/proc/self/exe"}, requirements.Generate, ""},
		{"mount something", []string{"mount"}, "", ""},
	} {
		for name, without := range protections {
			t.Run(c.name+" with "+name, func(t *testing.T) {
				t.Parallel()
				on := c.on
				if on == "" {
					on = requirements.BeforePlan
				}
				level := name
				if level == "Landlock" && !hasLandlock() {
					level = "seccomp" // what this machine has left
				}
				others := otherRun(t)
				args := slices.Clone(c.args)
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "{others}", others)
				}
				e, run := stepOf(t, on, args...)
				e.without = without
				if err := os.Symlink(others, filepath.Join(run.Job.Checkout, "live/net/out")); err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(filepath.Join(run.Job.Checkout, ".git"), 0o700); err != nil {
					t.Fatal(err)
				}
				r, said := do(t, e, run)
				if said == "" {
					t.Fatalf("it did not run: %+v", r)
				}
				entries, err := os.ReadDir(others)
				if err != nil {
					t.Fatal(err)
				}
				reached := strings.HasSuffix(said, "done") || strings.Contains(said, "hunter2") || len(entries) != 1
				if open := strings.Contains(c.open, level); reached != open {
					t.Errorf("it succeeds: %t, %q, and the other run has %v", reached, said, entries)
				}
			})
		}
	}
	t.Run("the same is possible with the right", func(t *testing.T) {
		t.Parallel()
		e, run := stepOf(t, requirements.BeforePlan, "connect", "tcp", tcp.Addr().String())
		run.Network = true
		if _, said := do(t, e, run); said != "done" {
			t.Errorf("network = true: %s", said)
		}
		e, run = stepOf(t, requirements.Generate, "write", "{dir}/made.tf.json")
		if _, said := do(t, e, run); said != "done" {
			t.Errorf("generate: %s", said)
		}
		if r, _ := do(t, e, run); len(r.Wrote) != 1 || r.Wrote[0] != "live/net/made.tf.json" {
			t.Errorf("generate wrote %v", r.Wrote)
		}
		if data, err := os.ReadFile(filepath.Join(run.Job.Checkout, "live/net/made.tf.json")); string(data) != "written" {
			t.Errorf("generate made %q, %v", data, err)
		}
	})
}

// TestStepThatDoesNotEnd ends at its limits, and nothing of it lives on.
func TestStepThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   []string
		limits confine.Limits
		want   string
	}{
		{"never", []string{"sleep"}, confine.Limits{}, "time limit of 1s"},
		{"by a signal", []string{"die"}, confine.Limits{}, "signal"},
		{"by memory", []string{"grow"}, confine.Limits{Memory: 256 << 20}, "memory"},
		{"by processes", []string{"fork"}, confine.Limits{Processes: 40}, "processes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, run := stepOf(t, requirements.BeforePlan, c.args...)
			if e.Limits = c.limits; c.name == "never" {
				run.Timeout = 1
			}
			// The kernel stops a program that takes memory faster than the parent measures. Then the program itself says why it ends.
			if r, said := do(t, e, run); !strings.Contains(r.Problem+said, c.want) || r.Succeeded() {
				t.Errorf("%q, exit code %d: %s", r.Problem, r.Exit, said)
			}
		})
	}
	t.Run("a descendant", func(t *testing.T) {
		t.Parallel()
		e, run := stepOf(t, requirements.Generate, "spawn", "{checkout}/later")
		if _, said := do(t, e, run); said != "done" {
			t.Fatal(said)
		}
		// Step returns when no process of the step is left, so nobody can write any more.
		if _, err := os.Stat(filepath.Join(run.Job.Checkout, "later")); err == nil {
			t.Error("it has written after the step")
		}
	})
	t.Run("much output", func(t *testing.T) {
		t.Parallel()
		e, run := stepOf(t, requirements.BeforePlan, "print", "100")
		e.Limits.Memory = 1 << 30
		if r, _ := do(t, e, run); len(r.Output) != maxOutput || r.Total < 100<<20 || !r.Succeeded() {
			t.Errorf("%d of %d bytes, %s", len(r.Output), r.Total, r.Problem)
		}
	})
}

// TestToolsAreCompared holds that only the file that the base branch names is run.
func TestToolsAreCompared(t *testing.T) {
	t.Parallel()
	e, run := stepOf(t, requirements.BeforePlan, "say")
	good := e.Tool
	for name, c := range map[string]struct {
		tool func(context.Context, jobs.Job, string) (string, error)
		want string
	}{
		"no toolbox": {nil, "cannot run here"},
		"no tool":    {func(context.Context, jobs.Job, string) (string, error) { return "", ErrNoTool }, "lockstep toolbox add linter FILE"},
		"another file": {func(ctx context.Context, j jobs.Job, digest string) (string, error) {
			path, _ := good(ctx, j, digest)
			data, _ := os.ReadFile(path)
			other := filepath.Join(t.TempDir(), "tool")
			return other, os.WriteFile(other, append(data, 0), 0o700)
		}, "lockstep.hcl names sha256:" + run.Digest},
	} {
		e.Tool = c.tool
		if r, said := do(t, e, run); !strings.Contains(r.Problem, c.want) || said != "" || r.Succeeded() {
			t.Errorf("%s: %+v %s", name, r, said)
		}
	}
	e.Tool = good
	run.Problem = "the base branch's files of the step cannot be read: x"
	if r, said := do(t, e, run); r.Problem != run.Problem || said != "" {
		t.Errorf("without its files: %+v %s", r, said)
	}
}

// TestChangedToolIsCompared carries out an attack: a tool is changed in its place, also to a file of the same size and time,
// after its checksum was compared once.
func TestChangedToolIsCompared(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tool")
	old := time.Now().Add(-time.Hour)
	write := func(text string) {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o700), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	var s sums
	write("good")
	first, err := s.of(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		write("evil")
		if got, err := s.of(path); err != nil || got == first {
			t.Fatalf("%s, %v", got, err)
		}
		write("good")
		if got, err := s.of(path); err != nil || got != first {
			t.Fatalf("%s, %v", got, err)
		}
	}
}

// TestGeneratedPipe holds that a step cannot make a file that nobody can read to its end. Whoever opens a named pipe waits.
func TestGeneratedPipe(t *testing.T) {
	t.Parallel()
	e, run := stepOf(t, requirements.Generate, "pipe", "{dir}/`pipe`.tf")
	r, said := do(t, e, run)
	if said != "done" || r.Succeeded() || r.Problem != "its files cannot be read: the program has made live/net/`pipe`.tf, which is no regular file" {
		t.Errorf("%s, %q", said, r.Problem)
	}
}

// TestProgramsOfImages holds that a step runs a program by its path only in an image that the base branch has named.
func TestProgramsOfImages(t *testing.T) {
	t.Parallel()
	e, run := stepOf(t, requirements.BeforePlan, "say")
	path, err := e.Tool(t.Context(), run.Job, run.Digest)
	if err != nil {
		t.Fatal(err)
	}
	run.Program[0], run.Digest = path, ""
	if r, said := do(t, e, run); !strings.Contains(r.Problem, "has to be in an image") || said != "" || r.Succeeded() {
		t.Errorf("without an image: %+v %s", r, said)
	}
	e.Image = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/tools@sha256:1"
	if r, said := do(t, e, run); !r.Succeeded() || !strings.HasSuffix(said, "done") {
		t.Errorf("in an image: %+v %s", r, said)
	}
	for _, program := range []string{path + "er", filepath.Dir(path)} {
		run.Program[0] = program
		if r, said := do(t, e, run); !strings.Contains(r.Problem, "does not have the program "+program) || said != "" {
			t.Errorf("%s: %+v %s", program, r, said)
		}
	}
}

// TestStepsHaveNoQuestions holds that the process of a step gets nothing from Lockstep but, if the base branch says so,
// the environment of plans.
func TestStepsHaveNoQuestions(t *testing.T) {
	t.Parallel()
	for kind := range answers {
		for _, role := range []bool{false, true} {
			e := &Engine{PluginEnv: func(context.Context, jobs.Job) ([]string, error) { return nil, nil }, Secrets: func(context.Context, jobs.Job) (map[string]string, error) { return nil, nil }}
			c := e.call(order{Action: steps, Step: &jobs.StepRun{Step: jobs.Step{Step: requirements.Step{PlanRole: role}}}})
			_, err := c.answer(t.Context(), question{Kind: kind, Name: "x"})
			if allowed := kind == isProtection || kind == isEnvironment && role; (err == nil) != allowed {
				t.Errorf("%s with role %t: %v", kind, role, err)
			}
		}
	}
}
