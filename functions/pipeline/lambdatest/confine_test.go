//go:build linux

package lambdatest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/bombs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// small gives the functions 1 GB, and less time than they have.
func small(o *lambdatest.StackOptions) {
	o.Env = map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024"}
	o.Timeouts = map[string]time.Duration{"plan": 50 * time.Second}
}

// TestBombs holds that what takes all there is of something is the end of its own run, that
// its pull request is told, and that the function lives on.
func TestBombs(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "10.0.0.0/16"))}, small)
	for _, b := range bombs.All() {
		if b.Apply {
			continue // those are of the base branch's making: see TestProgramsEndWithTheirRun
		}
		name, files := strings.ReplaceAll(b.Name, " ", "-"), githubtest.Files{}
		for path, text := range b.Files {
			files["net/"+path] = text
		}
		begin := time.Now()
		n := r.pull(name, files)
		r.expect(name, r.status(n), "failed to plan", "failed")
		r.expect(name, r.checks(name), "failure")
		if !b.Placed(r.status(n)) {
			t.Errorf("%s: the place is not named:\n%.1500s", name, r.status(n))
		}
		if d := time.Since(begin); d > time.Minute {
			t.Errorf("%s: it takes %s", name, d)
		}
		t.Logf("%s, in %s: %s", name, time.Since(begin).Round(time.Millisecond), line(r.status(n), "ended", "Error:"))
		r.free(netState)
	}
	for name, f := range r.stack.Functions {
		for _, x := range f.Invocations() {
			if x.Error != nil {
				t.Errorf("%s: %v", name, x.Error)
			}
		}
	}
	var left []string
	for _, dir := range r.stack.Functions["plan"].Disks() {
		own, _ := filepath.Glob(filepath.Join(dir, "lockstep-runs", "*", ""))
		for _, at := range own {
			if info, err := os.Stat(at); err == nil && info.IsDir() {
				left = append(left, filepath.Join(at, "left"))
			}
		}
	}
	if len(left) == 0 {
		t.Error("the function has no directory for runs")
	}
	for _, path := range left {
		if err := os.WriteFile(path, []byte("of a run that was killed"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := r.pull("well", githubtest.Files{"net/subnet.tf": thing("subnet", "10.0.1.0/24")})
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "2 added")
	for _, path := range left {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("what a run has left is there for the next one: %s", path)
		}
	}
}

// line is the first line of a text with one of some words.
func line(text string, words ...string) string {
	for l := range strings.Lines(text) {
		for _, w := range words {
			if strings.Contains(l, w) {
				return strings.TrimSpace(l)
			}
		}
	}
	return text
}

// outliving is a program that outlives its command, and what it leaves behind.
const outliving = `setsid sh -c "trap '' TERM HUP; while :; do cat /proc/[0-9]*/environ > /tmp/stolen-%[1]s; sleep 0.05; done" </dev/null >/dev/null 2>&1 & echo left > $TMPDIR/left; chmod 000 $TMPDIR; sleep 0.3`

// TestProgramsEndWithTheirRun holds that of a program of one run nothing is left for the next
// one: not itself, not its files, not the process that it ran beside.
func TestProgramsEndWithTheirRun(t *testing.T) {
	t.Parallel()
	mark := filepath.Base(t.TempDir()) + fmt.Sprint(os.Getpid())
	r := newRoad(t, githubtest.Files{
		"lockstep.hcl": "allow {\n  provisioners = true\n}\n", "net/main.tf": project(netState), "app/main.tf": project("app/terraform.tfstate"),
	})
	n := r.pull("evil", githubtest.Files{"net/evil.tf": "resource \"terraform_data\" \"evil\" {\n  provisioner \"local-exec\" {\n    command = <<-EOT\n      " + fmt.Sprintf(outliving, mark) + "\n    EOT\n  }\n}\n"})
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "1 added")
	for _, text := range processes(t) {
		if strings.Contains(text, mark) {
			t.Errorf("it lives: %s", text)
		}
	}
	apply := r.stack.Functions["apply"]
	before := len(apply.Disks())
	again := r.pull("next", githubtest.Files{"app/next.tf": thing("next", "1")})
	r.expect("the next answer", r.say("alice", again, "lockstep apply"), "1 added")
	if got := len(apply.Disks()); got != before+1 {
		t.Errorf("%d environments have applied, and the first was used again", got)
	}
	for _, x := range apply.Invocations() {
		if x.Error != nil || x.Init == 0 {
			t.Errorf("an invocation is no cold start, or failed: %+v, %v", x, x.Error)
		}
	}
	if r.later() != 0 {
		t.Error("messages came again")
	}
	for _, f := range []string{"plan", "apply"} {
		for _, dir := range r.stack.Functions[f].Disks() {
			left, _ := filepath.Glob(filepath.Join(dir, "lockstep-runs", "*", "*"))
			if len(left) > 0 {
				t.Errorf("%s has left %q", f, left)
			}
		}
	}
}

// TestProvidersEndWithTheirRun holds that of a provider that the base branch allows, and which
// starts something that outlives it, nothing is left when its run is over: the function's
// process goes on, and has other runs.
func TestProvidersEndWithTheirRun(t *testing.T) {
	t.Parallel()
	mirror, mark := t.TempDir(), fmt.Sprint("stolen-", os.Getpid())
	platform := runtime.GOOS + "_" + runtime.GOARCH
	dir := filepath.Join(mirror, "registry.terraform.io", "lockstep", "lab", "1.0.0", platform)
	real := filepath.Join(statebackendtest.Part(t, "mirror"), "registry.terraform.io", "lockstep", "lab", "1.0.0", platform, "terraform-provider-lab_v1.0.0")
	program, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\n(setsid sh -c \"trap '' TERM HUP; while :; do cat /proc/[0-9]*/environ > $TMPDIR/%s; sleep 0.05; done\" </dev/null >/dev/null 2>&1 &)\nexec \"$(dirname \"$0\")/real\" \"$@\"\n", mark)
	for name, data := range map[string][]byte{"real": program, "terraform-provider-lab_v1.0.0": []byte(script)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := newRoad(t, githubtest.Files{"lockstep.hcl": "allow {\n  providers = [\"lockstep/lab\"]\n}\n", "net/main.tf": project(netState)},
		func(o *lambdatest.StackOptions) { o.Env = map[string]string{"LOCKSTEP_MIRROR": mirror} })
	n := r.pull("evil", githubtest.Files{"net/evil.tf": labThing("a", "")})
	r.expect("the plan", r.status(n), "1 to add", "lab_thing.a")
	for _, text := range processes(t) {
		if strings.Contains(text, mark) {
			t.Errorf("it lives: %s", text)
		}
	}
	if got := len(r.stack.Functions["plan"].Disks()); got != 1 {
		t.Errorf("%d environments have planned: a provider that is allowed by name is no reason for another", got)
	}
}

// processes are the command lines of all there are.
func processes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		data, _ := os.ReadFile(f)
		out = append(out, strings.ReplaceAll(string(data), "\x00", " "))
	}
	return out
}
