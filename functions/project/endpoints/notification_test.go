package endpoints

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
)

const (
	snsTopic    = "arn:aws:sns:eu-west-1:123456789012:lockstep-call-applies"
	slackSecret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:lockstep-call/slack"
)

func parsedNotifications(t *testing.T, src string) ([]Notification, hcl.Diagnostics) {
	t.Helper()
	f, ds := hclparse.NewParser().ParseHCL([]byte(src), "lockstep.hcl")
	if ds.HasErrors() {
		t.Fatal(src, ds)
	}
	content, ds := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "notify", LabelNames: []string{"name"}}}})
	if ds.HasErrors() {
		t.Fatal(src, ds)
	}
	return ParseNotifications(content.Blocks)
}

// TestParseNotifications reads notifications of each kind.
func TestParseNotifications(t *testing.T) {
	t.Parallel()
	got, ds := parsedNotifications(t, fmt.Sprintf(`
notify "chat" {
  on       = ["apply_failed", "plan_failed"]
  slack    = %q
  projects = ["prod-*"]
}
notify "topic" {
  on      = ["applied"]
  topic   = %q
  timeout = "5s"
}
`, slackSecret, snsTopic))
	want := []Notification{
		{"chat", []Outcome{OutcomeApplyFailed, OutcomePlanFailed}, []string{"prod-*"}, Endpoint{Slack: slackSecret, Timeout: 10 * time.Second}},
		{"topic", []Outcome{OutcomeApplied}, nil, Endpoint{Topic: snsTopic, Timeout: 5 * time.Second}},
	}
	if diff := cmp.Diff(want, got); diff != "" || ds.HasErrors() {
		t.Error(ds, diff)
	}
}

// TestNotificationMistakes is the table of blocks that are refused.
func TestNotificationMistakes(t *testing.T) {
	t.Parallel()
	const on = "  on = [\"applied\"]\n"
	for body, want := range map[string]string{
		"  topic = \"" + snsTopic + "\"\n":                           `The argument "on" lists the outcomes to tell of: planned, unchanged, plan_failed`,
		"  on = [\"after_apply\"]\n  topic = \"" + snsTopic + "\"\n": `"after_apply" is no outcome`,
		on: "has one of the arguments slack, topic, url, function, program",
		on + "  topic = \"" + snsTopic + "\"\n  slack = \"" + slackSecret + "\"\n":     "has one of the arguments",
		on + "  topic = \"" + snsTopic + ".fifo\"\n":                                   "is no FIFO topic",
		on + "  topic = \"" + slackSecret + "\"\n":                                     "named by its ARN",
		on + "  slack = \"https://hooks.slack.com/services/T0/B0/x\"\n":                "The secret is named by its ARN",
		on + "  slack = \"" + slackSecret + "\"\n  secret = \"" + slackSecret + "\"\n": "Only requests to webhooks are signed",
		on + "  topic = \"" + snsTopic + "\"\n  override = [\"a\"]\n":                  "Its arguments are on, projects, slack, topic, url, function, program, secret, timeout",
	} {
		if got, ds := parsedNotifications(t, "notify \"a\" {\n"+body+"}\n"); !strings.Contains(fmt.Sprint(ds), want) || len(got) > 0 {
			t.Errorf("%s: %v", body, ds)
		}
	}
}
