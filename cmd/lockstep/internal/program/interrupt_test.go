package program

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

const slowConfig = labHead + `
variable "trouble" {
  default = ""
}
resource "lab_thing" "before" {
  name = "before"
}
resource "lab_thing" "a" {
  name       = "a"
  trouble    = var.trouble
  depends_on = [lab_thing.before]
}
resource "lab_thing" "after" {
  name = lab_thing.a.id
}
`

// SIGINT and SIGTERM let what is under way finish: it is in the state, the lock is
// free, and the exit code is 1. A second one gives up what is under way.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line, underWay string
		signals              []syscall.Signal
		says                 []string
		state                string
	}{
		{"apply goes on for a while", "apply -auto-approve -var=trouble=create-1500", "create", []syscall.Signal{syscall.SIGINT},
			[]string{"Interrupt received.", "lab_thing.a: Creation complete", "Apply was interrupted", "1 planned actions were not started"}, "lab_thing.a lab_thing.before"},
		{"apply hangs until it is stopped", "apply -auto-approve -var=trouble=create-hang", "create", []syscall.Signal{syscall.SIGTERM},
			[]string{"Interrupt received.", "with lab_thing.a", "stopped: context canceled"}, "lab_thing.before"},
		{"apply hangs for good", "apply -auto-approve -var=trouble=create-600000", "create", []syscall.Signal{syscall.SIGINT, syscall.SIGINT},
			[]string{"Two interrupts received.", "with lab_thing.a", "It was ended before it could answer", "check the real objects"}, "lab_thing.before"},
		{"apply loses its terminal", "apply -auto-approve -var=trouble=create-hang", "create", []syscall.Signal{syscall.SIGHUP},
			[]string{"Interrupt received.", "stopped: context canceled"}, "lab_thing.before"},
		{"plan hangs until it is stopped", "plan -var=trouble=plan-hang", "plan", []syscall.Signal{syscall.SIGINT},
			[]string{"stopped: context canceled"}, ""},
		{"plan hangs for good", "plan -var=trouble=plan-600000", "plan", []syscall.Signal{syscall.SIGTERM, syscall.SIGINT},
			[]string{"PlanResourceChange", "It was ended before it could answer"}, ""},
		{"plan goes on for a while", "plan -var=trouble=plan-1500", "plan", []syscall.Signal{syscall.SIGINT},
			[]string{"interrupted"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newLab(t, "main.tf", slowConfig)
			d.want(0, "init")
			r := d.start(c.line)
			programtest.WaitFor(t, c.underWay+" is under way", func() bool { return d.has("lab/" + c.underWay + ".under-way") })
			for i, s := range c.signals {
				if i > 0 {
					r.says("Interrupt received.")
				}
				r.signal(s)
			}
			check(t, r.end(), 1, c.line, c.says...)
			if c.state != "" {
				d.want(0, "state list", c.state)
			}
			if d.has(".terraform.tfstate.lock.info") {
				t.Error("the lock is still held")
			}
			if c.name == "apply hangs for good" { // nobody knows what it did
				d.want(2, "recover", "lockstep recover -forget 'lab_thing.a'")
				d.want(0, "recover -forget lab_thing.a")
			}
			d.want(0, "apply -auto-approve", "Apply complete!")
		})
	}
}

// An apply that is interrupted exits with 1 although its last action goes well; with -json its notes
// are messages.
func TestInterruptedAtTheEnd(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labHead+"variable \"trouble\" {\n  default = \"\"\n}\nresource \"lab_thing\" \"a\" {\n  name    = \"a\"\n  trouble = var.trouble\n}\n")
	d.want(0, "init")
	const line = "apply -json -auto-approve -var=trouble=create-1500"
	r := d.start(line)
	programtest.WaitFor(t, "create is under way", func() bool { return d.has("lab/create.under-way") })
	r.signal(syscall.SIGINT)
	got := r.end()
	check(t, got, 1, line, `"@message":"\nInterrupt received.\nPlease wait`, "Apply was interrupted", "All planned changes are made")
	if got.Stderr != "" {
		t.Errorf("on standard error: %s", got.Stderr)
	}
	for text := range strings.Lines(got.Out) {
		if !json.Valid([]byte(text)) {
			t.Errorf("no message: %s", text)
		}
	}
	d.want(0, "state list", "lab_thing.a")
	d.want(2, "plan -detailed-exitcode", "didn't use the -out option")
}

// stored reports whether the state has a text, and is whole: the sibling file goes when the write is over.
func (d *labDir) stored(text string) bool {
	return d.has("terraform.tfstate") && !d.has(".terraform.tfstate.next") && strings.Contains(d.read("terraform.tfstate"), text)
}

// While something takes long, what is done is stored; whoever is killed then has
// lost no more than what was under way, and leaves no lock in the way.
func TestKilled(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", slowConfig)
	d.want(0, "init")
	begun := time.Now()
	r := d.start("apply -auto-approve -var=trouble=create-600000")
	programtest.WaitFor(t, "the state is stored", func() bool { return d.stored(`"before-1"`) })
	r.signal(syscall.SIGKILL)
	r.end()
	d.want(0, "state list", "lab_thing.before")
	d.want(1, "apply -auto-approve", "1 object may exist outside the state", `name = "a"`, "Not everything was applied")
	if r := d.want(0, "plan", "No changes besides creations of an earlier apply", "1 object may exist outside the state"); strings.Contains(r.Out+r.Stderr, "-exclude") {
		t.Errorf("the plan names an option that nobody used:\n%s%s", r.Out, r.Stderr)
	}
	open := openIn(t, d.want(2, "recover -json"))
	if len(open) != 1 || open[0].Address != "lab_thing.a" || open[0].Action != "create" || open[0].Started.Before(begun) || open[0].Started.After(time.Now()) || open[0].Known["name"] != "a" {
		t.Errorf("unresolved: %+v", open)
	}
	d.want(2, "recover", "lockstep recover -forget 'lab_thing.a'")
	d.want(1, "recover -forget lab_thing.b", "nothing unresolved for lab_thing.b")
	d.want(0, "recover -forget lab_thing.a")
	if open := openIn(t, d.want(0, "recover -json")); open == nil || len(open) > 0 {
		t.Errorf("unresolved, when all is settled: %#v", open)
	}
	d.want(0, "recover", "Nothing to recover")
	if d.has(".terraform.tfstate.journal") {
		t.Error("the journal is left behind")
	}
	d.want(0, "apply -auto-approve", "2 added, 0 changed, 0 destroyed")
}

// openIn reads the answer of "recover -json", in which programs know every member.
func openIn(t *testing.T, r programtest.Result) []opened {
	t.Helper()
	var answer struct {
		Unresolved []opened `json:"unresolved"`
	}
	in := json.NewDecoder(strings.NewReader(r.Out))
	in.DisallowUnknownFields()
	if err := in.Decode(&answer); err != nil || in.More() {
		t.Fatalf("recover -json: %v\n%s", err, r.Out)
	}
	return answer.Unresolved
}

type opened struct {
	Address string            `json:"address"`
	Action  string            `json:"action"`
	Started time.Time         `json:"started"`
	Known   map[string]string `json:"known"`
}

// TestKilledAndImported settles a creation that did happen by an import.
func TestKilledAndImported(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", slowConfig)
	d.want(0, "init")
	r := d.start("apply -auto-approve -var=trouble=create-600000")
	programtest.WaitFor(t, "a create is under way", func() bool { return d.has("lab/create.under-way") })
	r.signal(syscall.SIGKILL)
	r.end()
	d.Write("lab/lab_thing/a-1.json", `{"id": "a-1", "name": "a", "revision": 1}`)
	d.want(2, "recover -json", `"address": "lab_thing.a"`)
	d.want(0, "import lab_thing.a a-1", "Import successful")
	d.want(0, "recover", "Nothing to recover")
	d.want(0, "apply -auto-approve", "1 added")
}

// TestKilledAndChanged: somebody else changes an object in the state that the killed apply has made. That
// is kept, and reported until a person has settled it.
func TestKilledAndChanged(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", slowConfig)
	d.want(0, "init")
	r := d.start("apply -auto-approve -var=trouble=create-600000")
	programtest.WaitFor(t, "the state is stored", func() bool { return d.stored(`"before-1"`) })
	r.signal(syscall.SIGKILL)
	r.end()
	d.Write("terraform.tfstate", strings.Replace(d.read("terraform.tfstate"), `"before-1"`, `"before-2"`, 1))
	changed := d.read("terraform.tfstate")
	d.want(0, "state pull", `"before-2"`, "Changed by another tool since")
	if d.read("terraform.tfstate") != changed {
		t.Error("who only looks has written the state")
	}
	for range 2 {
		d.want(2, "recover -json", `"address": "lab_thing.a"`, `"conflicts"`, `"address": "lab_thing.before"`, `"done": "changed"`)
		if got := d.read("terraform.tfstate"); !strings.Contains(got, `"before-2"`) {
			t.Fatalf("the other one's object was not kept:\n%s", got)
		}
	}
	d.want(2, "recover", "The interrupted apply changed lab_thing.before, and later somebody else wrote it into the state")
	d.want(2, "recover -forget lab_thing.before")
	if out := d.want(2, "recover -json").Out; strings.Contains(out, "conflicts") {
		t.Errorf("the settled conflict is still reported: %s", out)
	}
	d.want(0, "recover -forget lab_thing.a")
	if d.has(".terraform.tfstate.journal") {
		t.Error("the journal is left behind")
	}
}

// When nobody reads the output any more, an apply goes on to its end.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", slowConfig)
	d.want(0, "init")
	cmd := d.command("apply", "-auto-approve", "-var=trouble=create-500")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	programtest.WaitFor(t, "create is under way", func() bool { return d.has("lab/create.under-way") })
	read.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("apply: %v", err)
	}
	d.want(0, "state list", "lab_thing.a lab_thing.after lab_thing.before")
	if d.has(".terraform.tfstate.lock.info") {
		t.Error("the lock is still held")
	}
}

// Whoever is asked and is interrupted instead has not agreed.
func TestInterruptedQuestion(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	d.want(0, "init")
	cmd := d.command("apply")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	r := &running{t: t, cmd: cmd, line: "apply"}
	cmd.Stdout, cmd.Stderr = &guarded{r, &r.out}, &guarded{r, &r.stderr}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	r.says("Enter a value:")
	r.signal(syscall.SIGINT)
	check(t, r.end(), 1, "apply", "Approval could not be read", "interrupted")
	if d.has("terraform.tfstate") || d.has(".terraform.tfstate.lock.info") {
		t.Error("a state or a lock is left")
	}
}
