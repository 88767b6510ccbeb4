package executor

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// again applies a plan that does not fit any more, and lets it be made again. It returns the
// findings of the engine, the outcome, and the new plan, nil if there is none.
func (b *bench) again(plan []byte) (found jobs.BeforeApply, o jobs.Outcome, again *jobs.Replanned) {
	b.t.Helper()
	asked := 0
	o, err := b.engine.Apply(b.t.Context(), b.job, plan, func(now jobs.BeforeApply) jobs.Permit {
		if asked++; asked > 2 {
			b.t.Error("it asks a third time")
		}
		if now.Again == nil {
			found = now
			return jobs.PlanAgain
		}
		again = now.Again
		if again.Plan.State != now.State || again.Plan.Parts.State != now.State {
			b.t.Errorf("the new plan is of the state %+v, and %+v is locked", again.Plan.State, now.State)
		}
		if again.Equal {
			return jobs.Permitted
		}
		return jobs.Refused
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return found, o, again
}

// shared has two resources; the second one is another pull request's.
func shared(a, b string) map[string]string {
	config := "resource \"terraform_data\" \"a\" {\n  input = " + a + "\n}\n"
	if b != "" {
		config += "\nresource \"terraform_data\" \"b\" {\n  input = " + b + "\n}\n"
	}
	return map[string]string{"net/main.tf": config}
}

// TestPlannedAgain writes the state between a plan and its apply: a plan that is the same then is
// applied, to the state as it is now.
func TestPlannedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, shared(`"1"`, ""))
	b.apply(b.plan().Plan, true)
	b.write(shared(`"2"`, ""))
	p := b.plan()
	// Another pull request adds an output in between.
	b.write(map[string]string{"net/out.tf": "output \"x\" {\n  value = 1\n}\n", "net/main.tf": shared(`"1"`, "")["net/main.tf"]})
	between := b.apply(b.plan().Plan, true)
	if between.Failed || between.State.Serial != 2 {
		t.Fatalf("%+v", between)
	}
	b.write(shared(`"2"`, ""))
	found, o, again := b.again(p.Plan)
	if found.State != between.State || found.OtherVersion || found.Providers != "" {
		t.Errorf("found %+v", found)
	}
	// The plan has not the output in its configuration: it would remove it.
	if again == nil || again.Equal || !o.Refused || !strings.Contains(again.Difference, "+ action: delete") {
		t.Fatalf("a removed output: %+v %+v", o, again)
	}
	if id := b.plan().State; id != between.State {
		t.Errorf("a refused plan has changed the state: %+v", id)
	}
	b.write(map[string]string{"net/main.tf": "removed {\n  from = terraform_data.nothing\n}\n" + shared(`"2"`, "")["net/main.tf"]})
}

// TestPlannedAgainSame is the same with a write that the plan has nothing to do with.
func TestPlannedAgainSame(t *testing.T) {
	t.Parallel()
	b := newBench(t, shared(`"1"`, `"1"`))
	b.apply(b.plan().Plan, true)
	b.write(shared(`"2"`, `"1"`))
	p := b.plan()
	b.touch()
	found, o, again := b.again(p.Plan)
	if found.State == p.State || again == nil || !again.Equal || again.Difference != "" {
		t.Fatalf("%+v %+v", found, again)
	}
	if o.Failed || o.Counts != (counting.Counts{Change: 1}) || o.State.Serial != found.State.Serial+1 {
		t.Errorf("%+v", o)
	}
	if left := b.plan(); left.Applyable {
		t.Errorf("the plan after it: %s", left.Report)
	}
}

// touch writes the state without a change of its contents.
func (b *bench) touch() {
	b.t.Helper()
	files := shared(`"1"`, `"1"`)
	now := shared(`"2"`, `"1"`)
	b.write(map[string]string{"net/main.tf": files["net/main.tf"] + "\noutput \"x\" {\n  value = 1\n}\n"})
	b.apply(b.plan().Plan, true)
	b.write(files)
	b.apply(b.plan().Plan, true)
	b.write(now)
}

// TestPlannedAgainByAnotherVersion holds that an upgrade keeps a plan that is the same, and does
// not apply one that cannot be compared.
func TestPlannedAgainByAnotherVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": two})
	p := b.plan()
	b.engine.Version = "2"
	if _, err := b.engine.Apply(t.Context(), b.job, p.Plan, func(jobs.BeforeApply) jobs.Permit { return jobs.Permitted }); err == nil {
		t.Error("a plan of another version is applied as it is")
	}
	// The configuration in the plan counts, whatever is in the checkout by then.
	b.write(map[string]string{"net/main.tf": two + "resource \"terraform_data\" \"evil\" {\n}\n"})
	found, o, again := b.again(p.Plan)
	if !found.OtherVersion || again == nil || !again.Equal || o.Failed || o.Counts != (counting.Counts{Add: 2}) {
		t.Errorf("%+v %+v %+v", found, o, again)
	}
	if again.Plan.Parts.Engine != "2" || p.Parts.Engine != "1" {
		t.Errorf("made by %q, and again by %q", p.Parts.Engine, again.Plan.Parts.Engine)
	}
}

// TestDifferenceHidesSecrets holds that the difference of two plans shows no sensitive value, of
// either.
func TestDifferenceHidesSecrets(t *testing.T) {
	t.Parallel()
	config := func(name, secret string) map[string]string {
		return map[string]string{
			"net/main.tf": `variable "secret" {
  sensitive = true
}

resource "terraform_data" "a" {
  input = { name = "` + name + `", secret = var.secret }
}
`,
			"net/terraform.tfvars": `secret = "` + secret + `"` + "\n",
		}
	}
	b := newBench(t, config("one", "0ldS3cret"))
	b.apply(b.plan().Plan, true)
	b.write(config("two", "0ldS3cret"))
	p := b.plan()
	b.write(config("three", "n3wS3cret"))
	if o := b.apply(b.plan().Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	_, o, again := b.again(p.Plan)
	if !o.Refused || again == nil || again.Equal {
		t.Fatalf("%+v %+v", o, again)
	}
	for _, secret := range []string{"0ldS3cret", "n3wS3cret"} {
		if strings.Contains(again.Difference, secret) || strings.Contains(again.Plan.Report, secret) {
			t.Errorf("%s is shown:\n%s", secret, again.Difference)
		}
	}
	for _, want := range []string{"(sensitive value), another one", `"three"`, "terraform_data.a"} {
		if !strings.Contains(again.Difference, want) {
			t.Errorf("the difference lacks %q:\n%s", want, again.Difference)
		}
	}
}

// TestParts holds which parts of a plan move with what, and that a digest of variables tells nothing
// to those who have not the plan.
func TestParts(t *testing.T) {
	t.Parallel()
	config := func(v string) map[string]string {
		return map[string]string{"net/main.tf": "variable \"v\" {\n}\n" + two, "net/terraform.tfvars": "v = \"" + v + "\"\n"}
	}
	b := newBench(t, config("one"))
	p := b.plan()
	q := b.plan()
	if p.Parts.Variables == q.Parts.Variables {
		t.Error("the digests of two plans are the same: short values could be found by trying")
	}
	q.Parts.Variables = p.Parts.Variables
	if p.Parts.Hash() != q.Parts.Hash() {
		t.Errorf("%+v\n%+v", p.Parts, q.Parts)
	}
	b.apply(p.Plan, true)
	if q = b.plan(); q.Parts.State == p.Parts.State || q.Parts.State != q.State {
		t.Errorf("after an apply: %+v", q.Parts)
	}
}
