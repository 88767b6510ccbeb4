package program

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A cloud is an S3 and a DynamoDB server of our own, and a backend block for them.
type cloud struct {
	s3       *statebackendtest.S3
	dynamodb *statebackendtest.DynamoDB
}

func newCloud(t *testing.T) cloud {
	return cloud{new(statebackendtest.S3).Start(t), new(statebackendtest.DynamoDB).Start(t)}
}

func (c cloud) attributes() map[string]any {
	return map[string]any{
		"bucket": "states", "key": "app/terraform.tfstate", "region": "us-east-1",
		"access_key": statebackendtest.AccessKey, "secret_key": statebackendtest.SecretKey,
		"endpoints":      map[string]any{"s3": c.s3.URL, "dynamodb": c.dynamodb.URL},
		"use_path_style": true, "skip_credentials_validation": true, "skip_requesting_account_id": true,
		"skip_metadata_api_check": true, "skip_region_validation": true,
		"dynamodb_table": "locks", "use_lockfile": true,
	}
}

// configuration has a partial backend block: the bucket and the keys are for init.
func (c cloud) configuration() string {
	return fmt.Sprintf(`
terraform {
  backend "s3" {
    key                         = "app/terraform.tfstate"
    region                      = "us-east-1"
    endpoints                   = { s3 = %q, dynamodb = %q }
    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
    dynamodb_table              = "locks"
    use_lockfile                = true
  }
}
resource "terraform_data" "a" {}
output "w" {
  value = terraform.workspace
}
`, c.s3.URL, c.dynamodb.URL)
}

func (c cloud) newDir(t *testing.T) programtest.Dir {
	d := programtest.NewDir(t, "main.tf", c.configuration(), "keys.hcl", c.keys())
	d.Must("init", "-no-color", "-input=false", "-backend-config=bucket=states", "-backend-config=keys.hcl")
	return d
}

// keys is a file with what the configuration keeps to itself.
func (c cloud) keys() string {
	return fmt.Sprintf("access_key = %q\nsecret_key = %q\n", statebackendtest.AccessKey, statebackendtest.SecretKey)
}

// The commands that work on the state work on one in S3.
func TestStateInS3(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	d := c.newDir(t)
	d.Must("apply", "-no-color", "-auto-approve")
	pulled := d.Must("state", "pull").Out
	d.Must("taint", "terraform_data.a")
	d.Must("untaint", "terraform_data.a")
	d.Must("state", "mv", "terraform_data.a", "terraform_data.b")
	if r := d.Must("state", "list"); r.Out != "terraform_data.b\n" {
		t.Errorf("state list: %s", r.Out)
	}
	d.Must("state", "rm", "terraform_data.b")
	d.Write("pulled.tfstate", pulled)
	if r := d.Run("state", "push", "pulled.tfstate"); r.Code != 1 || !strings.Contains(r.Stderr, "newer state") {
		t.Errorf("state push of an old state: exit code %d\n%s", r.Code, r.Stderr)
	}
	d.Must("state", "push", "-force", "pulled.tfstate")
	if r := d.Must("plan", "-no-color", "-detailed-exitcode"); !strings.Contains(r.Out, "No changes") {
		t.Errorf("plan after a push: %s", r.Out)
	}

	d.Must("workspace", "new", "dev")
	if r := d.Must("workspace", "list"); r.Out != "  default\n* dev\n\n" {
		t.Errorf("workspace list: %s", r.Out)
	}
	if r := d.Must("state", "pull"); !strings.Contains(r.Out, `"serial": 0`) {
		t.Errorf("state of a new workspace: %s", r.Out)
	}
	d.Must("apply", "-no-color", "-auto-approve")
	if r := d.Must("output", "-raw", "w"); r.Out != "dev" {
		t.Errorf("output in the workspace: %s", r.Out)
	}
	d.Must("destroy", "-no-color", "-auto-approve")
	d.Must("workspace", "select", "default")
	d.Must("workspace", "delete", "dev")
	if r := d.Must("workspace", "list"); r.Out != "* default\n\n" {
		t.Errorf("workspace list: %s", r.Out)
	}
	if left := c.dynamodb.Keys(); slices.ContainsFunc(left, func(k string) bool { return !strings.HasSuffix(k, "-md5") }) {
		t.Errorf("locks are left: %q", left)
	}
}

// A lock that its holder left behind is refused by name, and released by its ID, also
// where only a part of it is left.
func TestForceUnlockInS3(t *testing.T) {
	t.Parallel()
	const object = "states/app/terraform.tfstate"
	for _, gone := range []string{"nothing", "table item", "lock object"} {
		t.Run(gone, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t)
			d := c.newDir(t)
			b, err := s3.Open(t.Context(), c.attributes(), s3.Options{})
			if err != nil {
				t.Fatal(err)
			}
			w, err := b.Open(statebackend.DefaultWorkspace)
			if err != nil {
				t.Fatal(err)
			}
			info := statebackend.NewLockInfo("OperationTypeApply", "1.11.4")
			info.Who = "somebody@elsewhere"
			id, err := w.Lock(t.Context(), info)
			if err != nil {
				t.Fatal(err)
			}
			switch gone {
			case "table item":
				c.dynamodb.SetItem(object, nil)
			case "lock object":
				c.s3.SetObject(object+".tflock", nil)
			}
			if r := d.Run("plan", "-no-color"); r.Code != 1 || !strings.Contains(r.Stderr, "somebody@elsewhere") || !strings.Contains(r.Stderr, id) {
				t.Errorf("plan: exit code %d\n%s", r.Code, r.Stderr)
			}
			if r := d.Run("force-unlock", "-force", "another"); r.Code != 1 || !strings.Contains(r.Stderr, id) {
				t.Errorf("force-unlock of another lock: exit code %d\n%s", r.Code, r.Stderr)
			}
			d.Must("force-unlock", "-no-color", "-force", id)
			d.Must("apply", "-no-color", "-auto-approve")
			if r := d.Run("force-unlock", "-force", id); r.Code != 1 || !strings.Contains(r.Stderr, "not locked") {
				t.Errorf("force-unlock of nothing: exit code %d\n%s", r.Code, r.Stderr)
			}
		})
	}
}
