package deploying

import (
	"net/http"
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
	s.want(s.examine(), 1, "there is no stack lockstep in eu-central-1", "`lockstep deploy` makes one")
	plan := s.account.AddRole("plan-target", `{"Principal":{"AWS":"arn:aws:iam::111122223333:role/plan"}}`)
	s.want(s.run("", s.options("-parameter=PlanTargetRoleArn="+plan)...), 0)
	s.want(s.examine(), 1, "the App is installed nowhere", "/apps/lockstep-acme/installations/new")
	s.hub.AddRepository("acme", "infra", nil)
	s.want(s.examine(), 0, "Nothing is wrong with the stack lockstep in eu-central-1")

	s.account.SwapFunction("lockstep-ApplyFunction")
	s.account.Queue("EventsDead", map[string]string{"ApproximateNumberOfMessages": "2"})
	s.account.Queue("lockstep-Plans", map[string]string{"Policy": "", "RedrivePolicy": ""})
	s.account.Loosen()
	s.account.AddRole("plan-target", `{"Principal":{"AWS":"arn:aws:iam::111122223333:role/other"}}`)
	s.account.SetClock(7 * time.Minute)
	s.hub.Withdraw("checks")
	s.hub.SetWebhook("https://elsewhere.example/")
	s.want(s.examine(), 1, "the function lockstep-ApplyFunction runs other code", "the queue EventsDead has 2 dead letters",
		"the queue Plans has no queue for dead letters", "the policy of the queue Plans does not demand TLS",
		"the bucket of plans, lockstep-artifacts-1a2b, keeps no versions", "is not encrypted with a key of KMS", "is not closed to the public",
		"its trust policy does not name", "this machine's clock differs by ", "from that of AWS",
		"the App lacks the permissions checks: write", `the webhooks of the App go to "https://elsewhere.example/"`)
}

// TestDoctorMayNotLook refuses each action: the doctor says so, and examines the rest.
func TestDoctorMayNotLook(t *testing.T) {
	s := newStage(t)
	s.want(s.run("", s.options("-parameter=ApplyTargetRoleArn=arn:aws:iam::111122223333:role/missing")...), 0)
	s.hub.AddRepository("acme", "infra", nil)
	s.want(s.examine(), 1, "the role of applies, arn:aws:iam::111122223333:role/missing, cannot be assumed: there is no such role")
	for action, want := range map[string]string{
		"secretsmanager:GetSecretValue":         "the App cannot be examined: read the secret",
		"cloudformation:DescribeStackResources": "the stack's resources cannot be examined",
		"sqs:GetQueueAttributes":                "EventsDead cannot be examined",
		"lambda:GetFunctionConfiguration":       "PlanFunction cannot be examined",
		"s3:ListBucket":                         "Artifacts cannot be examined: the bucket lockstep-artifacts-1a2b is not there, or you may not see it",
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
