package main

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/local"
)

// While somebody holds the state's lock, nobody else writes the state, and is told
// who that is; who only reads is not in the way.
func TestCommandsRespectTheLock(t *testing.T) {
	t.Parallel()
	d := newDir(t, "main.tf", `resource "terraform_data" "a" {}`)
	d.must("init", "-no-color")
	d.must("apply", "-no-color", "-auto-approve")
	before := d.must("state", "pull").out

	b, err := local.Open(nil, local.Options{Dir: d.path})
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
	d.write("state.json", before)
	for _, line := range []string{
		"plan -no-color", "apply -no-color -auto-approve", "destroy -no-color -auto-approve", "refresh", "import terraform_data.b id",
		"taint terraform_data.a", "untaint terraform_data.a", "state rm terraform_data.a", "state mv terraform_data.a terraform_data.b",
		"state push -force state.json", "state replace-provider -auto-approve terraform.io/builtin/terraform a/b",
	} {
		r := d.run(strings.Fields(line)...)
		if line == "import terraform_data.b id" {
			continue // the address is refused before or after the lock
		}
		if r.code != 1 || !strings.Contains(r.stderr, "Error acquiring the state lock") || !strings.Contains(r.stderr, id) {
			t.Errorf("%s: exit code %d\n%s%s", line, r.code, r.out, r.stderr)
		}
	}
	for _, line := range []string{
		"state list", "state show terraform_data.a", "state pull", "output", "show", "validate", "graph", "providers",
		"workspace list", "plan -no-color -lock=false", "state rm -dry-run terraform_data.a", "state mv -dry-run terraform_data.a terraform_data.b",
	} {
		d.must(strings.Fields(line)...)
	}
	if now := d.must("state", "pull").out; now != before {
		t.Errorf("the state was changed:\n%s", now)
	}
	if r := d.run("force-unlock", "-force", id); r.code != 1 || !strings.Contains(r.stderr, "still running") {
		t.Errorf("force-unlock of a process that is alive: exit code %d\n%s", r.code, r.stderr)
	}
	if r := d.run("force-unlock", "-force", "other"); r.code != 1 || !strings.Contains(r.stderr, id) {
		t.Errorf("force-unlock of another lock: exit code %d\n%s", r.code, r.stderr)
	}

	d.must("taint", "-lock=false", "terraform_data.a")
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	d.must("untaint", "terraform_data.a")
}
