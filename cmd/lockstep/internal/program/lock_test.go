package program

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/local"
)

// While somebody holds the state's lock, nobody else writes the state, and is told
// who that is; who only reads is not in the way.
func TestCommandsRespectTheLock(t *testing.T) {
	t.Parallel()
	d := programtest.NewDir(t, "main.tf", `resource "terraform_data" "a" {}`)
	d.Must("init", "-no-color")
	d.Must("apply", "-no-color", "-auto-approve")
	before := d.Must("state", "pull").Out

	b, err := local.Open(nil, local.Options{Dir: d.Path})
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.11.4"))
	if err != nil {
		t.Fatal(err)
	}
	d.Write("state.json", before)
	for _, line := range []string{
		"plan -no-color", "apply -no-color -auto-approve", "destroy -no-color -auto-approve", "refresh", "import terraform_data.b id",
		"taint terraform_data.a", "untaint terraform_data.a", "state rm terraform_data.a", "state mv terraform_data.a terraform_data.b",
		"state push -force state.json", "state replace-provider -auto-approve terraform.io/builtin/terraform a/b",
	} {
		r := d.Run(strings.Fields(line)...)
		if line == "import terraform_data.b id" {
			continue // the address is refused before or after the lock
		}
		if r.Code != 1 || !strings.Contains(r.Stderr, "Error acquiring the state lock") || !strings.Contains(r.Stderr, id) {
			t.Errorf("%s: exit code %d\n%s%s", line, r.Code, r.Out, r.Stderr)
		}
	}
	for _, line := range []string{
		"state list", "state show terraform_data.a", "state pull", "output", "show", "validate", "graph", "providers",
		"workspace list", "plan -no-color -lock=false", "state rm -dry-run terraform_data.a", "state mv -dry-run terraform_data.a terraform_data.b",
	} {
		d.Must(strings.Fields(line)...)
	}
	if now := d.Must("state", "pull").Out; now != before {
		t.Errorf("the state was changed:\n%s", now)
	}
	if r := d.Run("force-unlock", "-force", id); r.Code != 1 || !strings.Contains(r.Stderr, "still running") {
		t.Errorf("force-unlock of a process that is alive: exit code %d\n%s", r.Code, r.Stderr)
	}
	if r := d.Run("force-unlock", "-force", "other"); r.Code != 1 || !strings.Contains(r.Stderr, id) {
		t.Errorf("force-unlock of another lock: exit code %d\n%s", r.Code, r.Stderr)
	}

	d.Must("taint", "-lock=false", "terraform_data.a")
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	d.Must("untaint", "terraform_data.a")
}
