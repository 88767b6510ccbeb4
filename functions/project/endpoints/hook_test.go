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
	hookFunction = "arn:aws:lambda:eu-west-1:123456789012:function:lockstep-hook-ticket"
	hookSecret   = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:lockstep-hook/chat"
)

func parsedHooks(t *testing.T, src string) ([]Hook, hcl.Diagnostics) {
	t.Helper()
	f, ds := hclparse.NewParser().ParseHCL([]byte(src), "lockstep.hcl")
	if ds.HasErrors() {
		t.Fatal(src, ds)
	}
	content, ds := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "hook", LabelNames: []string{"name"}}}})
	if ds.HasErrors() {
		t.Fatal(src, ds)
	}
	return ParseHooks(content.Blocks)
}

// TestParseHooks reads hooks of each kind.
func TestParseHooks(t *testing.T) {
	t.Parallel()
	got, ds := parsedHooks(t, fmt.Sprintf(`
hook "ticket" {
  on       = ["after_apply", "before_apply", "after_apply"]
  function = %q
  projects = ["prod-*"]
}
hook "chat" {
  on      = ["before_plan"]
  url     = "https://chat.example/x"
  secret  = %q
  timeout = "30s"
}
hook "local" {
  on      = ["after_plan"]
  program = "notify.sh"
}
`, hookFunction, hookSecret))
	want := []Hook{
		{"ticket", []HookEvent{BeforeApply, AfterApply}, []string{"prod-*"}, Endpoint{Function: hookFunction, Timeout: 10 * time.Second}},
		{"chat", []HookEvent{BeforePlan}, nil, Endpoint{URL: "https://chat.example/x", Secret: hookSecret, Timeout: 30 * time.Second}},
		{"local", []HookEvent{AfterPlan}, nil, Endpoint{Program: "notify.sh", Timeout: 10 * time.Second}},
	}
	if diff := cmp.Diff(want, got); diff != "" || ds.HasErrors() {
		t.Error(ds, diff)
	}
}

// TestHookMistakes is the table of blocks that are refused.
func TestHookMistakes(t *testing.T) {
	t.Parallel()
	const on, program = "  on = [\"before_plan\"]\n", "  program = \"a\"\n"
	for body, want := range map[string]string{
		program:                         `The argument "on" lists the events`,
		program + "  on = []\n":         `"on" is empty`,
		program + "  on = [\"plan\"]\n": `"plan" is no event of hooks, which are before_plan, after_plan, before_apply, after_apply`,
		program + "  on = \"plan\"\n":   "list of texts",
		on:                              "has one of the arguments function, url, program",
		on + program + "  function = \"" + hookFunction + "\"\n":          "has one of the arguments function, url, program",
		on + program + "  secret = \"" + hookSecret + "\"\n":              "Only requests to webhooks are signed",
		on + "  url = \"https://chat.example\"\n":                         "Requests to a webhook are signed",
		on + "  program = \"../notify\"\n":                                "the name of a file",
		on + "  program = \"/bin/sh\"\n":                                  "the name of a file",
		on + "  program = \"sh -c x\"\n":                                  "the name of a file",
		on + "  program = \".\"\n":                                        "the name of a file",
		on + "  program = \"\"\n":                                         "the name of a file",
		on + program + "  projects = []\n":                                `"projects" is empty`,
		on + program + "  override = [\"a\"]\n":                           "Its arguments are on, projects, function, url, program, secret, timeout",
		on + program + "  timeout = \"1h\"\n":                             "from 1s to 60s",
		on + "  program = \"a\"\n  url = \"x\"\n  function = \"" + "\"\n": "",
	} {
		got, ds := parsedHooks(t, "hook \"a\" {\n"+body+"}\n")
		if !ds.HasErrors() || !strings.Contains(strings.ToLower(fmt.Sprint(ds)), strings.ToLower(want)) || len(got) > 0 {
			t.Errorf("%s: %v", body, ds)
		}
	}
	many := ""
	for i := range maxHooks + 1 {
		many += fmt.Sprintf("hook \"h%d\" {\n%s%s}\n", i, on, program)
	}
	for src, want := range map[string]string{
		many:                                   "at most 10 are allowed",
		"hook \"\" {\n" + on + program + "}\n": "Invalid name of a hook",
		"hook \"a\" {\n" + on + program + "}\nhook \"a\" {\n" + on + program + "}\n": "Another hook block has the name \"a\"",
	} {
		if got, ds := parsedHooks(t, src); !strings.Contains(fmt.Sprint(ds), want) || len(got) > maxHooks {
			t.Errorf("%s: %v", src, ds)
		}
	}
}
