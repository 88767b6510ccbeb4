//go:build linux

package subprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// The test's program is also the children: their engine does what the project's name says.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "tool" {
		tool(os.Args[2:])
	}
	if filepath.Base(os.Args[0]) == requirements.TerragruntTool {
		standIn(os.Args[1:])
	}
	// Landlock leaves /dev/shm to every program, because it cannot divide it.
	if strings.HasPrefix(os.TempDir(), "/dev/shm/") {
		os.Setenv("TMPDIR", "/tmp")
	}
	Main(func(c *Child) (jobs.Engine, error) {
		a := &acting{c: c}
		c.Place = func() string {
			a.asked.Add(1)
			if a.left.Load() {
				return ""
			}
			return "local.grows in net/main.tf:7"
		}
		return a, nil
	})
	os.Exit(m.Run())
}

// acting is an engine that does what a project's name says.
type acting struct {
	c    *Child
	left atomic.Bool // the evaluation, on the way out
	// asked is how often the child asked for the place. It asks again when it has recorded the last one.
	asked atomic.Int64
}

func (a *acting) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	a.c.State()
	for a.asked.Load() < 2 && ctx.Err() == nil {
		time.Sleep(time.Millisecond) // on a busy machine, some ways to die are faster than the record
	}
	report := a.act(ctx, j)
	if ctx.Err() != nil {
		a.left.Store(true)
		time.Sleep(5 * tellEvery)
	}
	return jobs.PlanResult{Plan: []byte("plan"), Report: report, Notes: []comment.LineNote{{Title: report, Message: report, Level: "loud"}}}, ctx.Err()
}

func (a *acting) Check(ctx context.Context, j jobs.Job, plan []byte) (jobs.Checked, error) {
	a.c.State()
	report := a.act(ctx, j)
	if j.Project == "refused" {
		return jobs.Checked{Problem: report + "hunter2hunter2"}, nil
	}
	return jobs.Checked{Now: jobs.BeforeApply{State: runs.StateID{Serial: 7}, Again: &jobs.Replanned{
		Difference: "hunter2hunter2", Plan: jobs.PlanResult{Plan: plan, Report: report + "hunter2hunter2", Full: "hunter2hunter2"},
	}}}, ctx.Err()
}

func (a *acting) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if strings.HasPrefix(j.Project, "early ") {
		a.act(ctx, j)
	}
	a.c.State()
	now := jobs.BeforeApply{State: runs.StateID{Serial: 7}}
	if j.Project == "forge" {
		now.Again = &jobs.Replanned{Equal: true} // nobody has asked for it
	}
	answer := permit(now)
	for range map[string]int{"again": 1, "again and again": 2}[j.Project] {
		now.Again = &jobs.Replanned{Equal: true, Plan: jobs.PlanResult{Plan: []byte("new")}}
		answer = permit(now)
	}
	if answer != jobs.Permitted {
		return jobs.Outcome{Refused: true}, nil
	}
	return jobs.Outcome{Report: a.act(ctx, j) + string(plan)}, nil
}

func (a *acting) Snapshot(ctx context.Context, j jobs.Job) (jobs.Snapshot, error) {
	return jobs.Snapshot{State: []byte("state"), Problem: a.act(ctx, j) + "hunter2hunter2"}, nil
}

func (a *acting) Query(ctx context.Context, j jobs.Job, room int) (comment.Queried, string, error) {
	return comment.Queried{Project: j.Project, Config: fmt.Sprint(room), Objects: []comment.QueriedObject{{Name: "hunter2hunter2" + strings.Repeat("x", 1000)}}}, a.act(ctx, j) + "hunter2hunter2", nil
}

func (a *acting) Show(ctx context.Context, j jobs.Job, c comment.Command) (comment.Shown, string, error) {
	s := comment.Shown{Command: c, Project: "another"}
	s.Add("a = hunter2hunter2\n")
	return s, a.act(ctx, j) + "hunter2hunter2", nil
}

func (a *acting) Test(ctx context.Context, j jobs.Job) (comment.Tests, error) {
	const secret = "hunter2hunter2"
	return comment.Tests{
		Report: a.act(ctx, j) + secret, Runs: make([]comment.TestRun, 1000), Notes: []comment.LineNote{{Title: secret, Message: secret + strings.Repeat("x", 10_000)}},
	}, nil
}

func (a *acting) Recover(_ context.Context, j jobs.Job) (comment.Recovered, error) {
	switch j.Project {
	case "denied":
		return comment.Recovered{}, &jobs.StateError{Why: "no", Remedy: "ask"}
	case "overflow":
		_ = overflow(0)
	}
	return comment.Recovered{Project: j.Project, Doubts: []comment.Doubt{{Address: "x.a", Known: []string{"hunter2hunter2"}}}}, nil
}

func (a *acting) Unlock(_ context.Context, j jobs.Job) (jobs.Unlocked, error) {
	switch j.Project {
	case "denied":
		return jobs.Unlocked{}, &jobs.StateError{Why: "no", Remedy: "ask"}
	case "overflow":
		_ = overflow(0)
	}
	if dir := j.VarFiles; dir != nil {
		os.WriteFile(filepath.Join(dir[0], "unlocked"), nil, 0o600)
	}
	return jobs.Unlocked{Locks: 1}, nil
}

// awaitPlace waits until the place is noted: on a busy machine a bomb may go off before that.
func awaitPlace() {
	noted := make([]byte, 1)
	for noted[0] == 0 {
		syscall.Pread(places, noted, 0)
		time.Sleep(time.Millisecond)
	}
}

//lint:ignore SA5007 a bomb
func overflow(n int) int { return overflow(n+1) + 1 }

// act does what the job's project is called.
func (a *acting) act(ctx context.Context, j jobs.Job) string {
	name, arg, _ := strings.Cut(strings.TrimPrefix(j.Project, "early "), ":")
	if slices.Contains([]string{"memory", "spin", "overflow"}, name) {
		awaitPlace()
	}
	switch name {
	case "memory":
		for kept := [][]byte{}; ; {
			b := make([]byte, 4<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
		}
	case "gulp":
		b := make([]byte, 8<<30)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
	case "spin":
		//lint:ignore SA5002 a bomb
		for {
		}
	case "overflow":
		_ = overflow(0)
	case "progress":
		for n := range 3000 {
			o := comment.Ongoing{Progress: comment.Progress{Done: n + 1, Of: 3000}, More: -1}
			for range 100 {
				o.UnderWay = append(o.UnderWay, comment.ChangeUnderWay{Address: "x.a[\"" + arg + strings.Repeat("y", 300), Action: comment.Creating})
			}
			j.Progress(o)
		}
		for range 100 {
			o := comment.Ongoing{Progress: comment.Progress{Done: 3000, Of: 3000}, Last: true}
			for range comment.MaxUnderWay {
				o.UnderWay = append(o.UnderWay, comment.ChangeUnderWay{Address: "x.a[\"last", Action: comment.Creating})
			}
			j.Progress(o)
		}
	case "haunted": // by a program that does not end, and ignores all signals that can be
		cmd := exec.Command("/bin/sh", "-c", "setsid sh -c \"trap '' TERM HUP INT; while :; do date +%s%N > lives; sleep 0.01; done\" >/dev/null 2>&1 </dev/null & while [ ! -e lives ]; do sleep 0.01; done")
		cmd.Dir = j.Checkout
		cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + a.c.Tmp}
		if err := errors.Join(a.c.Begin(cmd), cmd.Wait()); err != nil {
			return err.Error()
		}
		j.Progress(comment.Ongoing{Progress: comment.Progress{Done: 3, Of: 7}})
		time.Sleep(time.Hour)
	case "deaf":
		time.Sleep(time.Hour)
	case "polite":
		<-ctx.Done()
	case "exit":
		os.Exit(3)
	case "panic":
		panic("a bug")
	case "environ":
		env, err := a.c.Environment(ctx, j)
		return strings.Join(append(os.Environ(), env...), "\n") + fmt.Sprint(err)
	case "vault": // it tells what it was given, in a report or in a panic
		got, err := a.c.Secrets(ctx, j)
		if arg == "die" {
			panic(got["TOKEN"])
		}
		return fmt.Sprint(got, err)
	case "gate":
		v, err := a.c.Gate(ctx, j, requirements.Gate{Name: arg}, []byte("plan"))
		return fmt.Sprint(v.Name, v.Warned, err)
	case "secret":
		return "it is hunter2hunter2"
	case "fetch":
		dir := filepath.Join(a.c.Tmp, "module")
		err := errors.Join(os.Mkdir(dir, 0o700), a.c.Fetch(ctx, "acme", arg, "HEAD", dir))
		data, _ := os.ReadFile(filepath.Join(dir, "main.tf"))
		return fmt.Sprintf("%s, %v, absent %v", data, err, errors.As(err, new(*Absent)))
	case "rescue":
		where, err := a.c.Rescue(ctx, j, arg, []byte("state"))
		return fmt.Sprint(where, err)
	case "package":
		url, err := a.c.Package(ctx, PackageName{"registry.terraform.io/acme/x", arg, "linux_amd64"})
		return fmt.Sprintf("%s, %v, absent %v", url, err, errors.As(err, new(*Absent)))
	case "keep", "keep late":
		if name != "keep" {
			a.c.Environment(ctx, j) // programs may run from here on
		}
		path := filepath.Join(a.c.Tmp, "package.zip")
		err := errors.Join(os.WriteFile(path, []byte("package "+arg), 0o600), a.c.Keep(ctx, PackageName{Version: arg}, path))
		left, _ := filepath.Glob(filepath.Join(a.c.order.Fetched, "*"))
		return fmt.Sprintf("%v, %d left", err, len(left))
	case "remember":
		a.c.Remember([]byte(`"` + arg + `"`))
		return string(a.c.Memory)
	case "late":
		a.c.Environment(ctx, j)
		a.c.Remember([]byte(`"` + arg + `"`))
	case "unknown":
		send(a.c.out, question{Kind: "key"})
		time.Sleep(time.Hour)
	case "flood":
		for {
			send(a.c.out, question{Kind: isMemory, Data: make([]byte, 1<<20)})
		}
	case "huge":
		a.c.out.Write([]byte{0xff, 0xff, 0xff, 0xff})
		time.Sleep(time.Hour)
	case "permit":
		a.c.permit(jobs.BeforeApply{})
		time.Sleep(time.Hour)
	case "run":
		cmd := exec.Command("/bin/sh", "-c", arg)
		cmd.Dir = j.Checkout
		cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + a.c.Tmp}
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		err := a.c.Begin(cmd)
		if err == nil {
			err = cmd.Wait()
		}
		return fmt.Sprint(out.String(), err)
	}
	return "done: " + name
}

// newEngine returns one with limits that a test can wait for.
func newEngine(t *testing.T) *Engine {
	t.Helper()
	s, err := OpenScratch(filepath.Join(t.TempDir(), "runs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, _ := os.ReadDir(s.Dir); len(left) > 0 {
			t.Errorf("%d entries are left of runs", len(left))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Engine{
		Settings: json.RawMessage("{}"), Scratch: s.Dir,
		Limits: confine.Limits{Memory: 256 << 20, CPU: 3 * time.Second, Wall: 30 * time.Second, Disk: 32 << 20, Processes: 64, Files: 256},
	}
}

// named is a job whose project says what to do.
func named(t *testing.T, project string) jobs.Job {
	t.Helper()
	return jobs.Job{Project: project, Checkout: t.TempDir()}
}
