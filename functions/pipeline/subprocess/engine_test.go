//go:build linux

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestDeaths holds that each way to die is the result of its own run, in words, and soon.
func TestDeaths(t *testing.T) {
	t.Parallel()
	for project, want := range map[string]string{
		"memory":   "It took more than 256 MiB of memory, the limit for one run.",
		"gulp":     "It took more than 256 MiB of memory, the limit for one run.",
		"spin":     "It took more than 3s of processor time, the limit for one run.",
		"deaf":     "It took longer than 2s, the limit for one run.",
		"overflow": "It nested things too deeply: its stack overflowed.",
		"exit":     "Its process ended with exit status 3",
		"panic":    "Its process ended with exit status 2",
		"run:i=0; while [ $i -lt 300 ]; do i=$((i+1)); sleep 100 & done; wait":        "It started more than 64 processes, the limit for one run.",
		"run:b() { [ $1 -lt 8 ] && { b $(($1+1)) | b $(($1+1)) & }; sleep 60; }; b 0": "It started more than 64 processes, the limit for one run.",
		"run:while :; do head -c 1000000 /dev/zero >> $$.big; done":                   "It wrote more than 32 MiB, the limit for one run.",
		"run:i=0; while :; do i=$((i+1)); head -c 99999 /dev/zero > $TMPDIR/$i; done": "It wrote more than 32 MiB, the limit for one run.",
	} {
		t.Run(project, func(t *testing.T) {
			begin := time.Now()
			e := newEngine(t)
			if project == "deaf" {
				e.Limits.Wall = 2 * time.Second
			}
			got, err := e.Plan(t.Context(), named(t, project))
			if err != nil || got.Plan != nil || !strings.Contains(got.Report, want) || !strings.Contains(got.Report, "Planning `") ||
				!slices.Contains([]string{"exit", "panic", "gulp"}, project) && !strings.Contains(got.Report, " At that moment, Lockstep was evaluating `local.grows in net/main.tf:7`.") {
				t.Errorf("%+v, %v", got, err)
			}
			if d := time.Since(begin); d > 2*time.Minute {
				t.Errorf("it takes %s", d)
			}
		})
	}
}

// TestDeathOfAnApply holds that an apply which died before it was permitted has changed
// nothing, and that of one that died later nobody knows; and that its lock is released.
func TestDeathOfAnApply(t *testing.T) {
	t.Parallel()
	for project, lost := range map[string]bool{"early overflow": false, "overflow": true, "exit": true} {
		j := named(t, project)
		j.VarFiles = []string{j.Checkout}
		got, err := newEngine(t).Apply(t.Context(), j, []byte("x"), whether(func(s runs.StateID) bool { return s.Serial == 7 }))
		if err != nil || !got.Failed || got.Lost != lost || !strings.Contains(got.Report, "**Interrupted: ") {
			t.Errorf("%s: %+v, %v", project, got, err)
		}
		_, err = os.Stat(filepath.Join(j.Checkout, "unlocked"))
		if unlocked := err == nil; unlocked != (project == "exit") {
			t.Errorf("%s: its lock was released: %v", project, unlocked)
		}
	}
}

// TestPermits holds that a child asks for its permit once, and with a plan made again only if it was
// told to make one, and then once.
func TestPermits(t *testing.T) {
	t.Parallel()
	for project, want := range map[string]string{"x": "false", "again": "false true", "again and again": "false true", "forge": ""} {
		var asked []string
		o, err := newEngine(t).Apply(t.Context(), named(t, project), []byte("x"), func(now jobs.BeforeApply) jobs.Permit {
			asked = append(asked, fmt.Sprint(now.Again != nil))
			switch {
			case project == "x" || now.Again != nil && project == "again":
				return jobs.Permitted
			}
			return jobs.PlanAgain // of a new plan, too: that is no order to make a third
		})
		if got := strings.Join(asked, " "); got != want {
			t.Errorf("%s: asked %q, want %q", project, got, want)
		}
		if bad := project == "forge" || project == "again and again"; bad != (err != nil) {
			t.Errorf("%s: %+v, %v", project, o, err)
		}
	}
}

// TestAnswers holds what a child can have of its parent, and what not.
func TestAnswers(t *testing.T) {
	e := newEngine(t)
	t.Setenv("OF_THE_PARENT", "hunter2")
	e.Environment = func(context.Context, jobs.Job) ([]string, error) {
		return []string{"STATE=key", "TMPDIR=/elsewhere"}, nil
	}
	e.PluginEnv = func(context.Context, jobs.Job) ([]string, error) { return []string{"CLOUD=key"}, nil }
	e.Redact = func(s string, _ []string) string { return strings.ReplaceAll(s, "hunter2hunter2", "(hidden)") }
	e.Fetch = func(_ context.Context, _ jobs.Job, owner, name, ref, dir string) error {
		if owner+"/"+name+" "+ref != "acme/net HEAD" {
			return &Absent{"there is none"}
		}
		return os.WriteFile(filepath.Join(dir, "main.tf"), []byte("module"), 0o600)
	}
	e.Rescue = func(_ context.Context, _ jobs.Job, name string, state []byte) (string, error) {
		return name + " " + string(state), nil
	}
	plan := func(project string) string {
		t.Helper()
		got, err := e.Plan(t.Context(), named(t, project))
		if err != nil {
			return err.Error()
		}
		if n := got.Notes; got.Plan != nil && (len(n) != 1 || n[0].Title != got.Report && len(got.Report) < 900 || strings.Contains(n[0].Message, "hunter2") || n[0].Level != "") {
			t.Errorf("%s: the notes are %+v", project, n)
		}
		return got.Report
	}
	env := plan("environ")
	if !strings.Contains(env, "STATE=key") || !strings.Contains(env, "CLOUD=key") || strings.Contains(env, "hunter2") || strings.Contains(env, "/elsewhere") || strings.Contains(env, "LOCKSTEP_CONFINED") {
		t.Errorf("its environment is %s", env)
	}
	for project, want := range map[string]string{
		"secret":        "it is (hidden)",
		"fetch:net":     "module, <nil>, absent false",
		"fetch:secrets": "there is none, absent true",
		"rescue:x":      errShape.Error(), // a plan has none
		"unknown":       errShape.Error(),
		"permit":        errShape.Error(),
		"huge":          "Something outside killed its process", // by us
	} {
		if got := plan(project); !strings.Contains(got, want) {
			t.Errorf("%s: %s", project, got)
		}
	}
	apply := func(project string) string {
		o, err := e.Apply(t.Context(), named(t, project), []byte(" plan"), whether(func(runs.StateID) bool { return true }))
		if err != nil {
			return err.Error()
		}
		return o.Report
	}
	if got := apply("rescue:x"); got != "x state<nil> plan" {
		t.Errorf("rescued: %s", got)
	}
	if got := apply("rescue:../x"); !strings.Contains(got, errShape.Error()) {
		t.Errorf("rescued elsewhere: %s", got)
	}
	if o, err := e.Apply(t.Context(), named(t, "x"), nil, whether(func(runs.StateID) bool { return false })); err != nil || !o.Refused {
		t.Errorf("refused: %+v, %v", o, err)
	}
	var no *jobs.StateError
	if _, err := e.Unlock(t.Context(), named(t, "denied")); !errors.As(err, &no) || no.Remedy != "ask" {
		t.Errorf("unlock: %v", err)
	}
	if _, err := e.Unlock(t.Context(), named(t, "overflow")); !errors.As(err, &no) {
		t.Errorf("unlock: %v", err)
	}
}

// TestMemory holds that children hand on what they know, and that what programs could have
// written is not believed.
func TestMemory(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, x := range []struct{ project, want string }{
		{"remember:a", ""}, {"remember:b", `"a"`}, {"late:evil", "done: late"}, {"remember:c", `"b"`},
	} {
		if got, err := e.Plan(t.Context(), named(t, x.project)); err != nil || got.Report != x.want {
			t.Errorf("%s: %+v, %v", x.project, got, err)
		}
	}
}

// TestStops holds that a child stops when it is asked, and is killed if it does not.
func TestStops(t *testing.T) {
	t.Parallel()
	for _, project := range []string{"polite", "deaf"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		superseded := errors.New("superseded")
		time.AfterFunc(300*time.Millisecond, func() { cancel(superseded) })
		e := newEngine(t)
		e.Limits.Wall = 25 * time.Second
		got, err := e.Plan(ctx, named(t, project))
		switch {
		case project == "polite" && !errors.Is(err, superseded):
			t.Errorf("polite: %+v, %v", got, err)
		case project == "deaf" && !strings.Contains(got.Report, "did not stop within 8s"):
			t.Errorf("deaf: %+v, %v", got, err)
		}
	}
}

// TestOwnTime holds that a plan for which our own time does not suffice is answered: another
// try would have no more.
func TestOwnTime(t *testing.T) {
	t.Parallel()
	e, began := newEngine(t), time.Now()
	if _, err := e.Plan(t.Context(), named(t, "environ")); err != nil {
		t.Fatal(err)
	}
	enough := 300*time.Millisecond + 5*time.Since(began) // for a process to begin its work, on a busy machine, too
	ctx, cancel := context.WithTimeout(t.Context(), before+enough)
	defer cancel()
	got, err := e.Plan(ctx, named(t, "polite"))
	if err != nil || !strings.Contains(got.Report, "longer than a run may take here") || !strings.Contains(got.Report, "net/main.tf:7") || ctx.Err() != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOneAfterTheOther holds that a program of one run meets nothing of the next one: neither
// files nor processes.
func TestOneAfterTheOther(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.Environment = func(context.Context, jobs.Job) ([]string, error) { return []string{"STATE=hunter2hunter2"}, nil }
	spy := "setsid sh -c \"trap '' TERM; while :; do cat /proc/[0-9]*/environ | grep -a hunter2hunter2 >> found; touch lives; sleep 0.01; done\" >/dev/null 2>&1 </dev/null & while [ ! -e lives ]; do sleep 0.01; done; echo begun"
	j := named(t, "run:"+spy)
	told := j.Checkout // which it can write to
	if got, err := e.Plan(t.Context(), j); err != nil || !strings.Contains(got.Report, "begun") {
		t.Fatalf("%+v, %v", got, err)
	}
	os.Remove(filepath.Join(told, "found")) // of its own engine it may find nothing either: see package confine
	os.Remove(filepath.Join(told, "lives"))
	if _, err := e.Plan(t.Context(), named(t, "environ")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	for _, name := range []string{"found", "lives"} {
		if data, err := os.ReadFile(filepath.Join(told, name)); err == nil {
			t.Errorf("%s: %s", name, data)
		}
	}
}

// whether permits an apply, or refuses it, by the state alone.
func whether(ok func(runs.StateID) bool) func(jobs.BeforeApply) jobs.Permit {
	return func(now jobs.BeforeApply) jobs.Permit {
		if ok(now.State) {
			return jobs.Permitted
		}
		return jobs.Refused
	}
}
