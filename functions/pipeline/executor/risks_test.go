package executor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// TestRisksOfAPlan holds that a plan's risks are shown before the plan, are facts for requirements, and reach
// policies: when the plan is made, and again from the saved plan before its apply.
func TestRisksOfAPlan(t *testing.T) {
	t.Parallel()
	const before = `variable "key" {
  default   = "hunter2-key"
  sensitive = true
}
resource "terraform_data" "kept" {}
resource "terraform_data" "gone" {
  for_each = toset(["a", "hunter2-key"])
}
resource "terraform_data" "new" {
  triggers_replace = "one"
}
`
	b := newBench(t, map[string]string{"net/main.tf": before})
	if o := b.apply(b.plan().Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	after := strings.Replace(strings.Replace(before, `["a", "hunter2-key"]`, `[]`, 1), `"one"`, `"two"`, 1)
	b.write(map[string]string{"net/main.tf": after})
	if res := b.plan(); strings.Contains(res.Report, "Risk") || res.Content.Risks != nil || res.Content.Assessment != requirements.AssessmentOf(nil) {
		t.Errorf("terraform_data keeps no data: %+v\n%s", res.Content, res.Report)
	}
	b.job.Stateful = []string{"terraform_data"}
	b.job.Policies = []jobs.Policy{{Policy: requirements.Policy{Name: "p"}, Files: map[string][]byte{"p.rego": []byte(`package main

deny contains msg if {
  some r in input.lockstep.risks
  not r.may
  msg := sprintf("%s %s %s", [r.name, r.address, r.text])
}

warn contains msg if {
  msg := sprintf("%d changes", [count(input.resource_changes)])
}
`)}}}
	res := b.plan()
	lines := "- **Risk** `stateful-destroy`: destroys an object of the type `terraform_data` (`terraform_data.gone[\"a\"]`, `terraform_data.gone[\"(sensitive value)\"]`)\n" +
		"- **Risk** `stateful-replace`: replaces an object of the type `terraform_data` (`terraform_data.new`)\n\n"
	if !strings.HasPrefix(res.Report, lines) {
		t.Errorf("%s\nwant %s", res.Report, lines)
	}
	want := &runs.Content{
		Changes: 4, Destroys: 3, Destroyed: []string{"terraform_data"}, Assessment: requirements.AssessmentOf([]string{"terraform_data"}),
		Risks: []runs.Risk{{Name: "stateful-destroy", Objects: []string{`terraform_data.gone["a"]`, `terraform_data.gone["(sensitive value)"]`}}, {Name: "stateful-replace", Objects: []string{"terraform_data.new"}}},
		Judgements: []runs.Judgement{{Name: "p", ID: b.job.Policies[0].ID(), Warned: []string{"4 changes"}, Denied: []string{
			`stateful-destroy terraform_data.gone["(sensitive value)"] destroys an object of the type` + " `terraform_data`",
			`stateful-destroy terraform_data.gone["a"] destroys an object of the type` + " `terraform_data`",
			"stateful-replace terraform_data.new replaces an object of the type `terraform_data`",
		}}},
	}
	if diff := cmp.Diff(want, res.Content); diff != "" {
		t.Errorf("when it is planned (-want +got)\n%s", diff)
	}
	now, _, _ := b.again(res.Plan)
	if diff := cmp.Diff(want, now.Content); diff != "" {
		t.Errorf("before it is applied (-want +got)\n%s", diff)
	}
}

// TestRadiusOfAPlan holds that a plan that replaces something says what depends on it, and another plan does not.
func TestRadiusOfAPlan(t *testing.T) {
	t.Parallel()
	const config = `resource "terraform_data" "root" {
  input            = "%INPUT"
  triggers_replace = "%TRIGGER"
}
resource "terraform_data" "between" {
  count      = 2
  depends_on = [terraform_data.root]
}
resource "terraform_data" "end" {
  depends_on = [terraform_data.between]
}
`
	write := func(input, trigger string) map[string]string {
		return map[string]string{"net/main.tf": strings.NewReplacer("%INPUT", input, "%TRIGGER", trigger).Replace(config)}
	}
	b := newBench(t, write("a", "a"))
	b.job.Readers = []string{"app", "dns"}
	if o := b.apply(b.plan().Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	b.write(write("b", "a"))
	if res := b.plan(); strings.Contains(res.Report, "depend") || strings.Contains(res.Report, "read the outputs") {
		t.Errorf("an update in place: %s", res.Report)
	}
	b.write(write("b", "b"))
	const want = "3 other objects depend on what changes. 2 projects read the outputs of this one: `app`, `dns`.\n\n" +
		"<details><summary>The dependents as a picture</summary>\n\n```mermaid\nflowchart LR\n" +
		"n0[\"terraform_data.between (2)\"]\nn1[\"terraform_data.end\"]\nn2[\"terraform_data.root: replaced\"]\n" +
		"n0 --> n1\nn2 --> n0\nclassDef changed stroke-width:4px\nclass n2 changed\n```\n\n</details>\n\n"
	if res := b.plan(); !strings.HasPrefix(res.Report, want) {
		t.Errorf("a replacement: %s\nwant %s", res.Report, want)
	}
}
