package program

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

const behindHTTP = `terraform {
  backend "http" {
  }
}
resource "terraform_data" "a" {
  input = "one"
}
output "a" {
  value = terraform_data.a.output
}
`

// A state behind an HTTP address, as GitLab keeps it, is planned and applied under its
// lock, and is the stock tool's, too.
func TestHTTPBackend(t *testing.T) {
	t.Parallel()
	h := (&statebackendtest.HTTP{Username: "alice", Password: "s3cr3t!"}).Start(t)
	d := newLab(t, "main.tf", behindHTTP)
	d.set("TF_HTTP_ADDRESS="+h.URL, "TF_HTTP_LOCK_ADDRESS="+h.URL+"/lock", "TF_HTTP_UNLOCK_ADDRESS="+h.URL+"/lock",
		"TF_HTTP_USERNAME=alice", "TF_HTTP_PASSWORD=s3cr3t!", "TF_HTTP_RETRY_MAX=0")
	d.want(0, "init", `Successfully configured the backend "http"!`)
	d.want(0, "apply -auto-approve", "1 added, 0 changed, 0 destroyed")
	if !strings.Contains(h.State(), `"value": "one"`) {
		t.Errorf("the state: %s", h.State())
	}
	d.want(0, "plan -detailed-exitcode", "No changes")
	d.want(1, "workspace new staging", "Workspaces not supported")

	h.SetLock(`{"ID":"1b2c","Operation":"OperationTypeApply","Who":"bob@laptop","Version":"1.11.4","Created":"2026-01-02T03:04:05Z","Path":"x"}`)
	d.want(1, "plan", "Error acquiring the state lock", "bob@laptop", "1b2c")
	d.want(0, "force-unlock -force 1b2c")
	d.want(0, "destroy -auto-approve", "1 destroyed")

	if out, code, ran := d.stock("plan", "-detailed-exitcode"); ran && (code != 2 || !strings.Contains(out, "1 to add")) {
		t.Errorf("the stock tool: %d %s", code, out)
	}
}
