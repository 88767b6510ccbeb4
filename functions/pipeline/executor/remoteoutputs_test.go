package executor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// changesVPC is the project whose state is [vpc], as a pull request changes it.
const changesVPC = `resource "terraform_data" "subnet" {
  input = "b"
}

output "subnet" {
  value = terraform_data.subnet.id
}

output "zone" {
  value = terraform_data.subnet.input
}

output "password" {
  value     = "new-horse"
  sensitive = true
}
`

// dependsOnVPC reads it.
const dependsOnVPC = `data "terraform_remote_state" "vpc" {
  backend = "s3"
  config = {
    bucket                      = "states"
    key                         = "vpc/terraform.tfstate"
    use_path_style              = true
    skip_credentials_validation = true
  }
}

resource "terraform_data" "a" {
  input = [data.terraform_remote_state.vpc.outputs.subnet, data.terraform_remote_state.vpc.outputs.zone, data.terraform_remote_state.vpc.outputs.password]
}

output "subnet" {
  value = data.terraform_remote_state.vpc.outputs.subnet
}
`

// applied is the state of changesVPC afterwards.
func applied(subnet, zone, password string) string {
	return fmt.Sprintf(`{"version":4,"terraform_version":"1.11.4","serial":2,"lineage":"vpc","outputs":{"subnet":{"value":%q,"type":"string"},
  "zone":{"value":%q,"type":"string"},"password":{"value":%q,"type":"string","sensitive":true}},"resources":[],"check_results":null}`, subnet, zone, password)
}

const placeOfVPC = "s3://states/vpc/terraform.tfstate"

// dependent is a bench with dependsOnVPC, planned with the outputs of a plan of changesVPC.
func dependent(t *testing.T) (b *bench, server string, p jobs.PlanResult) {
	t.Helper()
	server = statebackendtest.StartVersitygw(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", server)
	net := newBench(t, map[string]string{"net/main.tf": changesVPC})
	net.job.Foresee = true
	of := net.plan()
	if of.Outputs == nil {
		t.Fatal(of.Report)
	}
	b = newBench(t, map[string]string{"net/main.tf": dependsOnVPC})
	providersHave(b, statebackendtest.AccessKey, statebackendtest.SecretKey)
	b.job.Foreseen = []jobs.PlannedOutputs{{Target: "vpc", Place: placeOfVPC, Plan: "h", Outputs: of.Outputs}}
	return b, server, b.plan()
}

// TestForeseen plans with the planned outputs of another project: what is known of them is in the plan, sensitive values
// are not shown, and the rest is known after apply. Once the other one is applied, the plan that is made again is equal, and is
// applied.
func TestForeseen(t *testing.T) {
	b, server, p := dependent(t)
	report := flat(p.Report)
	if p.Plan == nil || fmt.Sprint(p.Asked) != "["+placeOfVPC+"]" || p.Outputs != nil {
		t.Fatalf("%s, asked for %v, %s", p.Report, p.Asked, p.Outputs)
	}
	for _, want := range []string{"(known after apply)", `"b"`, "data.terraform_remote_state.vpc will be read during apply"} {
		if !strings.Contains(report, want) {
			t.Errorf("without %s:\n%s", want, p.Report)
		}
	}
	if strings.Contains(p.Report+p.Full, "new-horse") {
		t.Errorf("it shows the password:\n%s", p.Report)
	}
	b.job.Foreseen = nil
	store(t, server, "vpc/terraform.tfstate", applied("subnet-7", "b", "new-horse"))
	found, err := b.engine.Check(t.Context(), b.job, p.Plan)
	if err != nil || found.Now.Again == nil || !found.Now.Again.Equal {
		t.Errorf("checked: %+v, %v", found, err)
	}
	_, o, again := b.again(p.Plan)
	if again == nil || !again.Equal || o.Failed || o.Counts.Add != 1 {
		t.Errorf("%+v %+v", o, again)
	}
	if left := b.plan(); left.Applyable || left.Asked != nil {
		t.Errorf("after that: %s", left.Report)
	}
}

// TestForeseenOtherwise applies the other project with other outputs than it had planned: the difference is shown, without
// sensitive values, and nothing is applied.
func TestForeseenOtherwise(t *testing.T) {
	for name, c := range map[string]struct {
		state, want string
		equal       bool
	}{
		"another value":    {applied("subnet-7", "c", "new-horse"), `"c"`, false},
		"another password": {applied("subnet-7", "b", "third-horse"), "sensitive", false},
		"another subnet":   {applied("subnet-8", "b", "new-horse"), "", true}, // it was unknown
	} {
		b, server, p := dependent(t)
		store(t, server, "vpc/terraform.tfstate", c.state)
		checked := b.job
		checked.Foreseen = nil
		found, err := b.engine.Check(t.Context(), checked, p.Plan)
		if err != nil || found.Now.Again == nil {
			t.Fatalf("%s: %+v, %v", name, found, err)
		}
		_, o, again := b.again(p.Plan)
		for _, a := range []*jobs.Replanned{found.Now.Again, again} {
			if a == nil || a.Equal != c.equal || !c.equal && !strings.Contains(a.Difference, c.want) {
				t.Fatalf("%s: %+v", name, a)
			}
			for _, secret := range []string{"new-horse", "third-horse"} {
				if strings.Contains(a.Difference+a.Plan.Report+a.Plan.Full, secret) {
					t.Errorf("%s: it shows %s:\n%s\n%s", name, secret, a.Difference, a.Plan.Report)
				}
			}
		}
		if o.Refused == c.equal {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// TestForeseenIsForReaders holds that planned outputs go to those only who could read the state: a pull request chooses the
// projects that its own depend on.
func TestForeseenIsForReaders(t *testing.T) {
	b, server, _ := dependent(t)
	store(t, server, "vpc/terraform.tfstate", vpc)
	for name, key := range map[string]string{"other credentials": "another", "none": ""} {
		providersHave(b, statebackendtest.AccessKey, key)
		p := b.plan()
		if p.Applyable || strings.Contains(p.Report, `"b"`) || p.Asked != nil {
			t.Errorf("%s: %s, asked for %v", name, p.Report, p.Asked)
		}
	}
	providersHave(b, statebackendtest.AccessKey, statebackendtest.SecretKey)
	b.job.Foreseen = []jobs.PlannedOutputs{{Target: "vpc", Place: placeOfVPC}}
	if p := b.plan(); p.Applyable || !strings.Contains(p.Report, "zone") || fmt.Sprint(p.Asked) != "["+placeOfVPC+"]" {
		t.Errorf("without a plan the stored outputs count: %s, asked for %v", p.Report, p.Asked)
	}
}

// TestNotForeseen holds that there are planned outputs only where somebody wants them, of a plan that applies something.
func TestNotForeseen(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": changesVPC})
	if p := b.plan(); p.Plan == nil || p.Outputs != nil {
		t.Errorf("nobody wants them: %s", p.Outputs)
	}
	b.job.Foresee = true
	p := b.plan()
	if p.Outputs == nil {
		t.Error("there are none")
	}
	b.apply(p.Plan, true)
	if p := b.plan(); p.Plan == nil || p.Outputs != nil {
		t.Errorf("of a plan without changes: %s", p.Outputs)
	}
	b.job.Options.Destroy = true
	if p := b.plan(); p.Plan == nil || !p.Applyable || p.Outputs != nil {
		t.Errorf("of a plan that destroys: %s", p.Outputs)
	}
}
