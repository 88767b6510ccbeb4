//go:build linux

package subprocess

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// kinds are all questions of a child.
var kinds = []kind{
	isPermit, isEnvironment, isSecrets, isCredentials, isKeys, isRescue, isFetch, isPackage, isKeep, isMemory, isGate, isProgress, isEnded, isState,
	isProtection, isResult,
}

// stingy is an engine that must hand out nothing.
func stingy(t *testing.T, e *Engine) *Engine {
	t.Helper()
	e.Environment = func(context.Context, jobs.Job) ([]string, error) {
		return []string{"AWS_ACCESS_KEY_ID=AKIAKEY", "AWS_REGION=x", "PATH=/usr/bin:/bin", "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://x", "GITHUB_TOKEN=ghs", "LOCKSTEP_X=y", "https_proxy=p"}, nil
	}
	e.Credentials = func(context.Context, jobs.Job) (aws.CredentialsProvider, error) {
		t.Error("it gets credentials")
		return nil, errors.New("no")
	}
	e.PluginEnv = func(context.Context, jobs.Job) ([]string, error) {
		t.Error("its programs get credentials")
		return []string{"AWS_SECRET_ACCESS_KEY=key"}, nil
	}
	e.Secrets = func(context.Context, jobs.Job) (map[string]string, error) {
		t.Error("it gets secrets")
		return nil, nil
	}
	e.Gate = func(context.Context, jobs.Job, requirements.Gate, []byte) (runs.Judgement, error) {
		t.Error("it asks a gate")
		return runs.Judgement{}, nil
	}
	e.Rescue = func(context.Context, jobs.Job, string, []byte) (string, error) {
		t.Error("it keeps a state")
		return "", nil
	}
	return e
}

// TestBareQuestions holds that the process of a fork's plan gets no answer with rights, whichever question it asks, and that
// a question that nobody has thought of here has none.
func TestBareQuestions(t *testing.T) {
	t.Parallel()
	e := stingy(t, &Engine{memory: []byte("former"), Ports: []int{1}})
	for _, k := range append(kinds, "another") {
		c := e.call(order{Action: plans, Job: jobs.Job{Snapshot: &jobs.Snapshot{}, Judges: jobs.Judges{Gates: []requirements.Gate{{Name: "g"}}}}})
		a, err := c.answer(t.Context(), question{Kind: k, Name: "x", Gate: "g", Data: []byte("forged"), Package: PackageName{Version: "1"}, File: "x"})
		if errors.Is(err, errShape) == slices.Contains([]kind{isEnvironment, isFetch, isPackage, isKeep, isMemory, isState, isProtection, isProgress}, k) {
			t.Errorf("%s: %v", k, err)
		}
		if a.Env != nil || a.Secrets != nil || a.Credentials != nil || a.Judgement != nil || a.Permit != jobs.Refused {
			t.Errorf("%s: %+v", k, a)
		}
	}
	if string(e.memory) != "former" {
		t.Errorf("it has left %q to later runs", e.memory)
	}
}

// TestBareProcess holds that nothing of ours is in the environment of a fork's plan, nor in that of its programs, and that
// these have no network.
func TestBareProcess(t *testing.T) {
	t.Parallel()
	e := stingy(t, newEngine(t))
	job := func(what string) jobs.Job {
		j := named(t, what)
		j.Snapshot = &jobs.Snapshot{State: []byte("{}")}
		return j
	}
	got, err := e.Plan(t.Context(), job("environ"))
	if err != nil || strings.Contains(got.Report, "AWS_") || strings.Contains(got.Report, "ghs") || strings.Contains(got.Report, "LOCKSTEP_X") || !strings.Contains(got.Report, "https_proxy=p") {
		t.Errorf("%s, %v", got.Report, err)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		statebackendtest.Missing(t, "there is no bash here, which connects by /dev/tcp")
	}
	const connect = "run:exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/1'"
	if got, err = e.Plan(t.Context(), job(connect)); err != nil || !strings.Contains(got.Report, "Permission denied") {
		t.Errorf("its program: %s, %v", got.Report, err)
	}
	if got, err = newEngine(t).Plan(t.Context(), named(t, connect)); err != nil || !strings.Contains(got.Report, "refused") {
		t.Errorf("another program, without which this proves nothing: %s, %v", got.Report, err)
	}
}

// TestSnapshotProcess holds that the state is read with rights, while the programs beside it have none.
func TestSnapshotProcess(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.PluginEnv = func(context.Context, jobs.Job) ([]string, error) {
		t.Error("programs get credentials")
		return nil, os.ErrInvalid
	}
	e.Redact = func(text string, _ []string) string { return strings.ReplaceAll(text, "hunter2hunter2", "(hidden)") }
	got, err := e.Snapshot(t.Context(), named(t, "environ"))
	if err != nil || string(got.State) != "state" || !strings.Contains(got.Problem, "(hidden)") {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = e.Snapshot(t.Context(), named(t, "exit"))
	if err != nil || got.State != nil || !strings.Contains(got.Problem, "**Interrupted: Reading the state of `exit`.**") {
		t.Errorf("%+v, %v", got, err)
	}
}
