//go:build linux

package lambdatest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// vpc is the state of another configuration, and readsVPC a configuration that reads it.
const (
	vpc = `{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"vpc","outputs":{
  "subnet":{"value":"subnet-0a1b2c","type":"string"},
  "password":{"value":"` + horse + `vpc","type":"string","sensitive":true}},"resources":[],"check_results":null}`
	readsVPC = `data "terraform_remote_state" "vpc" {
  backend = "s3"
  config  = { bucket = "states", key = "vpc/terraform.tfstate", use_path_style = true }
}

resource "terraform_data" "a" {
  input = [data.terraform_remote_state.vpc.outputs.subnet, nonsensitive(data.terraform_remote_state.vpc.outputs.password)]
}
`
)

// TestRemoteStates has two projects read the same state, in an environment whose roles may and in one whose roles
// may not: neither the functions' own roles nor the sessions for states help the second. A third one has outputs of another
// project as inputs, by the right to read the object alone.
func TestRemoteStates(t *testing.T) {
	t.Parallel()
	var read []string
	r := newRoad(t, githubtest.Files{}, func(o *lambdatest.StackOptions) {
		o.Parameters["PlanRolePattern"], o.Parameters["ApplyRolePattern"] = "arn:aws:iam::*:role/lockstep-plan", "arn:aws:iam::*:role/lockstep-apply"
		o.OtherRoles = func(role, action, resource string) bool {
			read = append(read, role+" "+action+" "+resource)
			return strings.HasSuffix(role, "-222222222222") && action == "s3:GetObject" && strings.HasPrefix(resource, "arn:aws:s3:::states/vpc/")
		}
	})
	bucket := "states"
	for _, key := range []string{"vpc/terraform.tfstate", "vpc/partial.tfstate"} {
		if _, err := r.stack.S3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(vpc)}); err != nil {
			t.Fatal(err)
		}
	}
	settings := r.twoAccounts() + declared("prod", "  environment = \"production\"\n") + declared("stage", "  environment = \"staging\"\n")
	r.repo.Push("alice", "main", "settings", githubtest.Files{
		"lockstep.hcl": settings + declared("vpc", "") + declared("shop", "  environment = \"production\"\n"),
		"prod/main.tf": where, "stage/main.tf": where, "shop/main.tf": where, "vpc/main.tf": where,
	})
	n := r.pull("one", githubtest.Files{"prod/vpc.tf": readsVPC})
	r.expect("the plan", r.status(n), "subnet-0a1b2c", "1 to add")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied** `prod`")
	r.expect("the other plan", strings.Join(strings.Fields(r.status(r.pull("two", githubtest.Files{"stage/vpc.tf": readsVPC}))), " "),
		"Failed to load state", "lockstep-plan-333333333333 is not authorized to perform s3:GetObject")
	n = r.pull("three", githubtest.Files{"lockstep.hcl": settings + declared("vpc", "") + declared("shop", "  environment = \"production\"\n  inputs = { where = project.vpc.outputs.subnet }\n")})
	r.expect("a plan with an input", r.status(n), `where = "subnet-0a1b2c 39"`)
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied** `shop`")
	for _, said := range r.hub.Edits() {
		if strings.Contains(said.Text, horse) {
			t.Errorf("the password was said: %s", said.Text)
		}
	}
	slices.Sort(read)
	if got, want := strings.Join(slices.Compact(read), "\n"), `lockstep-apply-222222222222 s3:GetObject arn:aws:s3:::states/vpc/terraform.tfstate
lockstep-plan-222222222222 s3:GetObject arn:aws:s3:::states/vpc/partial.tfstate
lockstep-plan-222222222222 s3:GetObject arn:aws:s3:::states/vpc/terraform.tfstate
lockstep-plan-333333333333 s3:GetObject arn:aws:s3:::states/vpc/terraform.tfstate`; got != want {
		t.Errorf("requests of providers' roles:\n%s", got)
	}
}
