package executor

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// stable is the base branch's project, whose state has a secret in places that are marked, and in others.
const stable = `variable "password" {
  default   = "correct-horse-battery"
  sensitive = true
}

resource "terraform_data" "secret" {
  input = { password = var.password, pin = sensitive(48151623), name = "db" }
}

resource "terraform_data" "url" {
  input = "postgres://app:${nonsensitive(var.password)}@db"
}

resource "terraform_data" "zone" {
  input = "zone-a"
}

output "password" {
  value     = var.password
  sensitive = true
}

output "encoded" {
  value = base64encode(nonsensitive(var.password))
}
`

// snapshotOf applies a configuration, and returns the snapshot of its state. The bench is that of the base branch.
func snapshotOf(t *testing.T, b *bench) jobs.Snapshot {
	t.Helper()
	p := b.plan()
	if o := b.apply(p.Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	s, err := b.engine.Snapshot(t.Context(), b.job)
	if err != nil || s.Problem != "" || s.ID.Serial != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	return s
}

// forked is a bench of a fork with files, whose plan must ask nobody for anything.
func forked(t *testing.T, base *bench, s jobs.Snapshot, files map[string]string) *bench {
	t.Helper()
	b := newBench(t, files)
	whole := base.job
	whole.Checkout = b.job.Checkout
	b.job = jobs.Unprivileged(whole, s)
	b.engine.Backend = func(context.Context, jobs.Job, *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		t.Error("it opens a state")
		return nil, diags.Errorf(nil, "no", "no")
	}
	b.engine.KMS = func(context.Context, jobs.Job, map[string]any) (encryption.KMSClient, error) {
		t.Error("it asks for keys")
		return nil, errors.New("no")
	}
	b.engine.Vault = func(context.Context, jobs.Job) (map[string]string, error) {
		t.Error("it asks for secrets")
		return map[string]string{"TF_VAR_given": "hunter2hunter2"}, nil
	}
	b.engine.PluginEnv = func(context.Context, jobs.Job) ([]string, error) {
		return []string{"AWS_SECRET_ACCESS_KEY=hunter2hunter2", "TMPDIR=" + t.TempDir()}, nil
	}
	b.engine.Begin = (*exec.Cmd).Start
	return b
}

// TestSnapshot holds that no form of a secret is in the state that a fork's plan is made of, and that the rest is.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": stable})
	s := snapshotOf(t, b)
	for _, form := range []string{"horse", "48151623", "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5"} {
		if strings.Contains(string(s.State), form) {
			t.Errorf("it has %q: %s", form, s.State)
		}
	}
	for _, rest := range []string{"postgres://app:(sensitive value)@db", "zone-a", `"name":"db"`, `"password":"(sensitive value)"`, `"pin":0`} {
		if !strings.Contains(strings.ReplaceAll(string(s.State), ": ", ":"), rest) {
			t.Errorf("it lacks %q: %s", rest, s.State)
		}
	}
	// Before the first apply there is none.
	if s, err := newBench(t, map[string]string{"net/main.tf": stable}).engine.Snapshot(t.Context(), b.job); err != nil || s.State != nil || s.Problem != "" {
		t.Errorf("%+v, %v", s, err)
	}
	b.write(map[string]string{"net/main.tf": "resource \"x\" {}\n"})
	if s, err := b.engine.Snapshot(t.Context(), b.job); err != nil || s.State != nil || s.Problem == "" {
		t.Errorf("a base branch that is broken: %+v, %v", s, err)
	}
}

// TestPreview plans a fork's commit: it has no secrets to show, nothing to apply, and one change.
func TestPreview(t *testing.T) {
	t.Parallel()
	base := newBench(t, map[string]string{"net/main.tf": stable})
	s := snapshotOf(t, base)
	more := stable + `
resource "terraform_data" "new" {
  input = "new"
}

output "loot" {
  value = [terraform_data.secret.output, terraform_data.url.output, nonsensitive(terraform_data.secret.output.password), base64encode(terraform_data.url.output)]
  sensitive = true
}

output "told" {
  value = nonsensitive("${terraform_data.secret.output.password} ${terraform_data.url.output}")
}
`
	b := forked(t, base, s, map[string]string{"net/main.tf": strings.Replace(more, "correct-horse-battery", "mine", 1)})
	p := b.plan()
	if p.Plan != nil || !p.Previewed || p.Applyable || p.Outputs != nil || p.State != s.ID || p.Counts.Add != 1 || p.Counts.Destroy != 0 {
		t.Fatalf("%+v", p)
	}
	if all := p.Report + p.Full; strings.Contains(all, "horse") || strings.Contains(all, "48151623") || !strings.Contains(all, "terraform_data.new") {
		t.Errorf("%s", all)
	}
	// The same configuration has nothing to do where secrets are copied, which a snapshot keeps.
	b = forked(t, base, s, map[string]string{"net/main.tf": "resource \"terraform_data\" \"zone\" {\n  input = \"zone-a\"\n}\n"})
	b.job.Options.Targets = []string{"terraform_data.zone"}
	if p := b.plan(); !p.Previewed || p.Counts != (counting.Counts{}) {
		t.Errorf("%s", p.Report)
	}
	if p := forked(t, base, jobs.Snapshot{}, map[string]string{"net/main.tf": two}).plan(); !p.Previewed || p.Counts != (counting.Counts{Add: 2}) {
		t.Errorf("without a state: %s", p.Report)
	}
}

// TestRisksOfAPreview holds that the plan of a fork's commit shows its risks, by the types of the base branch.
func TestRisksOfAPreview(t *testing.T) {
	t.Parallel()
	base := newBench(t, map[string]string{"net/main.tf": stable})
	base.job.Stateful = []string{"terraform_*"}
	b := forked(t, base, snapshotOf(t, base), map[string]string{"net/main.tf": strings.Replace(stable, "resource \"terraform_data\" \"zone\" {\n  input = \"zone-a\"\n}\n", "", 1)})
	if res := b.plan(); !strings.HasPrefix(res.Report, "- **Risk** `stateful-destroy`: destroys an object of the type `terraform_data` (`terraform_data.zone`)\n\n") {
		t.Error(res.Report)
	}
}

// TestPreviewRefuses is a table of ways by which a fork would have rights, reach others, or run something.
func TestPreviewRefuses(t *testing.T) {
	t.Parallel()
	base := newBench(t, map[string]string{"net/main.tf": two})
	base.job.Grants.Provisioners, base.job.Grants.External = true, true // the base branch lets others
	s := snapshotOf(t, base)
	for name, c := range map[string]struct{ more, want string }{
		"another state": {"data \"terraform_remote_state\" \"x\" {\n  backend = \"http\"\n  config  = { address = \"http://127.0.0.1:1/${terraform_data.a.output}\" }\n}\n",
			"run without credentials, so they read no other state"},
		"a command":  {"resource \"terraform_data\" \"c\" {\n  provisioner \"local-exec\" {\n    command = \"id\"\n  }\n}\n", "Provisioners are not allowed"},
		"a program":  {"terraform {\n  required_providers {\n    external = { source = \"hashicorp/external\" }\n  }\n}\ndata \"external\" \"x\" {\n  program = [\"id\"]\n}\n", "runs programs, and the base branch does not allow this"},
		"a provider": {"terraform {\n  required_providers {\n    evil = { source = \"mallory/evil\" }\n  }\n}\nresource \"evil_thing\" \"x\" {}\n", "he base branch does not allow the provider"},
		"a secret":   {"variable \"given\" {}\noutput \"given\" {\n  value = var.given\n}\n", "No value for required variable"},
		"a file":     {"output \"x\" {\n  value = file(\"/etc/passwd\")\n}\n", ""},
	} {
		b := forked(t, base, s, map[string]string{"net/main.tf": two + c.more})
		if p := b.plan(); p.Previewed || p.Plan != nil || !strings.Contains(strings.Join(strings.Fields(p.Report), " "), c.want) || strings.Contains(p.Report, "hunter2") {
			t.Errorf("%s: %s", name, p.Report)
		}
	}
}

// TestPreviewOfPlugins holds that providers of a fork's plan are those of the base branch's lock file, have nothing in their
// environment, and are confined or not started.
func TestPreviewOfPlugins(t *testing.T) {
	t.Parallel()
	pl := newPlugins(t, false)
	lock := pl.lock("h1:")
	base := pl.bench(nil)
	base.job.Grants = grants(t, allowLab, lock) // which a fork has no use of
	b := forked(t, base, jobs.Snapshot{}, map[string]string{"net/main.tf": thing})
	b.engine.Mirror, b.engine.DataDir = base.engine.Mirror, base.engine.DataDir
	p := b.plan()
	if !p.Previewed || p.Counts != (counting.Counts{Add: 1}) {
		t.Fatalf("%s", p.Report)
	}
	for _, env := range pl.started() {
		for _, kv := range env {
			if strings.Contains(kv, "hunter2") || strings.HasPrefix(kv, "AWS_") {
				t.Errorf("a plugin has %s", kv)
			}
		}
	}
	n := len(pl.started())
	b.engine.Begin = nil
	if p := b.plan(); p.Previewed || !strings.Contains(p.Report, "Providers are not confined here") || len(pl.started()) != n {
		t.Errorf("not confined: %s", p.Report)
	}
	b = forked(t, base, jobs.Snapshot{}, map[string]string{"net/main.tf": thing, "net/.terraform.lock.hcl": lock})
	b.engine.Mirror, b.engine.DataDir = base.engine.Mirror, base.engine.DataDir
	whole := base.job
	whole.Checkout, whole.Grants = b.job.Checkout, grants(t, allowLab, "")
	b.job = jobs.Unprivileged(whole, jobs.Snapshot{})
	if p := b.plan(); p.Previewed || !strings.Contains(flat(p.Report), "he base branch does not allow the provider") || len(pl.started()) != n {
		t.Errorf("its own lock file, and a pattern for others: %s", p.Report)
	}
}

// TestForkWithoutBucket holds that the commit of a fork gets no credentials for the bucket of a module.
func TestForkWithoutBucket(t *testing.T) {
	t.Parallel()
	b := forked(t, newBench(t, map[string]string{"net/main.tf": stable}), jobs.Snapshot{}, map[string]string{"net/main.tf": stable})
	b.engine.PluginEnv = func(context.Context, jobs.Job) ([]string, error) {
		return []string{"AWS_ACCESS_KEY_ID=" + horse}, nil
	}
	var env []string
	b.engine.Modules = func(ctx context.Context, _ jobs.Job, _ string, tree source.Tree, early loading.Early, _ hosts.Tokens, of func(context.Context) ([]string, error)) (*config.Config, diags.Diagnostics, error) {
		var err error
		if env, err = of(ctx); err == nil || !strings.Contains(err.Error(), "tests have no credentials") {
			t.Errorf("%q, %v", env, err)
		}
		cfg, ds := loading.Load(loading.Input{Tree: tree, Early: early})
		return cfg, ds, nil
	}
	if b.plan(); env != nil {
		t.Errorf("the environment is %q", env)
	}
}
