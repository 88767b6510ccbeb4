package program

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// States in Google Cloud Storage are the stock tool's, too. No secret of the block is shown.
func TestGCSBackend(t *testing.T) {
	t.Parallel()
	url := statebackendtest.StartFakeGCS(t)
	d := newLab(t, "main.tf", labHead+`
terraform {
  backend "gcs" {
    bucket = "states"
    prefix = "network"
  }
}
resource "lab_thing" "a" {
  name = "a"
}
output "a" {
  value = lab_thing.a.name
}
`)
	const secret = "s3cr3t"
	d.set("STORAGE_EMULATOR_HOST=" + strings.TrimPrefix(url, "http://"))
	want := func(code int, line string, says ...string) {
		t.Helper()
		if r := d.want(code, line, says...); strings.Contains(r.Out+r.Stderr, secret) {
			t.Errorf("lockstep %s shows a secret:\n%s%s", line, r.Out, r.Stderr)
		}
	}
	want(0, "init", `Successfully configured the backend "gcs"!`)
	want(0, "apply -auto-approve", "1 added, 0 changed, 0 destroyed")
	want(0, "plan -detailed-exitcode", "No changes")
	want(0, "workspace new staging")
	want(0, "workspace list", "default", "* staging")
	want(0, "workspace select default")
	want(0, "workspace delete staging")
	if out, code, ran := d.stock("plan", "-no-color", "-detailed-exitcode"); ran && code != 0 {
		t.Errorf("the stock tool: %d %s", code, out)
	}

	reader := newLab(t, "main.tf", `data "terraform_remote_state" "a" {
  backend = "gcs"
  config = {
    bucket                  = "states"
    prefix                  = "network"
    access_token            = "`+secret+`"
    storage_custom_endpoint = "`+url+`"
  }
}
output "a" {
  value = data.terraform_remote_state.a.outputs.a
}
`)
	reader.want(0, "init")
	reader.want(0, "plan", `+ a = "a"`)

	want(1, "init -reconfigure -backend-config=credentials="+secret, "credentials: the key of a service account (JSON)")
	want(1, "init -reconfigure -backend-config=encryption_key="+secret, "encryption_key: a key of 32 bytes in base64")
	want(1, "init -reconfigure -backend-config=impersonate_service_account=x", "Lockstep does not support this attribute", "gcloud auth application-default login --impersonate-service-account=ACCOUNT")
}
