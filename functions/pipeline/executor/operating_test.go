package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/encryptionpolicy"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// bench is an engine, and a checkout to try it on.
type bench struct {
	t      *testing.T
	engine *Engine
	job    jobs.Job
	parent string // of the checkout
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	parent := t.TempDir()
	b := &bench{t: t, parent: parent}
	b.engine = &Engine{Version: "1", Backend: LocalStates(filepath.Join(parent, "states")), Rescued: filepath.Join(parent, "rescued")}
	b.job = benchJob(filepath.Join(parent, "checkout"))
	b.write(files)
	return b
}

func benchJob(checkout string) jobs.Job {
	return jobs.Job{
		Checkout: checkout, Dir: "net", Project: "net", Workspace: "default",
		Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Owner: "lockstep acme/infra#7", Number: 7, Head: "0123456789abcdef",
	}
}

// write puts files into the checkout. "-> TARGET" makes a link.
func (b *bench) write(files map[string]string) {
	b.t.Helper()
	for name, content := range files {
		path := filepath.Join(b.job.Checkout, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, ok := strings.CutPrefix(content, "-> "); err == nil && ok {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// base has the base branch have the checkout as it is now.
func (b *bench) base() {
	b.t.Helper()
	root := os.DirFS(b.job.Checkout)
	var err error
	p := project.Project{Dir: b.job.Dir, VarFiles: b.job.VarFiles, Variables: b.job.Variables, Encrypts: true}
	if b.job.Sealing, err = encryptionpolicy.Read(root, p, 1<<20); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) plan() jobs.PlanResult {
	b.t.Helper()
	p, err := b.engine.Plan(b.t.Context(), b.job)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) apply(plan []byte, permit bool) jobs.Outcome {
	b.t.Helper()
	o, err := b.engine.Apply(b.t.Context(), b.job, plan, func(jobs.BeforeApply) jobs.Permit {
		if permit {
			return jobs.Permitted
		}
		return jobs.Refused
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return o
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

const two = `resource "terraform_data" "a" {
  input = "one"
}

resource "terraform_data" "b" {
  input = terraform_data.a.output
}

output "b" {
  value = terraform_data.b.output
}
`

func TestPlanAndApply(t *testing.T) {
	b := newBench(t, map[string]string{"net/main.tf": two})
	p := b.plan()
	if p.Plan == nil || !p.Applyable || p.State != (runs.StateID{}) || p.Counts != (counting.Counts{Add: 2}) {
		t.Fatalf("%+v", p)
	}
	if o := b.apply(p.Plan, false); !o.Refused {
		t.Errorf("without permission: %+v", o)
	}
	var seen runs.StateID
	o, err := b.engine.Apply(t.Context(), b.job, p.Plan, whether(func(s runs.StateID) bool { seen = s; return true }))
	if err != nil || o.Failed || o.Refused || o.Counts != (counting.Counts{Add: 2}) || !strings.Contains(o.Report, `b = "one"`) {
		t.Fatalf("%+v, %v", o, err)
	}
	if seen != (runs.StateID{}) || o.State.Serial != 1 || o.State.Lineage == "" || o.State.Version == "" {
		t.Errorf("state %+v, then %+v", seen, o.State)
	}
	again := b.plan()
	if again.Applyable || again.State != o.State || again.Counts != (counting.Counts{}) {
		t.Errorf("a plan after the apply: %+v", again)
	}
	b.write(map[string]string{"net/main.tf": strings.Replace(two, "one", "two", 1)})
	if c := b.plan(); c.Counts != (counting.Counts{Change: 2}) || c.State != o.State {
		t.Errorf("a changed configuration: %+v", c)
	}
}

// TestWhatWasPlannedIsApplied holds that the configuration in the plan counts, whatever
// is in the checkout by then.
func TestWhatWasPlannedIsApplied(t *testing.T) {
	b := newBench(t, map[string]string{"net/main.tf": two})
	p := b.plan()
	b.write(map[string]string{"net/main.tf": two + "resource \"terraform_data\" \"evil\" {\n}\n"})
	if o := b.apply(p.Plan, true); o.Failed || o.Counts != (counting.Counts{Add: 2}) {
		t.Errorf("%+v", o)
	}
	if o := b.apply([]byte("PK damaged"), true); !o.Failed || !strings.Contains(o.Report, "saved plan cannot be read") {
		t.Errorf("a damaged plan: %+v", o)
	}
}

// TestNothingIsTrusted tries to get out of the checkout, and to run something.
func TestNothingIsTrusted(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("s3cr3t"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := func(expr string) string {
		return "resource \"terraform_data\" \"a\" {\n  input = " + expr + "\n}\n"
	}
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"an absolute path":       {map[string]string{"net/main.tf": data(`file("` + outside + `")`)}, "outside"},
		"the process":            {map[string]string{"net/main.tf": data(`file("/proc/self/environ")`)}, "outside"},
		"climbing":               {map[string]string{"net/main.tf": data(`file("${path.module}/../../victim")`)}, "outside"},
		"home":                   {map[string]string{"net/main.tf": data(`file("~/.aws/credentials")`)}, "outside"},
		"a template":             {map[string]string{"net/main.tf": data(`templatefile("/etc/hostname", {})`)}, "outside"},
		"a list of files":        {map[string]string{"net/main.tf": data(`length(fileset("/etc", "host*")) == 0 ? file("/etc/hosts") : "not empty"`)}, "outside"},
		"a link":                 {map[string]string{"net/main.tf": data(`file("${path.module}/link")`), "net/link": "-> " + outside}, "outside"},
		"a configuration":        {map[string]string{"net/main.tf": "-> " + outside}, "escapes"},
		"variables":              {map[string]string{"net/main.tf": data(`"x"`), "net/terraform.tfvars": "-> " + outside}, "escapes"},
		"a module":               {map[string]string{"net/main.tf": "module \"m\" {\n  source = \"../../victim\"\n}\n"}, "outside"},
		"a provisioner":          {map[string]string{"net/main.tf": "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"touch /tmp/evil\"\n  }\n}\n"}, "Provisioners are not allowed"},
		"a module's provisioner": {map[string]string{"net/main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "net/m/x.tf": "resource \"terraform_data\" \"a\" {\n  provisioner \"remote-exec\" {\n    inline = [\"id\"]\n  }\n}\n"}, "Provisioners are not allowed"},
		"a provider":             {map[string]string{"net/main.tf": "data \"external\" \"e\" {\n  program = [\"id\"]\n}\n"}, "hashicorp/external"},
		"a provider of their own": {map[string]string{
			"net/main.tf":             "terraform {\n  required_providers {\n    e = { source = \"evil/evil\" }\n  }\n}\nresource \"e_x\" \"x\" {\n}\n",
			"net/.terraform.lock.hcl": "provider \"registry.terraform.io/evil/evil\" {\n  version = \"1.0.0\"\n  hashes = [\"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n}\n",
			"net/.terraform/providers/registry.terraform.io/evil/evil/1.0.0/linux_amd64/terraform-provider-evil": "#!/bin/sh\ntouch /tmp/evil\n",
		}, "Provider is not allowed"},
		"a provisioner of what is removed": {map[string]string{"net/main.tf": "removed {\n  from = terraform_data.a\n  lifecycle {\n    destroy = true\n  }\n  provisioner \"local-exec\" {\n    when = destroy\n    command = \"touch /tmp/evil\"\n  }\n}\n"}, "Provisioners are not allowed"},
		"another backend":                  {map[string]string{"net/main.tf": "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key = \"k\"\n    region = \"eu-central-1\"\n  }\n}\n"}, "Backend not available"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", filepath.Dir(outside))
			b := newBench(t, test.files)
			if err := os.WriteFile(filepath.Join(b.parent, "victim"), []byte("s3cr3t"), 0o600); err != nil {
				t.Fatal(err)
			}
			p := b.plan()
			if p.Plan != nil || !strings.Contains(p.Report, test.want) || strings.Contains(p.Report, "s3cr3t") {
				t.Errorf("%+v", p)
			}
		})
	}
	if _, err := os.Stat("/tmp/evil"); err == nil {
		t.Error("something was run")
	}
}

// TestAllowedInside holds that the checkout itself can be read, shared files included.
func TestAllowedInside(t *testing.T) {
	b := newBench(t, map[string]string{
		"net/main.tf":           "module \"m\" {\n  source = \"../shared\"\n}\nresource \"terraform_data\" \"a\" {\n  input = \"${file(\"${path.module}/../words.txt\")} ${file(\"${path.module}/link\")} ${var.x} ${var.y} ${module.m.z}\"\n}\nvariable \"x\" {\n}\nvariable \"y\" {\n}\n",
		"net/terraform.tfvars":  "x = \"from tfvars\"\ny = \"from tfvars\"\n",
		"net/zz.auto.tfvars":    "y = \"from auto\"\n",
		"net/link":              "-> ../words.txt",
		"shared/main.tf":        "output \"z\" {\n  value = \"from shared\"\n}\n",
		"words.txt":             "words",
		"net/terraform.tfstate": "not a state",
	})
	if p := b.plan(); !strings.Contains(p.Report, `"words words from tfvars from auto from shared"`) {
		t.Errorf("%s", p.Report)
	}
}

// TestStatesApart holds that no two projects, workspaces or repositories share a state,
// whatever their names and their backend blocks say.
func TestStatesApart(t *testing.T) {
	b := newBench(t, map[string]string{"net/main.tf": "terraform {\n  backend \"local\" {\n    path = \"../../../../evil.tfstate\"\n  }\n}\n" + two})
	b.apply(b.plan().Plan, true)
	for what, change := range map[string]func(*jobs.Job){
		"another project":     func(j *jobs.Job) { j.Project = "net/default" },
		"the root":            func(j *jobs.Job) { j.Project = "." },
		"above the root":      func(j *jobs.Job) { j.Project = ".." },
		"another workspace":   func(j *jobs.Job) { j.Workspace = "prod" },
		"another repository":  func(j *jobs.Job) { j.Repo.ID = 2 },
		"a name with a slash": func(j *jobs.Job) { j.Project, j.Workspace = "a/b", "c" },
	} {
		x := *b
		change(&x.job)
		if p := x.plan(); p.State != (runs.StateID{}) || p.Counts.Add != 2 {
			t.Errorf("%s: %+v", what, p)
		}
	}
	if p := b.plan(); p.Applyable {
		t.Errorf("the same project: %+v", p)
	}
	renamed := *b
	renamed.job.Repo.Owner, renamed.job.Repo.Name = "other", "name"
	if p := renamed.plan(); p.Applyable {
		t.Errorf("the same repository by another name: %+v", p)
	}
	entries, err := os.ReadDir(b.parent)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"checkout", "states"}, names); diff != "" || err != nil {
		t.Errorf("beside the checkout: %s %v", diff, err)
	}
}

// fakeStates serves states from memory, with faults.
func fakeStates(b statebackend.Backend) BackendFunc {
	return func(context.Context, jobs.Job, *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		return b, nil
	}
}

// TestLocked holds that an apply respects and names a foreign lock, and that unlock takes
// away what this pull request has left, and nothing else.
func TestLocked(t *testing.T) {
	b := newBench(t, map[string]string{"net/main.tf": two})
	fake := &statebackendtest.Fake{}
	b.engine.Backend = fakeStates(fake)
	p := b.plan()
	lock := func(owner string) statebackend.Workspace {
		t.Helper()
		w, err := fake.Open(statebackend.DefaultWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		info := statebackend.NewLockInfo("OperationTypeApply", "1.0")
		info.Who, info.Info = "carol@laptop", owner
		if _, err := w.Lock(t.Context(), info); err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := lock("")
	if x := b.plan(); x.Plan == nil {
		t.Errorf("plan: %s", x.Report)
	}
	if o := b.apply(p.Plan, true); !o.Failed || !strings.Contains(o.Report, "carol@laptop") {
		t.Errorf("apply: %+v", o)
	}
	if u, err := b.engine.Unlock(t.Context(), b.job); u.Locks != 0 || err != nil {
		t.Errorf("unlock of somebody else's: %+v, %v", u, err)
	}
	locks, _ := w.Locks(t.Context())
	if len(locks) != 1 {
		t.Fatalf("%v", locks)
	}
	if err := w.Unlock(t.Context(), locks[0].Info.ID); err != nil {
		t.Fatal(err)
	}
	pull, project := b.job, b.job
	pull.Owner += "1"
	project.Project += "1"
	for _, other := range []jobs.Job{pull, project} {
		lock(lockText(other))
		if u, err := b.engine.Unlock(t.Context(), b.job); u.Locks != 0 || err != nil {
			t.Errorf("unlock of what is another's, %+v: %+v, %v", other, u, err)
		}
		if locks, _ = w.Locks(t.Context()); len(locks) != 1 {
			t.Fatalf("%v", locks)
		}
		if err := w.Unlock(t.Context(), locks[0].Info.ID); err != nil {
			t.Fatal(err)
		}
	}
	lock(lockText(b.job))
	if u, err := b.engine.Unlock(t.Context(), b.job); u.Locks != 1 || err != nil {
		t.Errorf("unlock of our own: %+v, %v", u, err)
	}
	if o := b.apply(p.Plan, true); o.Failed {
		t.Errorf("after that: %+v", o)
	}
}

// TestUnlockWithoutState holds that unlocking says why it does not know where the state
// is, rather than that nothing was locked.
func TestUnlockWithoutState(t *testing.T) {
	t.Parallel()
	for main, want := range map[string]string{
		"terraform {\n  backend \"gcs\" {\n  }\n}\n": "does not support the backend type",
		"terraform {\n": "main.tf",
	} {
		b := newBench(t, map[string]string{"net/main.tf": main})
		u, err := b.engine.Unlock(t.Context(), b.job)
		var no *jobs.StateError
		if u.Locks != 0 || !errors.As(err, &no) || !strings.Contains(no.Why, want) {
			t.Errorf("%q: %+v, %v", main, u, err)
		}
	}
}

// refusing takes no more states.
type refusing struct{ statebackend.Backend }

type refusingWorkspace struct{ statebackend.Workspace }

func (r refusing) Open(name string) (statebackend.Workspace, error) {
	w, err := r.Backend.Open(name)
	return refusingWorkspace{w}, err
}

func (refusingWorkspace) Put(context.Context, []byte, statebackend.Version) (statebackend.Version, error) {
	return "", statebackend.ErrDenied
}

// TestRescue holds that a state which its backend does not take is kept, and that it
// is said where.
func TestRescue(t *testing.T) {
	b := newBench(t, map[string]string{"net/main.tf": two})
	b.engine.Backend = fakeStates(refusing{&statebackendtest.Fake{}})
	o := b.apply(b.plan().Plan, true)
	files, _ := filepath.Glob(filepath.Join(b.engine.Rescued, "acme-infra-net-*.tfstate"))
	if len(files) != 1 || !o.Failed || !strings.Contains(o.Report, filepath.Base(files[0])) {
		t.Fatalf("%+v, %v", o, files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil || strings.Count(string(data), `"terraform_data"`) != 2 {
		t.Errorf("%s, %v", data, err)
	}
}

// TestSecretsAreTakenOut holds that what is sensitive is not shown, also where no mark
// can say so.
func TestSecretsAreTakenOut(t *testing.T) {
	const secret = "hunter2hunter2"
	b := newBench(t, map[string]string{
		"net/main.tf": `variable "password" {
  sensitive = true
}

variable "key" {
  sensitive = true
}

resource "terraform_data" "marked" {
  input = var.password
}

resource "terraform_data" "unmarked" {
  input = nonsensitive("my ${var.password}!")
}

resource "terraform_data" "lines" {
  input = nonsensitive(var.key)
}

output "open" {
  value = nonsensitive(var.password)
}
`,
		"net/terraform.tfvars": "password = \"" + secret + "\"\nkey = \"first line of it\\nsecond line of it\\n\"\n",
	})
	p := b.plan()
	o := b.apply(p.Plan, true)
	b.write(map[string]string{"net/bad.tf": "locals {\n  x = nonsensitive(var.password) + 1\n}\n"})
	bad := b.plan()
	for what, text := range map[string]string{"plan": p.Report, "apply": o.Report, "error": bad.Report} {
		for _, s := range []string{secret, "first line of it", "second line of it"} {
			if strings.Contains(text, s) {
				t.Errorf("the report of the %s shows %q:\n%s", what, s, text)
			}
		}
	}
	if !strings.Contains(p.Report, "my (sensitive value)!") || !strings.Contains(o.Report, "open = \"(sensitive value)\"") {
		t.Errorf("%s\n%s", p.Report, o.Report)
	}
}

// TestInterrupted holds that an interrupt is a failure of the world, not of the plan.
func TestInterrupted(t *testing.T) {
	b := newBench(t, map[string]string{"net/main.tf": two})
	p := b.plan()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.engine.Plan(ctx, b.job); err == nil {
		t.Error("plan: no error")
	}
	asked := false
	if _, err := b.engine.Apply(ctx, b.job, p.Plan, whether(func(runs.StateID) bool { asked = true; return true })); err == nil || asked {
		t.Errorf("apply: %v, asked %v", err, asked)
	}
	if x := b.plan(); x.Plan == nil {
		t.Errorf("the state is still locked: %+v", x)
	}
}
