package program

import (
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

// interrupted returns a directory in which the apply of the saved plan "p" was under way with
// lab_thing.a when the signal came.
func interrupted(t *testing.T, signal syscall.Signal) *labDir {
	t.Helper()
	trouble := "create-1500"
	if signal == syscall.SIGKILL {
		trouble = "create-600000"
	}
	d := newLab(t, "main.tf", slowConfig)
	d.want(0, "init")
	d.want(0, "plan -out=p -var=trouble="+trouble, "3 to add")
	r := d.start("apply p")
	programtest.WaitFor(t, "create is under way", func() bool { return d.has("lab/create.under-way") })
	r.signal(signal)
	got := r.end()
	if signal != syscall.SIGKILL {
		check(t, got, 1, "apply p", "1 planned actions were not started", "The apply can be continued", "Apply the same plan file again")
	}
	return d
}

// The apply of a saved plan that was interrupted goes on when the plan is applied again, and ends as
// if nothing had been.
func TestContinued(t *testing.T) {
	t.Parallel()
	d := interrupted(t, syscall.SIGTERM)
	d.want(0, "state list", "lab_thing.a lab_thing.before")
	d.want(0, "apply p", "Continuing the apply of this plan: 2 of 3 changes are made.", "lab_thing.after: Creation complete", "3 added, 0 changed, 0 destroyed")
	if d.has(".terraform.tfstate.journal") {
		t.Error("the journal is left behind")
	}
	d.want(0, "plan -detailed-exitcode -var=trouble=create-1500", "No changes")
	if d.has("lab/lab_thing/a-2.json") || d.has("lab/lab_thing/before-2.json") {
		t.Error("an object was made twice")
	}
	d.want(1, "apply p", "Saved plan is stale")
}

// You can also make a new plan: it takes what is done from the state, and the old one is stale.
func TestContinuedByAnotherPlan(t *testing.T) {
	t.Parallel()
	d := interrupted(t, syscall.SIGINT)
	d.want(0, "plan -out=q -var=trouble=", "1 to add")
	if d.has(".terraform.tfstate.journal") {
		t.Error("the journal is left behind")
	}
	d.want(1, "apply p", "Saved plan is stale")
	d.want(0, "apply q", "added")
}

// A killed apply goes on, too, but for the creation of which nobody knows the outcome and what depends on it.
func TestContinuedAfterKill(t *testing.T) {
	t.Parallel()
	d := interrupted(t, syscall.SIGKILL)
	got := d.want(1, "apply p", "Continuing the apply of this plan: 1 of 3 changes are made.", "1 object may exist outside the state", "Not known to be created", "Not everything was applied")
	if strings.Contains(got.Out, "lab_thing.after: Creating") {
		t.Error("what depends on it was created")
	}
	d.want(0, "state list", "lab_thing.before")
	d.want(2, "recover -json", `"address": "lab_thing.a"`)
	d.want(0, "recover -forget lab_thing.a")
	d.want(0, "apply -auto-approve", "2 added")
}

// Somebody else has written the state in between: then the plan is stale, as ever.
func TestContinuedAfterForeignWrite(t *testing.T) {
	t.Parallel()
	d := interrupted(t, syscall.SIGTERM)
	d.Write("terraform.tfstate", strings.Replace(d.read("terraform.tfstate"), `"serial": `, `"serial": 10`, 1))
	d.want(1, "apply p", "Saved plan is stale")
	d.want(0, "apply -auto-approve", "1 added")
}
