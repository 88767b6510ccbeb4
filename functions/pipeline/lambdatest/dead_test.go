//go:build linux

package lambdatest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestApplyThatDies holds that an apply over which the function dies each time ends, by the janitor, as one
// whose outcome nobody knows. The queue gives up as early as the others here.
func TestApplyThatDies(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t, func(o *lambdatest.StackOptions) {
		o.Template.Resources["Applies"].Properties["RedrivePolicy"].(map[string]any)["maxReceiveCount"] = pipeline.MaxReceives
	})
	apply := r.stack.Functions["apply"]
	r.stack.Fault(func(q lambdatest.Request) int {
		if q.Function == "apply" && q.Action == "secretsmanager:GetSecretValue" {
			go apply.Kill()
			return http.StatusServiceUnavailable
		}
		return 0
	})
	id := r.repo.Comment("alice", n, "lockstep apply")
	r.settle()
	for range pipeline.MaxReceives + 1 {
		r.later()
	}
	r.stack.Fault(nil)
	r.later()
	r.expect("the answer", r.answer(n, id), "failed")
	r.say("alice", n, "lockstep plan")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**")
}

// TestPlanThatDoesNotFit applies a plan whose state somebody has changed by hand: the apply function puts
// another plan in its place, and applies nothing. The plan is too long for a comment.
func TestPlanThatDoesNotFit(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range 400 {
		many += thing(fmt.Sprintf("n%d", i), strings.Repeat("x", 300))
	}
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState)})
	n := r.pull("many", githubtest.Files{"net/many.tf": many})
	r.expect("the plan", r.status(n), "400 to add")
	state := `{"version":4,"terraform_version":"1.11.4","serial":3,"lineage":"by-hand","outputs":{},"resources":[{"mode":"managed","type":"terraform_data","name":"old","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"1","input":null,"output":null,"triggers_replace":null}}]}],"check_results":null}`
	if _, err := r.stack.S3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("states"), Key: aws.String(netState), Body: strings.NewReader(state)}); err != nil {
		t.Fatal(err)
	}
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Not applied**")
	r.expect("the other plan", r.status(n), "400 to add", "1 to destroy")
	put := ""
	for _, q := range r.stack.Requests() {
		if q.Function == "apply" && q.Action == "s3:PutObject" {
			put += q.Resource + "\n"
		}
	}
	r.expect("what the apply function put", put, "/plan\n", "/report.md\n", "/full.txt\n", "/inputs.json\n")
}
