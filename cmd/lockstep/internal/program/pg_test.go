package program

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

const inPostgres = labHead + `
terraform {
  backend "pg" {}
}
variable "trouble" {
  default = null
}
resource "lab_thing" "a" {
  name    = "a"
  trouble = var.trouble
}
output "a" {
  value = lab_thing.a.name
}
`

// States in PostgreSQL are the stock tool's, too. A killed apply leaves no lock.
func TestPostgresBackend(t *testing.T) {
	t.Parallel()
	connection := statebackendtest.StartPostgres(t)
	d := newLab(t, "main.tf", inPostgres)
	d.set("PG_CONN_STR=" + connection)
	want := func(code int, line string, says ...string) {
		t.Helper()
		if r := d.want(code, line, says...); strings.Contains(r.Out+r.Stderr, statebackendtest.SecretKey) {
			t.Errorf("lockstep %s shows the password:\n%s%s", line, r.Out, r.Stderr)
		}
	}
	want(0, "init", `Successfully configured the backend "pg"!`)
	want(0, "apply -auto-approve", "1 added, 0 changed, 0 destroyed")
	want(0, "plan -detailed-exitcode", "No changes")
	want(0, "workspace new staging")
	want(0, "workspace list", "default", "* staging")
	want(0, "workspace select default")
	want(0, "workspace delete staging")
	if out, code, ran := d.stock("plan", "-no-color", "-detailed-exitcode"); ran && code != 0 {
		t.Errorf("the stock tool: %d %s", code, out)
	}

	r := d.start("apply -auto-approve -replace=lab_thing.a -var=trouble=create-60000")
	programtest.WaitFor(t, "the object is destroyed, and the next one begun", func() bool {
		names, err := filepath.Glob(d.file("lab/lab_thing/*.json"))
		return err == nil && len(names) == 0
	})
	want(1, "plan", "Error acquiring the state lock", "lock of a database session", "OperationTypeApply")
	r.signal(syscall.SIGKILL)
	r.end()
	want(0, "plan -lock-timeout=20s", "1 to add")
	want(0, "apply -auto-approve")

	reader := newLab(t, "main.tf", `data "terraform_remote_state" "a" {
  backend = "pg"
  config = {
    conn_str = "`+connection+`"
  }
}
output "a" {
  value = data.terraform_remote_state.a.outputs.a
}
`)
	reader.want(0, "init")
	reader.want(0, "plan", `+ a = "a"`)

	d.set("PG_CONN_STR=" + strings.Replace(connection, statebackendtest.SecretKey, "wr0ng%", 1))
	want(1, "init -reconfigure", "conn_str: it cannot be read", "Give the password in PGPASSWORD")
	d.set("PG_CONN_STR=" + strings.Replace(connection, statebackendtest.SecretKey, "wr0ng", 1))
	want(1, "plan", "access denied", "Check the user in conn_str and the password in PGPASSWORD")
}
