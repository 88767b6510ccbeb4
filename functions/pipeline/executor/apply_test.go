package executor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestPartialFailure holds that what fails keeps back what depends on it and nothing
// else, and that the rest can be done by the next plan.
func TestPartialFailure(t *testing.T) {
	t.Parallel()
	config := func(trouble string) string {
		return thing + `
resource "lab_thing" "bad" {
  name = "bad"
` + trouble + `}

resource "lab_thing" "after" {
  name = lab_thing.bad.id
}
`
	}
	b := newPlugins(t, false).bench(map[string]string{"net/main.tf": config("  trouble = \"create\"\n")})
	b.job.Grants = grants(t, allowLab, "")
	o := b.apply(b.plan().Plan, true)
	if !o.Failed || o.Counts != (counting.Counts{Add: 1}) || o.Remaining != 1 || o.State.Serial == 0 {
		t.Errorf("%+v", o)
	}
	for _, want := range []string{"asked to fail", "Not begun: 1", "create lab_thing.after"} {
		if !strings.Contains(o.Report, want) {
			t.Errorf("the report lacks %q:\n%s", want, o.Report)
		}
	}
	b.write(map[string]string{"net/main.tf": config("")})
	p := b.plan()
	if p.Counts != (counting.Counts{Add: 2}) || p.State != o.State {
		t.Errorf("the next plan: %+v", p)
	}
	if o := b.apply(p.Plan, true); o.Failed || o.Remaining != 0 || o.Counts != (counting.Counts{Add: 2}) {
		t.Errorf("its apply: %+v", o)
	}
}

// TestNoTimeLeft holds that nothing begins when the time is over before the first
// action is.
func TestNoTimeLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": two})
	p := b.plan()
	b.job.Times.StopStarting = time.Now().Add(-time.Second)
	o := b.apply(p.Plan, true)
	if !o.Failed || o.Remaining != 2 || o.Counts != (counting.Counts{}) || o.State != (runs.StateID{}) ||
		!strings.Contains(o.Report, "2 planned actions were not started: the time that one run may take is over") || !strings.Contains(o.Report, "create terraform_data.b") {
		t.Errorf("%+v", o)
	}
	b.job.Times.StopStarting = time.Now().Add(time.Hour)
	b.job.Continues = true
	if o := b.apply(p.Plan, true); o.Failed || o.Remaining != 0 || o.Progress != (comment.Progress{Done: 2, Of: 2}) {
		t.Errorf("with time: %+v", o)
	}
}

// TestProviderParallelism holds that an apply keeps to the setting of lockstep.hcl: three creations come one after the other.
func TestProviderParallelism(t *testing.T) {
	t.Parallel()
	const each = 300 * time.Millisecond
	b := newPlugins(t, false).bench(map[string]string{"net/main.tf": thing + `
resource "lab_thing" "slow" {
  count   = 3
  name    = "slow-${count.index}"
  trouble = "create-300"
}
`})
	b.job.Grants = grants(t, allowLab, "")
	b.job.ProviderParallelism = map[string]int{"lab": 1}
	p := b.plan()
	start := time.Now()
	if o := b.apply(p.Plan, true); o.Failed || o.Counts != (counting.Counts{Add: 4}) {
		t.Fatalf("%+v", o)
	}
	if got := time.Since(start); got < 3*each {
		t.Errorf("the creations took %v together", got)
	}
}

// TestLanguage plans and applies in the language of Terraform 1.11. The state names the release. A plan in another
// language is not applied.
func TestLanguage(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": two + "output \"o\" { value = terraform_data.a.id == \"x\" && false }\n"})
	b.job.Language = language.V1_11
	p := b.plan()
	if !strings.Contains(p.Report, "o = (known after apply)") {
		t.Errorf("the plan decides with one operand:\n%s", p.Report)
	}
	b.job.Language = language.Newest
	if o := b.apply(p.Plan, true); !o.Failed || !strings.Contains(o.Report, "Plan in another version of the language") {
		t.Errorf("a plan in another language: %+v", o)
	}
	b.job.Language = language.V1_11
	if o := b.apply(p.Plan, true); o.Failed {
		t.Fatalf("%+v", o)
	}
	stored, err := filepath.Glob(filepath.Join(b.parent, "states", "id.1", "net", "*", "terraform.tfstate"))
	if err != nil || len(stored) != 1 {
		t.Fatalf("states %v: %v", stored, err)
	}
	data, err := os.ReadFile(stored[0])
	if err != nil || !strings.Contains(string(data), `"terraform_version": "1.11.4"`) {
		t.Errorf("%v\n%s", err, data)
	}
	b.write(map[string]string{"net/main.tf": "output \"o\" { value = convert(1, string) }\n"})
	b.job.Language = language.Newest
	if p := b.plan(); p.Plan == nil {
		t.Errorf("%+v", p)
	}
	b.job.Language = language.V1_11
	if p := b.plan(); p.Plan != nil || !strings.Contains(p.Report, `There is no function named "convert"`) {
		t.Errorf("%+v", p)
	}
}

// TestOverloaded holds that the hint after errors of a server names the setting, with the provider, unless the project has it.
func TestOverloaded(t *testing.T) {
	t.Parallel()
	dns := addrs.Provider{Host: addrs.DefaultRegistryHost, Namespace: "acme", Type: "dns"}
	p := new(plans.Plan)
	var ds diags.Diagnostics
	for _, address := range []string{"dns_record.a", "dns_record.b"} {
		r, err := addrs.ParseAbsResourceInstance(address)
		if err != nil {
			t.Fatal(err)
		}
		p.Changes = append(p.Changes, &plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: r}, Provider: addrs.AbsProviderConfig{Provider: dns}})
		ds = append(ds, diags.Errorf(nil, "Request failed", "status 503").At(address)...)
	}
	o := &checkout{job: jobs.Job{Project: "net"}}
	if got := o.overload(ds, p); len(got) != 1 || !strings.HasSuffix(got[0].Detail, "block of the project \"net\" in lockstep.hcl, so that the provider gets one call at a time, and plan again:\n  provider_parallelism = { \"acme/dns\" = 1 }") {
		t.Errorf("%v", got)
	}
	o.job.ProviderParallelism = map[string]int{"dns": 1}
	if got := o.overload(ds, p); got != nil {
		t.Errorf("with the setting: %v", got)
	}
}

// TestTimeIsOver lets the time pass while an action is under way: it comes to its end,
// the state has it, and the rest is not begun. The action is the command of a
// provisioner, which the base branch allows here and which has the environment of
// plugins, and the call of a plugin.
func TestTimeIsOver(t *testing.T) {
	t.Parallel()
	p := newPlugins(t, false)
	dir := t.TempDir()
	begun, goOn := filepath.Join(dir, "begun"), filepath.Join(dir, "go")
	b := p.bench(map[string]string{"net/main.tf": thing + `
resource "lab_thing" "slow" {
  name    = "slow"
  trouble = "create-4500"
}

resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "/usr/bin/env > '` + begun + `'; until [ -e '` + goOn + `' ]; do /bin/sleep 0.02; done"
  }
}

resource "terraform_data" "after" {
  input = "${terraform_data.slow.id} ${lab_thing.slow.id}"
}
`})
	if x := b.plan(); x.Plan != nil || !strings.Contains(x.Report, "Provisioners are not allowed") || !strings.Contains(flat(x.Report), "set provisioners = true in the allow block") {
		t.Fatalf("without the grant: %+v", x)
	}
	b.job.Grants = grants(t, "allow {\n  providers = [\"lockstep/lab\"]\n  provisioners = true\n}\n", "")
	planned := b.plan()
	if planned.Plan == nil {
		t.Fatal(planned.Report)
	}
	b.job.Times.StopStarting = time.Now().Add(4 * time.Second)
	time.AfterFunc(time.Until(b.job.Times.StopStarting)+200*time.Millisecond, func() {
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	o := b.apply(planned.Plan, true)
	if !o.Failed || o.Remaining != 1 || o.Counts != (counting.Counts{Add: 3}) || o.State.Serial == 0 || !strings.Contains(o.Report, "create terraform_data.after") {
		t.Errorf("%+v", o)
	}
	env, err := os.ReadFile(begun)
	if err != nil || !strings.Contains(string(env), "CLOUD_SECRET_KEY=lent by somebody") || strings.Contains(string(env), "HOME=") {
		t.Errorf("the command's environment: %s, %v", env, err)
	}
	b.job.Times.StopStarting = time.Time{}
	if x := b.plan(); x.Counts != (counting.Counts{Add: 1}) || x.State != o.State {
		t.Errorf("the next plan: %+v", x)
	}
}

// TestReplacementIsTwo holds how a replacement is counted that is not begun.
func TestReplacementIsTwo(t *testing.T) {
	t.Parallel()
	config := func(trigger string) string {
		return "resource \"terraform_data\" \"a\" {\n  triggers_replace = \"" + trigger + "\"\n}\n"
	}
	b := newBench(t, map[string]string{"net/main.tf": config("1")})
	b.apply(b.plan().Plan, true)
	b.write(map[string]string{"net/main.tf": config("2")})
	p := b.plan()
	b.job.Times.StopStarting = time.Now().Add(-time.Second)
	o := b.apply(p.Plan, true)
	if o.Remaining != 2 || !strings.Contains(o.Report, "destroy terraform_data.a\ncreate terraform_data.a") {
		t.Errorf("%+v", o)
	}
}

// TestStale holds that permit sees the state as it is, under the lock, and what the
// lock says.
func TestStale(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": two})
	fake := &statebackendtest.Fake{}
	b.engine.Backend = fakeStates(fake)
	first, second := b.plan(), b.plan()
	if o := b.apply(first.Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	o, err := b.engine.Apply(t.Context(), b.job, second.Plan, whether(func(s runs.StateID) bool {
		w, err := fake.Open(statebackend.DefaultWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		locks, err := w.Locks(t.Context())
		if err != nil || len(locks) != 1 {
			t.Fatalf("%v, %v", locks, err)
		}
		const want = `lockstep acme/infra#7: a run of project net at 0123456 in the repository 1; if it is gone for good, comment "lockstep unlock -p net" on pull request #7 rather than force-unlock; Lockstep run `
		if got := locks[0].Info.Info; !strings.HasPrefix(got, want) {
			t.Errorf("the lock says %q", got)
		}
		if !holds(b.job, locks[0].Info.Info) {
			t.Error("the lock is not known as its job's")
		}
		return s == second.State
	}))
	if err != nil || !o.Refused {
		t.Errorf("%+v, %v", o, err)
	}
}
