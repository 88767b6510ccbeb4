package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// workingCopy is where the units of these tests are prepared.
const workingCopy = "net/.terragrunt-cache/a/b/box"

// A unitBench is a bench whose project is a unit. prepare takes the place of Terragrunt: it gets the outputs, and returns
// files of the working copy and values of variables.
type unitBench struct {
	*bench
	prepare func(outputs jobs.UnitOutputs) (files, variables map[string]string)
	args    []string
	problem string
}

func newUnitBench(t *testing.T) *unitBench {
	t.Helper()
	b := &unitBench{bench: newBench(t, map[string]string{"net/terragrunt.hcl": "", "modules/box/main.tf": boxed})}
	b.prepare = func(jobs.UnitOutputs) (files, variables map[string]string) { return nil, map[string]string{"in": "x"} }
	b.job.Unit = &jobs.Unit{Terragrunt: requirements.Terragrunt{Timeout: 1}, Source: "modules/box"}
	b.engine.PrepareUnit = func(_ context.Context, j jobs.Job, _ string, outputs jobs.UnitOutputs) (jobs.PreparedUnit, error) {
		if _, err := os.Stat(filepath.Join(j.Checkout, workingCopy)); err == nil {
			t.Error("there is a working copy before Terragrunt runs")
		}
		files, variables := b.prepare(outputs)
		b.write(map[string]string{workingCopy + "/main.tf": boxed})
		for name, text := range files {
			b.write(map[string]string{workingCopy + "/" + name: text})
		}
		return jobs.PreparedUnit{Dir: workingCopy, Variables: variables, Arguments: b.args, Problem: b.problem}, nil
	}
	return b
}

const boxed = `variable "in" {
}

variable "list" {
  type    = any
  default = null
}

resource "terraform_data" "box" {
  input = [var.in, var.list]
}
`

// TestUnitIsPlanned plans and applies a prepared working copy, also if the commit has something in its place.
func TestUnitIsPlanned(t *testing.T) {
	t.Parallel()
	b := newUnitBench(t)
	b.write(map[string]string{workingCopy + "/evil.tf": "resource \"terraform_data\" \"evil\" {}\n", "modules/box/text.txt": "t"})
	b.prepare = func(jobs.UnitOutputs) (files, variables map[string]string) {
		return map[string]string{"more.tf": "output \"text\" {\n  value = file(\"text.txt\")\n}\n", "text.txt": "t"}, map[string]string{"in": "x", "undeclared": "y", "list": `["a"]`}
	}
	p := b.plan()
	if p.Plan == nil || p.Counts.Add != 1 || !strings.Contains(p.Report, `"x"`) || strings.Contains(p.Report, "evil") {
		t.Fatal(p.Report)
	}
	if fmt.Sprint(p.Read) != "[modules/box/text.txt]" {
		t.Errorf("it has read %v", p.Read)
	}
	if o := b.apply(p.Plan, true); o.Failed || o.Counts.Add != 1 {
		t.Errorf("%+v", o)
	}
	b.problem = "net/terragrunt.hcl:1: it is broken"
	if p := b.plan(); p.Plan != nil || !strings.Contains(p.Report, "net/terragrunt.hcl:1: it is broken") {
		t.Error(p.Report)
	}
	b.engine.PrepareUnit = nil
	if p := b.plan(); p.Plan != nil || !strings.Contains(p.Report, "Run `lockstep deploy`") {
		t.Error(p.Report)
	}
}

// TestUnitOfAnotherPlan carries out an attack: between the plan and the apply, Terragrunt prepares something else. Only the
// plan that was seen is applied.
func TestUnitOfAnotherPlan(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(b *unitBench){
		"the variable in": func(b *unitBench) {
			b.prepare = func(jobs.UnitOutputs) (files, variables map[string]string) { return nil, map[string]string{"in": "y"} }
		},
		"files that Terragrunt generates": func(b *unitBench) {
			b.prepare = func(jobs.UnitOutputs) (files, variables map[string]string) {
				return map[string]string{"more.tf": "resource \"terraform_data\" \"evil\" {}\n"}, map[string]string{"in": "x"}
			}
		},
	} {
		b := newUnitBench(t)
		p := b.plan()
		change(b)
		if o := b.apply(p.Plan, true); !o.Failed || o.Counts.Add != 0 || !strings.Contains(flat(o.Report), want) || !strings.Contains(flat(o.Report), "lockstep plan -p net") {
			t.Errorf("%s: %+v", want, o)
		}
		if _, o, again := b.again(p.Plan); again == nil || again.Equal || !o.Refused {
			t.Errorf("%s, planned again: %+v %+v", want, o, again)
		}
	}
}

// TestUnitOptions is a table of the arguments that a unit passes to Terraform.
func TestUnitOptions(t *testing.T) {
	t.Parallel()
	b := newUnitBench(t)
	b.write(map[string]string{"live.tfvars": "in = \"from the file\"\n", "../secret.tfvars": "in = \"swordfish\"\n"})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-var-file=" + filepath.Join(b.job.Checkout, "live.tfvars"), "-lock-timeout=1m", "-input=false"}, `"from the file"`},
		{[]string{"-var-file", "../../../../../live.tfvars"}, `"from the file"`},
		{[]string{"-var", "in=from the option", "-var-file=../../../../../live.tfvars"}, `"from the option"`},
		{[]string{"-var-file=../../../../../../secret.tfvars"}, "File outside of the repository"},
		{[]string{"-var-file=" + filepath.Join(b.parent, "secret.tfvars")}, "File outside of the repository"},
		{[]string{"-target=terraform_data.box"}, "passes the option -target"},
		{[]string{"-destroy"}, "passes the option -destroy"},
		{[]string{"-refresh=false"}, "passes the option -refresh"},
		{[]string{"-backend-config=/etc/passwd"}, "Lockstep reads values only"},
	} {
		b.args = c.args
		if p := b.plan(); !strings.Contains(strings.Join(strings.Fields(p.Report), " "), c.want) || strings.Contains(p.Report, "swordfish") {
			t.Errorf("%v: %s", c.args, p.Report)
		}
	}
}

// TestUnitOutputs has the outputs of another unit, of its state and of its plan. Sensitive ones are shown nowhere.
func TestUnitOutputs(t *testing.T) {
	server := statebackendtest.StartVersitygw(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", server)
	b := newUnitBench(t)
	providersHave(b.bench, statebackendtest.AccessKey, statebackendtest.SecretKey)
	vpc := vpcPlace
	b.job.Unit.Linked = map[string]string{"live/vpc": "vpc"}
	b.job.Linked = []jobs.Linked{{Project: "vpc", Place: vpc}}
	get := func(outputs jobs.UnitOutputs, name string) string {
		var all map[string]struct{ Value any }
		if err := json.Unmarshal(outputs["live/vpc"], &all); err != nil {
			t.Fatalf("%s: %v", outputs["live/vpc"], err)
		}
		return fmt.Sprint(all[name].Value)
	}
	b.prepare = func(outputs jobs.UnitOutputs) (files, variables map[string]string) {
		return nil, map[string]string{"in": "in " + get(outputs, "subnet"), "list": fmt.Sprintf(`[%q, {"zone": %q}, %q]`, get(outputs, "subnet"), get(outputs, "zone"), get(outputs, "password"))}
	}
	of := newBench(t, map[string]string{"net/main.tf": changesVPC})
	of.job.Foresee = true
	b.job.Foreseen = []jobs.PlannedOutputs{{Project: "vpc", Target: "vpc", Place: placeOfVPC, Plan: "h", Outputs: of.plan().Outputs}}
	p := b.plan()
	if report := flat(p.Report); p.Plan == nil || strings.Contains(report+p.Full, "lockstep-unknown") || !strings.Contains(report, "(known after apply)") || strings.Contains(report+p.Full, "new-horse") {
		t.Fatal(p.Report)
	}
	store(t, server, "vpc/terraform.tfstate", applied("subnet-7", "b", "new-horse"))
	b.job.Foreseen = nil
	_, o, again := b.again(p.Plan)
	if again == nil || !again.Equal || o.Failed || o.Counts.Add != 1 || strings.Contains(o.Report+again.Plan.Report, "new-horse") {
		t.Errorf("%+v %+v", o, again)
	}
	if p := b.plan(); p.Plan == nil || p.Applyable {
		t.Error(p.Report)
	}
	b.job.Foreseen = []jobs.PlannedOutputs{{Project: "vpc", Target: "vpc", Place: placeOfVPC, Plan: "h", Outputs: of.plan().Outputs}}
	b.prepare = func(outputs jobs.UnitOutputs) (files, variables map[string]string) {
		return map[string]string{"more.tf": fmt.Sprintf("output \"x\" {\n  value = %q\n}\n", get(outputs, "subnet"))}, map[string]string{"in": "x"}
	}
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), `more.tf, which Terragrunt generates, contains the output "subnet"`) {
		t.Errorf("in a generated file: %s", p.Report)
	}
	b.prepare = func(outputs jobs.UnitOutputs) (files, variables map[string]string) {
		b.problem = "x.hcl:1: " + get(outputs, "subnet") + " is no number"
		return nil, nil
	}
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), `x.hcl:1: (known after apply) is no number`) {
		t.Errorf("in an error: %s", p.Report)
	}
	b.job.Foreseen, b.problem = nil, ""
	providersHave(b.bench, statebackendtest.AccessKey, "another key")
	b.prepare = func(outputs jobs.UnitOutputs) (files, variables map[string]string) {
		if text := string(outputs["live/vpc"]); !strings.HasPrefix(text, `"the outputs of the project \"vpc\" cannot be read`) {
			t.Errorf("without the right to read: %s", text)
		}
		return nil, map[string]string{"in": "x"}
	}
	b.plan()
}
