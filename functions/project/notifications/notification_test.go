package notifications

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

const (
	topic = "arn:aws:sns:eu-west-1:123456789012:lockstep-call-applies"
	slack = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:lockstep-call/slack"
)

func read(t *testing.T, src string) ([]Notification, hcl.Diagnostics) {
	t.Helper()
	f, ds := hclparse.NewParser().ParseHCL([]byte(src), "lockstep.hcl")
	if ds.HasErrors() {
		t.Fatal(src, ds)
	}
	content, ds := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "notify", LabelNames: []string{"name"}}}})
	if ds.HasErrors() {
		t.Fatal(src, ds)
	}
	return Parse(content.Blocks)
}

// TestParse reads notifications of each kind.
func TestParse(t *testing.T) {
	t.Parallel()
	got, ds := read(t, fmt.Sprintf(`
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
`, slack, topic))
	want := []Notification{
		{"chat", []Outcome{ApplyFailed, PlanFailed}, []string{"prod-*"}, endpoints.Endpoint{Slack: slack, Timeout: 10 * time.Second}},
		{"topic", []Outcome{Applied}, nil, endpoints.Endpoint{Topic: topic, Timeout: 5 * time.Second}},
	}
	if diff := cmp.Diff(want, got); diff != "" || ds.HasErrors() {
		t.Error(ds, diff)
	}
}

// TestMistakes is the table of blocks that are refused.
func TestMistakes(t *testing.T) {
	t.Parallel()
	const on = "  on = [\"applied\"]\n"
	for body, want := range map[string]string{
		"  topic = \"" + topic + "\"\n":                           `The argument "on" lists the outcomes to tell of: planned, unchanged, plan_failed`,
		"  on = [\"after_apply\"]\n  topic = \"" + topic + "\"\n": `"after_apply" is no outcome`,
		on: "has one of the arguments slack, topic, url, function, program",
		on + "  topic = \"" + topic + "\"\n  slack = \"" + slack + "\"\n":  "has one of the arguments",
		on + "  topic = \"" + topic + ".fifo\"\n":                          "is no FIFO topic",
		on + "  topic = \"" + slack + "\"\n":                               "named by its ARN",
		on + "  slack = \"https://hooks.slack.com/services/T0/B0/x\"\n":    "The secret is named by its ARN",
		on + "  slack = \"" + slack + "\"\n  secret = \"" + slack + "\"\n": "Only requests to webhooks are signed",
		on + "  topic = \"" + topic + "\"\n  override = [\"a\"]\n":         "Its arguments are on, projects, slack, topic, url, function, program, secret, timeout",
	} {
		if got, ds := read(t, "notify \"a\" {\n"+body+"}\n"); !strings.Contains(fmt.Sprint(ds), want) || len(got) > 0 {
			t.Errorf("%s: %v", body, ds)
		}
	}
}
