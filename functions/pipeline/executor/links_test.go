package executor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// takesVPC is a project that has outputs of changesVPC as inputs, from a lockstep.hcl with the lines of inputsOfVPC.
const takesVPC = `variable "subnet" {
  type = string
}

variable "zone" {}

variable "password" {
  sensitive = true
}

resource "terraform_data" "a" {
  input = [var.subnet, var.zone, var.password]
}

output "subnet" {
  value = var.subnet
}
`

const inputsOfVPC = `
subnet   = project.vpc.outputs.subnet
zone     = "eu-${project.vpc.outputs.zone}"
password = project.vpc.outputs.password
`

var vpcPlace = places.Place{Backend: "s3", Bucket: "states", Key: "vpc/terraform.tfstate", Arguments: map[string]any{"use_path_style": true, "skip_credentials_validation": true, "skip_requesting_account_id": true}}

// A taker is a bench with inputs.
type taker struct {
	*bench
	vpc    places.Place
	lines  string
	states int
}

// links gives it inputs, one on each line of a lockstep.hcl, and the state of the project vpc.
func (b *taker) links(lines string) {
	b.t.Helper()
	b.lines = lines
	src := "inputs = {" + lines + "}\n"
	b.write(map[string]string{"lockstep.hcl": src})
	f, ds := parsing.Config([]byte(src), "lockstep.hcl")
	attrs, more := f.Body.JustAttributes()
	if ds.HasErrors() || more.HasErrors() {
		b.t.Fatal(ds, more)
	}
	var found hcl.Diagnostics
	if b.job.Inputs, found = projectinputs.Parse([]byte(src), attrs["inputs"]); found.HasErrors() {
		b.t.Fatal(found)
	}
	b.job.Linked = []jobs.Linked{{Project: "vpc", Place: b.vpc}}
}

// vpcIs has the project vpc have a state.
func (b *taker) vpcIs(server, state string) {
	b.t.Helper()
	b.states++
	key := fmt.Sprintf("vpc-%d/terraform.tfstate", b.states)
	store(b.t, server, key, state)
	b.vpc.Key = key
	b.links(b.lines)
}

// taking is a bench with takesVPC, whose providers have the right credentials.
func taking(t *testing.T) (b *taker, server string) {
	t.Helper()
	server = statebackendtest.StartVersitygw(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", server)
	b = &taker{bench: newBench(t, map[string]string{"net/main.tf": takesVPC}), vpc: vpcPlace}
	providersHave(b.bench, statebackendtest.AccessKey, statebackendtest.SecretKey)
	b.links(inputsOfVPC)
	return b, server
}

// TestInputs has the outputs of a state as values of variables, in the plan and in its apply, which does not read them again.
func TestInputs(t *testing.T) {
	b, server := taking(t)
	b.vpcIs(server, applied("subnet-7", "b", "new-horse"))
	p := b.plan()
	if report := flat(p.Report); p.Plan == nil || !strings.Contains(report, `"subnet-7"`) || !strings.Contains(report, `"eu-b"`) || strings.Contains(report+p.Full, "new-horse") {
		t.Fatal(p.Report)
	}
	providersHave(b.bench, statebackendtest.AccessKey, "the right to read it has gone")
	if o := b.apply(p.Plan, true); o.Failed || o.Counts.Add != 1 || strings.Contains(o.Report, "new-horse") {
		t.Errorf("%+v", o)
	}
}

// TestInputsForeseen is TestForeseen for inputs: what the other plan knows is known, and the rest is known after apply. Once
// the other one is applied, the plan that is made again is equal, unless an output is another one.
func TestInputsForeseen(t *testing.T) {
	b, server := taking(t)
	net := newBench(t, map[string]string{"net/main.tf": changesVPC})
	net.job.Foresee = true
	b.job.Foreseen = []jobs.PlannedOutputs{{Project: "vpc", Target: "vpc", Place: placeOfVPC, Plan: "h", Outputs: net.plan().Outputs}}
	p := b.plan()
	if report := flat(p.Report); p.Plan == nil || fmt.Sprint(p.Asked) != "["+placeOfVPC+"]" || !strings.Contains(report, "(known after apply)") || !strings.Contains(report, `"eu-b"`) || strings.Contains(report+p.Full, "new-horse") {
		t.Fatalf("%s, asked for %v", p.Report, p.Asked)
	}
	b.job.Foreseen = nil
	for _, c := range []struct {
		name, state string
		equal       bool
	}{
		{"another zone", applied("subnet-7", "c", "new-horse"), false},
		{"another password", applied("subnet-7", "b", "third-horse"), false},
		{"as it was planned", applied("subnet-7", "b", "new-horse"), true},
	} {
		b.vpcIs(server, c.state)
		found, err := b.engine.Check(t.Context(), b.job, p.Plan)
		if err != nil || found.Now.Again == nil || found.Now.Again.Equal != c.equal {
			t.Fatalf("%s, checked: %+v, %v", c.name, found, err)
		}
		_, o, again := b.again(p.Plan)
		if again == nil || again.Equal != c.equal || o.Failed || c.equal && o.Counts.Add != 1 || o.Refused == c.equal {
			t.Errorf("%s: %+v %+v", c.name, o, again)
		}
		if text := o.Report + again.Difference + again.Plan.Report + again.Plan.Full; strings.Contains(text, "new-horse") || strings.Contains(text, "third-horse") {
			t.Errorf("%s: it shows a password: %s", c.name, text)
		}
	}
	if left := b.plan(); left.Applyable || left.Plan == nil {
		t.Errorf("after that: %s", left.Report)
	}
}

// TestInputsAreRefused holds that each mistake has its line and a remedy, and that outputs are read with the credentials of
// the project's providers only.
func TestInputsAreRefused(t *testing.T) {
	b, server := taking(t)
	t.Setenv("AWS_ACCESS_KEY_ID", statebackendtest.AccessKey) // Lockstep's own
	t.Setenv("AWS_SECRET_ACCESS_KEY", statebackendtest.SecretKey)
	refused := func(name string, want ...string) {
		t.Helper()
		p := b.plan()
		report := flat(p.Report)
		for _, want := range want {
			if !strings.Contains(report, want) {
				t.Errorf("%s, without %s: %s", name, want, p.Report)
			}
		}
		if p.Plan != nil || strings.Contains(report, "horse") || strings.Contains(report, statebackendtest.SecretKey) {
			t.Errorf("%s: %s", name, p.Report)
		}
	}
	b.vpc.Key = "none/terraform.tfstate"
	b.links(inputsOfVPC)
	refused("never applied", "on lockstep.hcl line 2", `The project "vpc" has no state yet`, "lockstep plan -p vpc")
	b.job.Foreseen = []jobs.PlannedOutputs{{Project: "vpc", Target: "vpc", Place: placeOfVPC, Failed: true}}
	refused("its plan has failed", "Its plan in this pull request has failed: repair that first.")
	b.job.Foreseen = nil
	b.vpcIs(server, vpc)
	refused("an output that is not there", "on lockstep.hcl line 3", `The project "vpc" has no output "zone". It has password, subnet`)
	b.vpcIs(server, applied("subnet-7", "b", "new-horse"))
	b.links(inputsOfVPC + "nothing = project.vpc.outputs.zone\n")
	refused("no such variable", "on lockstep.hcl line 5", `has an input for "nothing", but its root module declares no variable of that name`)
	b.links("\nsubnet = project.vpc.outputs.subnet\nzone = \"x-${project.vpc.outputs.password}\"\npassword = 1\n")
	refused("a sensitive output for a variable that is not", "on lockstep.hcl line 3", "Declare the variable with sensitive = true")
	b.links("\nsubnet = project.vpc.outputs\nzone = 1\npassword = 1\n")
	refused("all outputs, with a sensitive one", "on lockstep.hcl line 2", "Declare the variable with sensitive = true")
	b.links("\nsubnet = [project.vpc.outputs.subnet]\nzone = 1\npassword = 1\n")
	refused("another type", "on lockstep.hcl line 2", "set by inputs in lockstep.hcl, does not fit the type")
	b.links(inputsOfVPC)
	b.job.Linked = []jobs.Linked{{Project: "vpc", Nowhere: "it is elsewhere"}}
	refused("nowhere", "on lockstep.hcl line 2", `The outputs of the project "vpc" cannot be read: it is elsewhere.`)
	b.job.Linked = []jobs.Linked{{Project: "vpc", Place: places.Local}}
	refused("on a machine", `the state is in the backend "local", which runs of pull requests cannot reach: keep it in S3`)
	b.links(inputsOfVPC)
	providersHave(b.bench, statebackendtest.AccessKey, "another")
	refused("other credentials", "403")
	providersHave(b.bench, "", "")
	refused("none", "give the project's environment a plan_role")
}

// TestInputsAndOthers holds which values win over inputs, and over which they win.
func TestInputsAndOthers(t *testing.T) {
	b, server := taking(t)
	b.vpcIs(server, applied("subnet-7", "b", "new-horse"))
	b.write(map[string]string{"net/terraform.tfvars": "subnet = \"subnet-0\"\nzone = \"nowhere\"\n"})
	b.job.Options.Variables = []string{"zone=typed"}
	if report := flat(b.plan().Report); !strings.Contains(report, `"subnet-7"`) || !strings.Contains(report, `"typed"`) {
		t.Error(report)
	}
	b.job.Options.Variables = []string{"zone=typed", "subnet=typed-too"}
	b.links("\nsubnet = project.vpc.outputs.nothing\nzone = project.vpc.outputs.nothing\npassword = \"x\"\n")
	if report := flat(b.plan().Report); !strings.Contains(report, `"typed-too"`) {
		t.Errorf("what is not needed is not read: %s", report)
	}
}

// TestInputsWithoutRights holds that a plan of a fork's commit reads no outputs: they are unknown; and that the destruction of
// a project does not need those that are gone.
func TestInputsWithoutRights(t *testing.T) {
	b, server := taking(t)
	b.vpcIs(server, applied("subnet-7", "b", "new-horse"))
	s := snapshotOf(t, b.bench)
	f := forked(t, b.bench, s, map[string]string{"net/main.tf": strings.Replace(takesVPC, "[var.", "[1, var.", 1)})
	f.job.Linked = nil
	p := f.plan()
	if report := flat(p.Report); !p.Previewed || !strings.Contains(report, "(known after apply)") || !strings.Contains(report, `the outputs of the project "vpc" are not read for it`) {
		t.Error(p.Report)
	}
	b.job.Options.Destroy = true
	b.job.Linked[0].Place.Key = "gone/terraform.tfstate"
	p = b.plan()
	if p.Plan == nil || p.Counts.Destroy != 1 {
		t.Fatal(p.Report)
	}
	if o := b.apply(p.Plan, true); o.Failed || o.Counts.Destroy != 1 {
		t.Errorf("%+v", o)
	}
}

// TestEphemeralInputs holds that an apply reads what no plan keeps.
func TestEphemeralInputs(t *testing.T) {
	b, server := taking(t)
	b.write(map[string]string{"net/main.tf": "variable \"password\" {\n  ephemeral = true\n  type = string\n  validation {\n    condition = length(var.password) > 3\n    error_message = \"It is too short.\"\n  }\n}\n\nresource \"terraform_data\" \"a\" {\n}\n"})
	b.links("\npassword = project.vpc.outputs.password\n")
	b.vpcIs(server, applied("subnet-7", "b", "new-horse"))
	p := b.plan()
	if p.Plan == nil {
		t.Fatal(p.Report)
	}
	b.vpcIs(server, applied("subnet-7", "b", "x"))
	if o := b.apply(p.Plan, true); !strings.Contains(flat(o.Report), "It is too short.") {
		t.Errorf("%+v", o)
	}
}
