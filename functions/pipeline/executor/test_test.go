package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// tested is a bench of the tests of files. They must ask nobody for anything.
func tested(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := newBench(t, files)
	b.job = jobs.ForTests(b.job, false)
	b.engine.Backend = func(context.Context, jobs.Job, *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		t.Error("they open a state")
		return nil, diags.Errorf(nil, "no", "no")
	}
	b.engine.Vault = func(context.Context, jobs.Job) (map[string]string, error) {
		t.Error("they ask for secrets")
		return nil, errors.New("no")
	}
	b.engine.PluginEnv = func(context.Context, jobs.Job) ([]string, error) {
		return []string{"AWS_SECRET_ACCESS_KEY=hunter2hunter2", "TMPDIR=" + t.TempDir()}, nil
	}
	b.engine.Begin = (*exec.Cmd).Start
	return b
}

func (b *bench) test() comment.Tests {
	b.t.Helper()
	got, err := b.engine.Test(b.t.Context(), b.job)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

const asserted = `
run %q {
  assert {
    condition     = terraform_data.a.output == %q
    error_message = "it is ${terraform_data.a.output}"
  }
}
`

// TestTests holds the result of tests: the runs, the failed assertion with its place in the repository, and the values of
// variables from the files of the project and of its tests.
func TestTests(t *testing.T) {
	t.Parallel()
	b := tested(t, map[string]string{
		"net/main.tf":             "variable \"x\" {}\nvariable \"pin\" {\n  default   = \"481516\"\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  input = var.x\n}\n",
		"net/terraform.tfvars":    "x = \"usual\"\n",
		"net/tests/x.auto.tfvars": "x = \"beside\"\n",
		"net/a.tftest.hcl":        fmt.Sprintf(asserted, "one", "usual") + fmt.Sprintf(asserted, "two", "481516"),
		"net/tests/b.tftest.hcl":  fmt.Sprintf(asserted, "three", "beside"),
	})
	got := b.test()
	report := got.Report
	got.Report = ""
	want := comment.Tests{
		Project: "net", Count: comment.TestCount{Pass: 2, Fail: 1},
		Runs: []comment.TestRun{
			{File: "a.tftest.hcl", Name: "one", Result: "pass"}, {File: "a.tftest.hcl", Name: "two", Result: "fail", Failed: 1},
			{File: "tests/b.tftest.hcl", Name: "three", Result: "pass"},
		},
		Notes: []comment.LineNote{{Path: "net/a.tftest.hcl", Line: 11, Last: 11, Title: "Test assertion failed", Message: "it is usual"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(report, "on a.tftest.hcl line 11") || strings.Contains(report, "481516") {
		t.Error(report)
	}
}

// TestTestsWithout is a table of tests that do not run, or may not do what they ask for.
func TestTestsWithout(t *testing.T) {
	t.Parallel()
	const data = "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n%s}\n"
	const run = "run \"a\" {}\n"
	const command = "  provisioner \"local-exec\" {\n    command = \"touch ran\"\n  }\n"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string
		count comment.TestCount
		at    string
	}{
		{"no tests", map[string]string{"net/main.tf": fmt.Sprintf(data, "")}, "", comment.TestCount{}, ""},
		{"a broken test", map[string]string{"net/main.tf": "", "net/a.tftest.hcl": "run \"a\" {\n  nonsense = 1\n}\n"}, "Unsupported argument", comment.TestCount{}, "net/a.tftest.hcl:2"},
		{"a broken configuration", map[string]string{"net/main.tf": "locals {\n", "net/a.tftest.hcl": run}, "Unclosed configuration block", comment.TestCount{}, "net/main.tf:1"},
		{"a command", map[string]string{"net/main.tf": fmt.Sprintf(data, command), "net/a.tftest.hcl": run}, "rovisioner", comment.TestCount{Error: 1}, "net/main.tf:3"},
		{"a command in a module of the test", map[string]string{"net/main.tf": "", "net/m/main.tf": fmt.Sprintf(data, command), "net/a.tftest.hcl": "run \"a\" {\n  module {\n    source = \"./m\"\n  }\n}\n"}, "rovisioner", comment.TestCount{Error: 1}, "net/m/main.tf:3"},
		{"another state", map[string]string{"net/main.tf": "data \"terraform_remote_state\" \"a\" {\n  backend = \"local\"\n  config = {\n    path = \"x\"\n  }\n}\n", "net/a.tftest.hcl": run}, "override_data", comment.TestCount{Error: 1}, "net/main.tf:1"},
		{"a file outside", map[string]string{"net/main.tf": "output \"x\" {\n  value = file(\"/etc/passwd\")\n}\n", "net/a.tftest.hcl": run}, "passwd", comment.TestCount{Error: 1}, "net/main.tf:2"},
		{"a provider that nobody grants", map[string]string{"net/main.tf": "resource \"lab_thing\" \"a\" {}\n", "net/a.tftest.hcl": "mock_provider \"lab\" {}\n" + run}, "Provider is not allowed", comment.TestCount{}, "net/main.tf:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := tested(t, test.files)
			b.job.Grants.Provisioners = true
			b.job = jobs.ForTests(b.job, false)
			got := b.test()
			at := ""
			if len(got.Notes) > 0 {
				at = fmt.Sprintf("%s:%d", got.Notes[0].Path, got.Notes[0].Line)
			}
			if !strings.Contains(got.Report, test.want) || got.Count != test.count || at != test.at || got.Broken != (test.want != "" && test.count == comment.TestCount{}) {
				t.Errorf("%+v", got)
			}
			if _, err := os.Stat(b.job.Checkout + "/net/ran"); err == nil {
				t.Error("it has run a command")
			}
		})
	}
	b := newBench(t, map[string]string{"net/main.tf": ""})
	if _, err := b.engine.Test(t.Context(), b.job); !errors.Is(err, errRights) {
		t.Errorf("a job with rights: %v", err)
	}
}

// TestManyTests holds that of many failed assertions some are shown, with the number of those that are left out, and that each
// run has a budget of its own.
func TestManyTests(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, asserted, fmt.Sprintf("r%d", i), map[bool]string{true: "x", false: "no"}[i < 100])
	}
	b := tested(t, map[string]string{"net/main.tf": "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n", "net/a.tftest.hcl": text.String()})
	got := b.test()
	if got.Count != (comment.TestCount{Pass: 100, Fail: 200}) || len(got.Runs) != comment.MaxTestRuns || got.Runs[0].Name != "r100" {
		t.Errorf("%+v", got)
	}
	if len(got.Notes) != comment.MaxTestNotes || got.MoreNotes != 100 || len(got.Report) > 30_000 {
		t.Errorf("%d notes, and %d more; %d bytes", len(got.Notes), got.MoreNotes, len(got.Report))
	}
}

// TestTestsOfPlugins holds that a provider behind a mock has nothing of ours in its environment, is not configured, and is
// started only where it has no network; and that a provider without a mock is refused.
func TestTestsOfPlugins(t *testing.T) {
	t.Parallel()
	pl := newPlugins(t, false)
	base := pl.bench(nil)
	base.job.Grants = grants(t, allowLab, "")
	files := map[string]string{"net/main.tf": thing, "net/a.tftest.hcl": "mock_provider \"lab\" {}\nrun \"a\" {}\n", "net/.terraform.lock.hcl": pl.lock("h1:")}
	with := func(fork bool) *bench {
		b := tested(t, files)
		b.engine.Mirror, b.engine.DataDir = base.engine.Mirror, base.engine.DataDir
		whole := base.job
		whole.Checkout = b.job.Checkout
		b.job = jobs.ForTests(whole, fork)
		return b
	}
	if got := with(false).test(); got.Count != (comment.TestCount{Pass: 1}) {
		t.Errorf("%+v", got)
	}
	n := len(pl.started())
	if n == 0 {
		t.Error("no plugin was started")
	}
	for _, env := range pl.started() {
		for _, kv := range env {
			if strings.Contains(kv, "hunter2") || strings.HasPrefix(kv, "AWS_") {
				t.Errorf("a plugin has %s", kv)
			}
		}
	}
	b := with(false)
	b.engine.Begin = nil
	if got := b.test(); !got.Broken || !strings.Contains(flat(got.Report), "Providers are not confined here") || len(pl.started()) != n {
		t.Errorf("not confined: %+v", got)
	}
	if got := with(true).test(); !got.Broken || !strings.Contains(flat(got.Report), "he base branch does not allow the provider") || len(pl.started()) != n {
		t.Errorf("a fork that uses a pattern for others: %+v", got)
	}
	files["net/a.tftest.hcl"] = "\nrun \"a\" {}\n"
	got := with(false).test()
	if got.Count != (comment.TestCount{Error: 1}) || len(got.Notes) != 1 || got.Notes[0].Title != "Provider is not mocked" || got.Notes[0].Path != "net/a.tftest.hcl" || got.Notes[0].Line != 2 {
		t.Errorf("without a mock: %+v", got)
	}
}
