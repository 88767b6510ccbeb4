//go:build linux

package lambdatest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestStateOfAnotherAccount plans and applies a project whose backend block has an assume_role: the state is read and
// written by that role and no other, with a session for this state alone; a pull request's change of the role
// does not count.
func TestStateOfAnotherAccount(t *testing.T) {
	t.Parallel()
	const key = "theirs/terraform.tfstate"
	var asked []string
	r := newRoad(t, githubtest.Files{}, func(o *lambdatest.StackOptions) {
		o.Parameters["StateRolePattern"] = "arn:aws:iam::*:role/acme-states"
		o.OtherRoles = func(role, action, resource string) bool {
			asked = append(asked, role+" "+action)
			return role == "acme-states-222222222222"
		}
	})
	role := r.account.AddRoleOf("222222222222", "acme-states", lambdatest.Trust{ExternalID: "of theirs", Repository: "acme/infra"})
	r.account.AddRoleOf("444444444444", "acme-states", lambdatest.Trust{})
	backend := func(role string) string {
		return "terraform {\n  backend \"s3\" {\n    bucket         = \"states\"\n    key            = \"" + key + "\"\n    region         = \"us-east-1\"\n    use_lockfile   = true\n    use_path_style = true\n" +
			"    assume_role    = { role_arn = \"" + role + "\", external_id = \"of theirs\" }\n  }\n}\n"
	}
	r.repo.Push("alice", "main", "settings", githubtest.Files{"theirs/main.tf": backend(role)})
	n := r.pull("one", githubtest.Files{
		"theirs/main.tf": backend("arn:aws:iam::444444444444:role/acme-states"), "theirs/a.tf": "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n",
	})
	r.expect("the plan", r.status(n), "1 to add", "`assume_role`", "The change takes effect after the merge")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied** `theirs`")
	if state := r.state(key); !strings.Contains(state, "terraform_data") {
		t.Errorf("the state: %s", state)
	}
	slices.Sort(asked)
	if got := slices.Compact(asked); slices.ContainsFunc(got, func(s string) bool { return !strings.HasPrefix(s, "acme-states-222222222222 ") }) || !slices.Contains(got, "acme-states-222222222222 s3:PutObject") {
		t.Errorf("requests: %q", got)
	}
	for _, a := range r.account.Assumed() {
		if strings.HasSuffix(a.Role, "acme-states") && !strings.Contains(a.Policy, ":s3:::states/"+key+`"`) {
			t.Errorf("a session of %s with the policy %q", a.Role, a.Policy)
		}
	}
}
