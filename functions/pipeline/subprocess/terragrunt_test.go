//go:build linux

package subprocess

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// standIn is the test's program in the place of Terragrunt. It does what the lines of terragrunt.hcl say: deeds of a step's
// program with their arguments, as the hooks of a real one could do, or "terraform" with arguments. It prints what
// happened. Terragrunt's own tests are in package cmd/lockstep/internal/localpipeline.
func standIn(args []string) {
	fmt.Fprintln(os.Stderr, "info it runs", args)
	switch args[0] {
	case "find":
		dirs, _, err := terragrunt.Dirs(".")
		if err != nil {
			fail(err)
		}
		var all []map[string]any
		for _, dir := range dirs {
			all = append(all, map[string]any{"type": "unit", "path": dir})
			text, _ := os.ReadFile(filepath.Join(dir, terragrunt.FileName))
			words := strings.Fields(strings.SplitN(string(text), "\n", 2)[0]) // as run_cmd could do
			switch words[0] {
			case "pipe":
				err = deeds["pipe"]([]string{filepath.Join(dir, words[1])})
			case "rewrite": // with the former size and time
				at := filepath.Join(dir, words[1])
				info, e := os.Lstat(at)
				if err = errors.Join(e, os.WriteFile(at, bytes.Repeat([]byte("#"), int(info.Size())), 0o600)); err == nil {
					err = os.Chtimes(at, info.ModTime(), info.ModTime())
				}
			case "remove":
				err = os.Remove(filepath.Join(dir, words[1]))
			case "make":
				at := filepath.Join(dir, words[1])
				err = errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, nil, 0o600))
			}
			if err != nil {
				fail(err)
			}
		}
		if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
			fail(err)
		}
		os.Exit(0)
	case "render":
		dirs, _, _ := terragrunt.Dirs(".")
		name := args[slices.Index(args, "--out")+1]
		for _, dir := range dirs {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"inputs":{},"remote_state":{"backend":"local","config":{}}}`), 0o600); err != nil {
				fail(err)
			}
		}
		os.Exit(0)
	}
	text, err := os.ReadFile(terragrunt.FileName)
	if err != nil {
		fail(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		for i := range words {
			words[i] = os.ExpandEnv(words[i])
		}
		if words[0] == "terraform" || words[0] == "git" {
			path := os.Getenv("TG_TF_PATH")
			cmd := exec.Command(filepath.Join(filepath.Dir(path), words[0]), words[2:]...)
			cmd.Dir = words[1]
			if err := os.MkdirAll(cmd.Dir, 0o700); err != nil {
				fail(err)
			}
			out, err := cmd.CombinedOutput()
			fmt.Fprintf(os.Stderr, "error %s: %s%v\n", strings.Join(words, " "), out, err)
			continue
		}
		said := "done"
		if err := deeds[words[0]](words[1:]); err != nil {
			said = err.Error()
		}
		fmt.Fprintf(os.Stderr, "error %s: %s\n", words[0], said)
	}
	os.Exit(0)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error", err)
	os.Exit(1)
}

// unitOfLines returns an engine, and a job whose unit has the lines for the stand-in.
func unitOfLines(t *testing.T, lines ...string) (*Engine, jobs.Job) {
	t.Helper()
	e, run := stepOf(t, requirements.Generate)
	j := run.Job
	j.Unit = &jobs.Unit{Terragrunt: requirements.Terragrunt{Digest: run.Digest, Timeout: 60, Env: map[string]string{"LEVEL": "high"}}}
	if err := os.WriteFile(filepath.Join(j.Checkout, j.Dir, terragrunt.FileName), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return e, j
}

// prepared returns what an engine prepares.
func prepared(t *testing.T, e *Engine, j jobs.Job, outputs jobs.UnitOutputs) jobs.PreparedUnit {
	t.Helper()
	u, err := e.PrepareUnit(t.Context(), j, "", outputs)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestUnitIsPrepared has what Terragrunt asks Terraform for, and what it gets.
func TestUnitIsPrepared(t *testing.T) {
	t.Parallel()
	const copied = ".terragrunt-cache/a/b/mod"
	e, j := unitOfLines(t, "terraform . -version", "terraform "+copied+" init -backend-config=key=x", "terraform "+copied+" plan -var-file=y -input=false", "terraform ../net/.terragrunt-cache/1 output -json", "git . rev-parse --show-toplevel", "env", "exit 3")
	u := prepared(t, e, j, jobs.UnitOutputs{"live/net": []byte(`{"id":{"value":"net-1"}}`)})
	for _, want := range []string{"Terraform v1.11.4", `{"id":{"value":"net-1"}}`, "git . rev-parse --show-toplevel: " + j.Checkout} {
		if want = strings.ReplaceAll(want, j.Checkout+"/", ""); !strings.Contains(u.Problem, want) {
			t.Errorf("no %q in %s", want, u.Problem)
		}
	}
	e, j = unitOfLines(t, "terraform "+copied+" init -backend-config=key=x", "terraform "+copied+" plan -var-file=y -input=false", "terraform ../../elsewhere plan -other", "terraform ../other plan -other")
	want := jobs.PreparedUnit{Dir: "live/net/" + copied, Init: []string{"-backend-config=key=x"}, Arguments: []string{"-var-file=y", "-input=false"}}
	if u := prepared(t, e, j, nil); !reflect.DeepEqual(u, want) {
		t.Errorf("%+v, want %+v", u, want)
	}
	e, j = unitOfLines(t, "terraform "+copied+" output -json", "exit 1")
	if u := prepared(t, e, j, jobs.UnitOutputs{"live/net": []byte(`"nobody may read it"`)}); !strings.Contains(u.Problem, "nobody may read it") {
		t.Errorf("%+v", u)
	}
	e, j = unitOfLines(t, "say nothing")
	if u := prepared(t, e, j, nil); !strings.Contains(u.Problem, "has planned nothing") {
		t.Errorf("%+v", u)
	}
}

// TestUnitsAreConfined is the table of what a hook of a unit, or run_cmd, tries.
func TestUnitsAreConfined(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("swordfish"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, without string }{
		{"cat " + secret, "cat: done"},
		{"write " + secret, "write: done"},
		{"connect tcp 127.0.0.1:9", "connect: done"},
		{"send 127.0.0.1:9", "send: done"},
		{"cat /proc/1/environ", "cat: done"},
		{"mount", "mount: done"},
	} {
		e, j := unitOfLines(t, c.line, "exit 1")
		if u := prepared(t, e, j, nil); strings.Contains(u.Problem, c.without) || !strings.Contains(u.Problem, strings.Fields(c.line)[0]) {
			t.Errorf("%s: %+v", c.line, u)
		}
	}
}

// TestForgedRecords has programs of a unit that put something else in the place of the records of Terragrunt's calls. None
// is followed or waited for, and none fills the memory.
func TestForgedRecords(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "1"), []byte(`{"Dir":"/","Args":["plan"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	large := append([]byte(`{"Dir":"`), bytes.Repeat([]byte("x"), maxRecord-100)...)
	for name, c := range map[string]struct {
		forge func(dir string) error
		want  string
	}{
		"a named pipe": {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, recordsDir, "1"), 0o600) }, "is no regular file"},
		"a link to other files": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, recordsDir)), os.Symlink(elsewhere, filepath.Join(dir, recordsDir)))
		}, "path escapes from parent"},
		"many large records": {func(dir string) (err error) {
			for i := range maxRecords/maxRecord + 1 {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, recordsDir, fmt.Sprint(i)), append(large, `"}`...), 0o600))
			}
			return err
		}, "is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &terragruntRun{dir: t.TempDir()}
			if err := errors.Join(os.Mkdir(filepath.Join(r.dir, recordsDir), 0o700), c.forge(r.dir)); err != nil {
				t.Fatal(err)
			}
			if calls, err := r.calls(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d calls, %v; want %q", len(calls), err, c.want)
			}
		})
	}
}

// TestUnitsMeddle has units whose programs change other projects while units are looked for. The pull request does not show
// these changes, so there is no plan. Files of stacks and of caches change nothing.
func TestUnitsMeddle(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"rewrite ../other/main.tf":              "has written live/other/main.tf",
		"remove ../other/main.tf":               "has written live/other/main.tf",
		"make ../other/more.auto.tfvars":        "has written live/other/more.auto.tfvars",
		"make ../other/.terragrunt-cache/a/b":   "",
		"make ../.terragrunt-stack/app/main.tf": "",
		"make ../generated/app/main.tf":         "",
		"make ../../lockstep.hcl":               "has written lockstep.hcl",
	} {
		e, j := unitOfLines(t, line)
		other := filepath.Join(j.Checkout, "live", "other", "main.tf")
		if err := errors.Join(os.Mkdir(filepath.Dir(other), 0o700), os.WriteFile(other, []byte("locals {}\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		found, err := e.FindUnits(t.Context(), jobs.Job{Checkout: j.Checkout}, j.Unit.Terragrunt)
		if err != nil || !strings.Contains(found.Problem, want) || want == "" && found.Problem != "" {
			t.Errorf("%s: %+v, %v; want %q", line, found, err, want)
		}
	}
}

// TestUnitMakesPipe holds that a unit which makes a named pipe in the checkout has no plan. Who reads the checkout later
// would wait for ever.
func TestUnitMakesPipe(t *testing.T) {
	t.Parallel()
	e, j := unitOfLines(t, "pipe main_test.tf", "terraform . plan")
	found, err := e.FindUnits(t.Context(), jobs.Job{Checkout: j.Checkout}, j.Unit.Terragrunt)
	if err != nil || !strings.Contains(found.Problem, "main_test.tf, which is no regular file") {
		t.Errorf("%+v, %v", found, err)
	}
	e, j = unitOfLines(t, "pipe main_test.tf", "terraform . plan")
	if u := prepared(t, e, j, nil); !strings.Contains(u.Problem, "main_test.tf, which is no regular file") {
		t.Errorf("%+v", u)
	}
}

// TestUnitHasNoCredentials holds that the environment of Terragrunt has nothing of Lockstep's and of the providers'.
func TestUnitHasNoCredentials(t *testing.T) {
	t.Parallel()
	e, j := unitOfLines(t, "say nothing")
	c := &Child{Tmp: "/tmp/x", order: order{Job: j}}
	r := &terragruntRun{child: c, settings: j.Unit.Terragrunt, checkout: j.Checkout, dir: "/tmp/x/terragrunt"}
	for _, kv := range r.env() {
		switch name, _, _ := strings.Cut(kv, "="); {
		case slices.Contains([]string{"LEVEL", "GOGC", "GOMEMLIMIT", "HOME", "TMPDIR", "PATH", recordsVariable, checkoutVariable}, name), strings.HasPrefix(name, "TG_"):
		default:
			t.Errorf("its environment has %s", kv)
		}
	}
	for _, q := range []kind{isEnvironment, isSecrets, isCredentials, isKeys, isFetch} {
		for _, a := range []action{units, prepares} {
			c := e.call(order{Action: a, Job: j})
			if _, err := c.answer(t.Context(), question{Kind: q}); err == nil {
				t.Errorf("%s: it gets the %s", a, q)
			}
		}
	}
}

// TestUnitsAreFound has the units of a checkout, and a program that is not the one of the base branch.
func TestUnitsAreFound(t *testing.T) {
	t.Parallel()
	e, j := unitOfLines(t, "say nothing")
	found, err := e.FindUnits(t.Context(), jobs.Job{Checkout: j.Checkout}, j.Unit.Terragrunt)
	if err != nil || found.Problem != "" || len(found.Units) != 1 || found.Units[0].Dir != "live/net" || found.Units[0].Backend != "local" || found.Units[0].Digest == "" {
		t.Fatalf("%+v, %v", found, err)
	}
	var left bytes.Buffer
	if err := filepath.WalkDir(j.Checkout, func(path string, _ os.DirEntry, err error) error {
		fmt.Fprintln(&left, path)
		return err
	}); err != nil || strings.Contains(left.String(), "lockstep-") {
		t.Errorf("it leaves %s, %v", left.String(), err)
	}
	other := j.Unit.Terragrunt
	other.Digest = strings.Repeat("ab", 32)
	if found, err = e.FindUnits(t.Context(), jobs.Job{Checkout: j.Checkout}, other); err != nil || !strings.Contains(found.Problem, "has the digest") {
		t.Errorf("%+v, %v", found, err)
	}
	j.Unit.Digest = other.Digest
	if u := prepared(t, e, j, nil); !strings.Contains(u.Problem, "has the digest") {
		t.Errorf("%+v", u)
	}
}
