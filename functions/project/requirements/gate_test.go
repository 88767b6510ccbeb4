package requirements

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

// TestParseGates reads gate blocks, right ones and others.
func TestParseGates(t *testing.T) {
	t.Parallel()
	parse := func(src string) ([]Requirement, hcl.Diagnostics) {
		f, ds := hclparse.NewParser().ParseHCL([]byte(src), "lockstep.hcl")
		if ds.HasErrors() {
			t.Fatal(src, ds)
		}
		content, ds := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "gate", LabelNames: []string{"name"}}}})
		if ds.HasErrors() {
			t.Fatal(src, ds)
		}
		return ParseGates(content.Blocks)
	}
	const function, secret = "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:lockstep-call-cost:live", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:lockstep-call/cost-AbCdEf"
	hook := fmt.Sprintf("  url = \"https://cost.example/x?y\"\n  secret = %q\n", secret)
	got, ds := parse(fmt.Sprintf("gate \"a\" {\n  function = %q\n}\ngate \"b\" {\n%s  timeout = \"1m\"\n  projects = [\"prod-*\"]\n  override = [\"acme/sre\"]\n}\n", function, hook))
	want := []Requirement{
		{Command: "apply", At: "lockstep.hcl:1", Rules: Rules{Gate: &Gate{"a", endpoints.Endpoint{Function: function, Timeout: 10 * time.Second}}}},
		{
			Command: "apply", At: "lockstep.hcl:4", Projects: []string{"prod-*"}, Override: []Party{{Org: "acme", Team: "sre"}},
			Rules: Rules{Gate: &Gate{"b", endpoints.Endpoint{URL: "https://cost.example/x?y", Secret: secret, Timeout: time.Minute}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || ds.HasErrors() {
		t.Fatal(ds, diff)
	}
	if got[0].Gate.ID() == got[1].Gate.ID() || len(got[0].Gate.ID()) != 32 {
		t.Errorf("the IDs are %s and %s", got[0].Gate.ID(), got[1].Gate.ID())
	}
	many := ""
	for i := range maxGates + 1 {
		many += fmt.Sprintf("gate \"g%d\" {\n%s}\n", i, hook)
	}
	for body, want := range map[string]string{
		"": "has one of the arguments function, url",
		hook + "  function = \"" + function + "\"\n":                                  "has one of the arguments function, url",
		"  url = \"https://cost.example\"\n":                                          "Requests to a webhook are signed",
		"  function = \"" + function + "\"\n  secret = \"" + secret + "\"\n":          "Only requests to webhooks are signed",
		"  function = \"cost\"\n":                                                     "is named by its ARN",
		"  function = \"arn:aws:lambda:eu-west-1:123456789012:layer:cost\"\n":         "is named by its ARN",
		"  function = \"arn:aws:lambda:eu-west-1:123456789012:function:a/../../b\"\n": "is named by its ARN",
		"  function = \"arn:aws:s3:::bucket\"\n":                                      "is named by its ARN",
		"  function = 1\n":                                                            "must be a text",
		"  url = \"http://cost.example\"\n  secret = \"" + secret + "\"\n":            "begins with https://",
		"  url = \"https:///x\"\n  secret = \"" + secret + "\"\n":                     "begins with https://",
		"  url = \"https://me:pw@cost.example\"\n  secret = \"" + secret + "\"\n":     "no user and no password",
		"  url = \"https://cost.example\"\n  secret = \"whsec_abc\"\n":                "is named by its ARN in Secrets Manager",
		hook + "  timeout = \"61s\"\n":                                                "from 1s to 60s",
		hook + "  timeout = \"0s\"\n":                                                 "from 1s to 60s",
		hook + "  timeout = \"soon\"\n":                                               "from 1s to 60s",
		hook + "  timeout = 5\n":                                                      "must be a text",
		hook + "  projects = []\n":                                                    "\"projects\" is empty",
		hook + "  override = []\n":                                                    "\"override\" is empty",
		hook + "  approvals = 1\n":                                                    "Its arguments are projects, override, function, url, secret, timeout",
	} {
		got, ds := parse("gate \"a\" {\n" + body + "}\n")
		if !strings.Contains(fmt.Sprint(ds), want) || len(got) > 0 {
			t.Errorf("%s: %v", body, ds)
		}
	}
	for src, want := range map[string]string{
		many:                              "at most 10 are allowed",
		"gate \"a b\" {\n" + hook + "}\n": "The name consists of",
		"gate \"a\" {\n" + hook + "}\ngate \"a\" {\n" + hook + "}\n": "Another gate block has the name \"a\"",
	} {
		if got, ds := parse(src); !strings.Contains(fmt.Sprint(ds), want) || len(got) > maxGates {
			t.Errorf("%s: %v", src, ds)
		}
	}
}
