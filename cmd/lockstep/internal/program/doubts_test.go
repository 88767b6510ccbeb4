package program

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// unanswered has creations that take for ever, and something that was made before.
const unanswered = labHead + `
variable "trouble" {
  default = "create-600000"
}
variable "number" {
  default = 3
}
resource "lab_thing" "before" {
  name = "before"
}
resource "lab_thing" "a" {
  count   = var.number
  name    = "a${count.index}"
  trouble = var.trouble
}
resource "lab_thing" "after" {
  name = lab_thing.a[0].id
}
`

// doubts returns a directory with n unresolved creations.
func doubts(t *testing.T, n int) *labDir {
	t.Helper()
	d := newLab(t, "main.tf", unanswered, "terraform.tfvars", fmt.Sprintf("number = %d\n", n))
	d.want(0, "init")
	r := d.start(fmt.Sprintf("apply -auto-approve -parallelism=%d", n+1))
	programtest.WaitFor(t, "all are begun", func() bool {
		data, err := os.ReadFile(d.file(".terraform.tfstate.journal"))
		return err == nil && d.stored(`"before-1"`) && strings.Count(string(data), `"create"`) > n
	})
	r.signal(syscall.SIGKILL)
	r.end()
	return d
}

// TestUnresolvedIsNoSuccess holds that no command reports success while creations are unresolved.
func TestUnresolvedIsNoSuccess(t *testing.T) {
	t.Parallel()
	d := doubts(t, 3)
	const waits = "No changes besides creations of an earlier apply whose outcome is not known"
	d.want(2, "plan -detailed-exitcode", waits, "3 objects may exist outside the state")
	d.want(0, "plan", waits)
	d.want(2, "plan -json -detailed-exitcode", "Plan: 0 to add, 0 to change, 0 to destroy. 3 creations of an earlier apply are unresolved.", `"unresolved":3`)
	if r := d.want(2, "plan -refresh-only -detailed-exitcode", waits); strings.Contains(r.Out, "still matches") {
		t.Errorf("%s", r.Out)
	}
	if r := d.want(1, "apply -refresh-only -auto-approve", "Not everything was applied"); strings.Contains(r.Out, "Apply complete") {
		t.Errorf("%s", r.Out)
	}
	d.want(2, "plan -destroy -detailed-exitcode", "1 to destroy")
	if r := d.want(1, "destroy -auto-approve", "Not everything was destroyed", "lab_thing.a[0], lab_thing.a[1], lab_thing.a[2]"); strings.Contains(r.Out, "Destroy complete") {
		t.Errorf("%s", r.Out)
	}
	d.want(2, "plan -destroy -detailed-exitcode", waits)
	d.want(1, "destroy -auto-approve", "Not everything was destroyed")
	d.want(1, "apply -destroy -auto-approve", "Not everything was destroyed")
	d.want(2, "recover", "lab_thing.a[2]")
	d.want(0, "recover -forget lab_thing.a[0] lab_thing.a[1] lab_thing.a[2]")
	d.want(0, "destroy -auto-approve", "Destroy complete! Resources: 0 destroyed.")
	d.want(0, "plan -destroy -detailed-exitcode", "No objects need to be destroyed")
}

// TestSettling holds that creations are settled several at a time, all of those named or none, and that those to
// create again are in the next plan.
func TestSettling(t *testing.T) {
	t.Parallel()
	d := doubts(t, 4)
	d.want(1, "recover -forget lab_thing.a[0] lab_thing.b lab_thing.c", "nothing unresolved for lab_thing.b, lab_thing.c", "nothing was changed")
	d.want(1, "recover lab_thing.a[0]", "what to do with lab_thing.a[0]")
	d.want(1, "recover -retry-all -forget lab_thing.a[0]", "cannot be used together")
	d.want(1, "recover -retry lab_thing.a[1] -forget lab_thing.a[0]", "")
	if open := openIn(t, d.want(2, "recover -json")); len(open) != 4 {
		t.Errorf("%d are unresolved after errors", len(open))
	}
	r := d.want(2, "recover -retry lab_thing.a[0] lab_thing.a[1]", "The next plan creates these objects again", "lab_thing.a[0], lab_thing.a[1]", "lab_thing.a[2]")
	if open := openIn(t, d.want(2, "recover -json")); len(open) != 2 || open[0].Address != "lab_thing.a[2]" {
		t.Errorf("unresolved: %+v\n%s", open, r.Out)
	}
	d.want(2, "plan -detailed-exitcode -var=trouble=", "2 to add", "2 objects may exist outside the state")
	d.want(0, "recover -retry-all", "The next plan creates these objects again")
	d.want(0, "recover -retry-all", "Nothing to recover")
	d.want(0, "apply -auto-approve -var=trouble=", "5 added")
}

// TestDoubtsOfMany shows what a person reads after a kill in the middle of one, thirty and three hundred creations.
func TestDoubtsOfMany(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 30, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			d := doubts(t, n)
			r := d.want(0, "plan")
			text := regexp.MustCompile(`[0-9-]{10}T[0-9:.]+Z`).ReplaceAllString(r.Stderr+r.Out, "TIME")
			at := strings.Index(text, "may exist outside the state")
			if at < 0 || strings.Count(text, "may exist outside the state") != 1 || strings.Count(text, "recover -forget") != 1 {
				t.Fatalf("not one message: %s", text)
			}
			if lines := strings.Count(text[at:], "\n"); lines > 50 {
				t.Errorf("%d lines:\n%s", lines, text)
			}
			golden.File(t, filepath.Join("testdata", "doubts", fmt.Sprintf("%d.txt", n)), text)
			if r := d.want(2, "recover"); n > 1 && strings.Count(r.Out, "lab_thing.a[") < n {
				t.Errorf("recover does not list all:\n%s", r.Out)
			}
		})
	}
}
