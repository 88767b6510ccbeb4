package deploying

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// examine runs deploy doctor.
func (s *stage) examine(args ...string) result {
	s.t.Helper()
	return s.runWith(doctor, "", args...)
}

// TestDoctor examines a good installation, and then one that everything was done to.
func TestDoctor(t *testing.T) {
	s := newStage(t)
	s.want(s.examine(), 1, "the stack lockstep does not exist in eu-central-1", "run `lockstep deploy` to create this one")
	plan := s.account.AddRole("plan-target", `{"Principal":{"AWS":"arn:aws:iam::111122223333:role/plan"}}`)
	s.want(s.run("", s.options("-parameter=PlanTargetRoleArn="+plan)...), 0)
	s.want(s.examine(), 1, "the App is not installed on any account", "/apps/lockstep-acme/installations/new")
	s.hub.AddRepository("acme", "infra", nil)
	s.want(s.examine(), 0, "No problems found in the stack lockstep in eu-central-1")

	s.account.SwapFunction("lockstep-ApplyFunction")
	s.account.Queue("EventsDead", map[string]string{"ApproximateNumberOfMessages": "2"})
	s.account.Queue("lockstep-Plans", map[string]string{"Policy": "", "RedrivePolicy": ""})
	s.account.Loosen()
	s.account.AddRole("plan-target", `{"Principal":{"AWS":"arn:aws:iam::111122223333:role/other"}}`)
	s.account.SetClock(7 * time.Minute)
	s.hub.Withdraw("checks")
	s.hub.SetWebhook("https://elsewhere.example/")
	s.want(s.examine(), 1, "the function lockstep-ApplyFunction does not run the code", "the queue EventsDead has 2 dead letters",
		"the queue Plans has no queue for dead letters", "the policy of the queue Plans does not require TLS",
		"the bucket of plans, lockstep-artifacts-1a2b, does not keep versions", "is not encrypted with a KMS key", "does not block public access",
		"its trust policy does not name", "the clock of this machine differs by ", "from the clock of AWS",
		"the App lacks the permissions checks: write", `the webhook address of the App is "https://elsewhere.example/"`)
}

// TestDoctorPage examines the secret of the page.
func TestDoctorPage(t *testing.T) {
	s := newStage(t)
	s.hub.AddRepository("acme", "infra", nil)
	for _, x := range []struct{ value, want string }{
		{"a word", "it is not a JSON object"},
		{`{"key":"short"}`, "the key of the page is shorter than 32 characters"},
		{`{"key":"0123456789abcdef0123456789abcdef","client_id":"Iv23li"}`, "it needs client_id and client_secret, or neither of them"},
		{`{"key":"0123456789abcdef0123456789abcdef"}`, ""},
	} {
		arn := s.account.SetSecret("lockstep/page", x.value)
		s.want(s.run("", s.options("-parameter=PageSecretArn="+arn)...), 0)
		if x.want == "" {
			s.want(s.examine(), 0, "No problems found")
			continue
		}
		r := s.examine()
		s.want(r, 1, "the page does not start, because its secret "+arn+" is wrong: ", x.want, "lockstep docs operate/page")
		if strings.Contains(r.out, x.value) {
			t.Error("the doctor shows the secret")
		}
	}
}

// TestDoctorMayNotLook refuses each action: the doctor says so, and examines the rest.
func TestDoctorMayNotLook(t *testing.T) {
	s := newStage(t)
	s.want(s.run("", s.options("-parameter=ApplyTargetRoleArn=arn:aws:iam::111122223333:role/missing")...), 0)
	s.hub.AddRepository("acme", "infra", nil)
	s.want(s.examine(), 1, "the role of applies, arn:aws:iam::111122223333:role/missing, cannot be assumed: the role does not exist")
	for action, want := range map[string]string{
		"secretsmanager:GetSecretValue":         "the App cannot be examined: read the secret",
		"cloudformation:DescribeStackResources": "the stack's resources cannot be examined",
		"sqs:GetQueueAttributes":                "EventsDead cannot be examined",
		"lambda:GetFunctionConfiguration":       "PlanFunction cannot be examined",
		"s3:ListBucket":                         "Artifacts cannot be examined: the bucket lockstep-artifacts-1a2b does not exist, or you have no access to it",
		"s3:GetEncryptionConfiguration":         "ask how the bucket lockstep-artifacts-1a2b encrypts",
		"iam:GetRole":                           "the role of applies cannot be examined",
		"cloudformation:DescribeStacks":         "the stack cannot be examined",
	} {
		s.account.Refuse(action)
		s.want(s.examine(), 1, want)
		s.account.Allow()
	}
	s.github = func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, `{"message":"Bad credentials"}`, http.StatusForbidden)
		return true
	}
	s.want(s.examine(), 1, "the App cannot be examined: ask for the setup of the GitHub App")
}
