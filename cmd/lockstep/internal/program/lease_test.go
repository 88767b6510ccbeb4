package program

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// leased is a state whose locks carry leases.
type leased interface {
	statebackend.Workspace
	statebackend.Leased
}

// dead has the lease of a state's lock be over, as that of a process which died an hour ago. A lock that was
// taken or released in part, which the next command releases once it is old, is released at once.
func dead(t *testing.T, w statebackend.Workspace) {
	t.Helper()
	held, err := w.Locks(t.Context())
	if err != nil || len(held) == 0 || held[0].Lease == nil {
		t.Fatalf("no lock with a lease: %+v, %v", held, err)
	}
	l := *held[0].Lease
	if !l.Complete() {
		if err := w.Unlock(t.Context(), l.Lock); err != nil {
			t.Fatal(err)
		}
		return
	}
	l.Until, l.HardStop = time.Now().Add(-time.Hour), time.Time{}
	if _, err := w.(leased).TakeOver(t.Context(), *held[0].Lease, l.Term); err != nil {
		t.Fatal(err)
	}
}

// TestKilledApplyInS3 kills an apply. While it may live the next command says who holds the lock, and from
// when on it takes the lock over; then it does, and loses nothing.
func TestKilledApplyInS3(t *testing.T) {
	t.Parallel()
	c := startRealCloud(t)
	for _, l := range lockSettings[1:3] { // a table, or a lock object only
		for _, next := range []string{"apply -auto-approve", "plan", "recover"} {
			t.Run(l.name+"/"+next, func(t *testing.T) {
				t.Parallel()
				key := fmt.Sprintf("killed-%s-%.4s/terraform.tfstate", l.name, next)
				d := newLab(t, "main.tf", queue, "backend.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \""+key+"\"\n    "+l.block+"\n"+c.settings()+"  }\n}\n")
				d.want(0, "init")
				d.kill(t, 3)

				w := c.open(t, key, "default", l.attributes)
				held, err := w.Locks(t.Context())
				if err != nil || len(held) == 0 || held[0].Lease == nil {
					t.Fatalf("%+v, %v", held, err)
				}
				end := held[0].Lease.End()
				if left := time.Until(end); left < 0 || left > 2*time.Minute {
					t.Errorf("the lease ends in %s", left)
				}
				r := d.want(1, next, "Error acquiring the state lock", held[0].Info.ID, held[0].Info.Who, "Lockstep run ", "do not force-unlock", end.UTC().Format(time.RFC3339), "takes the lock over")
				if strings.Contains(r.Stderr, "lockstep force-unlock") {
					t.Errorf("force-unlock is recommended:\n%s", r.Stderr)
				}
				dead(t, w)
				// One creation is unresolved, unless the kill fell between two.
				code := map[string]int{"recover": 2, "plan": 0, "apply -auto-approve": 1}[next]
				r = d.run(next)
				out := r.Out + r.Stderr
				if r.Code != 0 && (r.Code != code || !strings.Contains(strings.Join(strings.Fields(out), " "), "did not record the result")) {
					t.Errorf("%s: exit code %d\n%s", next, r.Code, out)
				}
				if !strings.Contains(out, "Lockstep took over the lock of a run that has ended") {
					t.Errorf("%s does not tell of the takeover:\n%s", next, out)
				}
				if held, err := w.Locks(t.Context()); err != nil || len(held) > 0 {
					t.Errorf("then %v, %v", held, err)
				}
				objects, _ := filepath.Glob(d.file("lab/lab_thing/*.json"))
				known := strings.Count(d.want(0, "state list").Out, "lab_thing.a[")
				if known < len(objects)-1 {
					t.Errorf("%d objects exist, and %d are in the state", len(objects), known)
				}
			})
		}
	}
}

// TestTwoAppliesAtOnce starts two applies of one state in the same moment, on real servers: one gets the lock, the
// other one says who has it, and nothing is made twice or lost.
func TestTwoAppliesAtOnce(t *testing.T) {
	t.Parallel()
	c := startRealCloud(t)
	for _, l := range lockSettings {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			key := "two-" + l.name + "/terraform.tfstate"
			d := newLab(t, "main.tf", labHead+`
resource "lab_thing" "a" {
  count   = 3
  name    = "a${count.index}"
  trouble = "create-5000"
}
`, "backend.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \""+key+"\"\n    "+l.block+"\n"+c.settings()+"  }\n}\n")
			d.want(0, "init")
			w := c.open(t, key, "default", l.attributes)
			runs := []*running{d.starting("apply -auto-approve"), d.starting("apply -auto-approve")}
			for _, r := range runs {
				if err := r.cmd.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { r.cmd.Process.Kill() })
			}
			var held []statebackend.HeldLock
			programtest.WaitFor(t, "somebody has the lock", func() bool {
				held, _ = w.Locks(t.Context())
				return len(held) > 0
			})
			won, lost := runs[0].end(), runs[1].end()
			if won.Code != 0 {
				won, lost = lost, won
			}
			if won.Code != 0 || !strings.Contains(won.Out, "Resources: 3 added") {
				t.Errorf("no apply succeeded: exit code %d\n%s%s", won.Code, won.Out, won.Stderr)
			}
			for _, want := range []string{"Error acquiring the state lock", held[0].Info.ID, held[0].Info.Who, "Lockstep run "} {
				if lost.Code != 1 || !strings.Contains(lost.Stderr, want) {
					t.Errorf("the other one does not say %q: exit code %d\n%s%s", want, lost.Code, lost.Out, lost.Stderr)
				}
			}
			if objects, _ := filepath.Glob(d.file("lab/lab_thing/*.json")); len(objects) != 3 {
				t.Errorf("%d objects exist: %q", len(objects), objects)
			}
			if n := strings.Count(d.want(0, "state list").Out, "lab_thing.a["); n != 3 {
				t.Errorf("%d objects are in the state", n)
			}
			if held, err := w.Locks(t.Context()); err != nil || len(held) > 0 {
				t.Errorf("then %v, %v", held, err)
			}
			d.want(0, "plan -detailed-exitcode")
		})
	}
}

// kill starts an apply, and kills it when so many objects are there.
func (d *labDir) kill(t *testing.T, made int) {
	t.Helper()
	r := d.start("apply -auto-approve -parallelism=1")
	programtest.WaitFor(t, "objects are made", func() bool {
		names, _ := filepath.Glob(d.file("lab/lab_thing/*.json"))
		return len(names) >= made
	})
	r.signal(syscall.SIGKILL)
	r.end()
}
