package executor

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPlanJSON gives the plan of a job as JSON, if it is needed, and without sensitive values.
func TestPlanJSON(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": `variable "key" {
  default   = "hunter2-key"
  sensitive = true
}
resource "terraform_data" "a" {
  input = "b-${var.key}"
}
output "plain" {
  value = nonsensitive("c-${var.key}")
}
`})
	if res := b.plan(); res.Plan == nil || res.JSON != nil {
		t.Fatalf("nobody needs it: %s", res.JSON)
	}
	b.job.PlanJSON = true
	res := b.plan()
	var doc struct {
		Version string                     `json:"format_version"`
		Changes []struct{ Address string } `json:"resource_changes"`
	}
	if err := json.Unmarshal(res.JSON, &doc); err != nil || doc.Version == "" || len(doc.Changes) != 1 || doc.Changes[0].Address != "terraform_data.a" {
		t.Errorf("%v: %s", err, res.JSON)
	}
	if strings.Contains(string(res.JSON), "hunter2") {
		t.Errorf("it has a secret: %s", res.JSON)
	}
}
