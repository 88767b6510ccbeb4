package program

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// relay is an apply that both tools work on: each object takes a moment.
const relay = labHead + `
resource "lab_thing" "a" {
  count   = 6
  name    = "a${count.index}"
  trouble = "create-300"
}
`

// relays runs a test with the state in each place: in a file, with a nil workspace, and in S3 with each
// kind of locks.
func relays(t *testing.T, name string, run func(t *testing.T, d *labDir, w statebackend.Workspace)) {
	t.Parallel()
	if _, err := exec.LookPath("terraform"); err != nil {
		t.Skip("no terraform on PATH to compare with")
	}
	c := startRealCloud(t)
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		d := newLab(t, "main.tf", relay)
		d.want(0, "init")
		run(t, d, nil)
	})
	for _, l := range lockSettings[1:] {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			key := name + "-" + l.name + "/terraform.tfstate"
			d := newLab(t, "main.tf", relay, "backend.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \""+key+"\"\n    "+l.block+"\n"+c.settings()+"  }\n}\n")
			d.want(0, "init")
			run(t, d, c.open(t, key, "default", l.attributes))
		})
	}
}

// TestInteropFinishesWhatWeBegan kills an apply of ours. The stock tool respects the lock that it has left, shows
// its owner, and force-unlocks it. After a recovery it plans the rest, and nothing else, and makes it.
func TestInteropFinishesWhatWeBegan(t *testing.T) {
	relays(t, "ours", func(t *testing.T, d *labDir, w statebackend.Workspace) {
		d.kill(t, 3)
		if w != nil {
			held, err := w.Locks(t.Context())
			if err != nil || len(held) == 0 || held[0].Lease == nil {
				t.Fatalf("%+v, %v", held, err)
			}
			output, code, _ := d.stock("plan", "-input=false", "-no-color")
			for _, want := range []string{"Error acquiring the state lock", held[0].Info.ID, held[0].Info.Who, "Created:", "do not force-unlock"} {
				if code != 1 || !strings.Contains(output, want) {
					t.Errorf("terraform plan under our lock: exit code %d, want %q\n%s", code, want, output)
				}
			}
			d.must("force-unlock", "-force", held[0].Info.ID)
			// Where its block names a table it does not know of the lock object beside the state.
			if left, err := w.Locks(t.Context()); err != nil || (len(left) > 0 && !d.tableOnly()) {
				t.Errorf("after terraform force-unlock: %+v, %v", left, err)
			} else if len(left) > 0 {
				d.want(1, "recover", "Error acquiring the state lock", held[0].Info.ID)
				d.want(0, "force-unlock -force "+held[0].Info.ID)
			}
			if r := d.run("recover"); r.Code != 2 && r.Code != 0 { // 0: the kill fell between two creations
				t.Errorf("recover: exit code %d\n%s%s", r.Code, r.Out, r.Stderr)
			}
		}
		torment{d, 0, w}.settle(0)
		known := len(idsInState(t, d))
		if known < 2 || known > 5 {
			t.Fatalf("%d objects are in the state", known)
		}
		rest := fmt.Sprintf("Plan: %d to add, 0 to change, 0 to destroy.", 6-known)
		if output := d.must("plan", "-input=false", "-no-color"); !strings.Contains(output, rest) {
			t.Errorf("terraform plan does not say %q:\n%s", rest, output)
		}
		d.must("apply", "-input=false", "-auto-approve")
		d.agrees()
		d.finished(t, w)
	})
}

// TestInteropWeFinishWhatItBegan stops the stock tool in the middle: we make the rest, and nothing else.
func TestInteropWeFinishWhatItBegan(t *testing.T) {
	relays(t, "theirs", func(t *testing.T, d *labDir, w statebackend.Workspace) {
		cmd := d.stockUntil(t, 3)
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		known := len(idsInState(t, d))
		if n := len(objectsOf(t, d)); known != n || known < 3 || known > 5 {
			t.Fatalf("%d objects are in the state, and %d exist", known, n)
		}
		rest := fmt.Sprintf("Plan: %d to add, 0 to change, 0 to destroy.", 6-known)
		d.want(0, "plan", rest)
		d.want(0, "apply -auto-approve", fmt.Sprintf("Resources: %d added, 0 changed, 0 destroyed", 6-known))
		d.agrees()
		d.finished(t, w)
	})
}

// TestInteropTheirLockStays kills the stock tool. Its lock has no lease: no command takes it over, and
// each tells who has it, and since when. Once a person has released it, what was made can be imported.
func TestInteropTheirLockStays(t *testing.T) {
	relays(t, "dead", func(t *testing.T, d *labDir, w statebackend.Workspace) {
		before := time.Now().UTC().Truncate(time.Second)
		cmd := d.stockUntil(t, 3)
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil { // its provider, too
			t.Fatal(err)
		}
		cmd.Wait()
		if w != nil {
			held, err := w.Locks(t.Context())
			if err != nil || len(held) == 0 || held[0].Lease != nil || held[0].Info.Created.Before(before) {
				t.Fatalf("%+v, %v", held, err)
			}
			info := held[0].Info
			for _, line := range []string{"plan", "apply -auto-approve", "recover", "state rm lab_thing.a[0]"} {
				r := d.want(1, line, "Error acquiring the state lock", info.ID, info.Who, info.Created.String(), "If you are sure that its process has died", "lockstep force-unlock "+info.ID)
				if strings.Contains(r.Stderr, "takes the lock over") {
					t.Errorf("%s promises to take a stock tool's lock over:\n%s", line, r.Stderr)
				}
			}
			if now, err := w.Locks(t.Context()); err != nil || len(now) != len(held) || now[0].Info.ID != info.ID || now[0].Lease != nil {
				t.Errorf("the lock is %+v now, %v", now, err)
			}
			d.want(0, "force-unlock -force "+info.ID)
		}
		known := idsInState(t, d)
		for _, id := range objectsOf(t, d) {
			if known[id] == 0 {
				d.want(0, fmt.Sprintf("import lab_thing.a[%s] %s", id[1:2], id), "Import successful!")
			}
		}
		d.want(0, "apply -auto-approve")
		if n := len(objectsOf(t, d)); n != 6 {
			t.Errorf("%d objects exist, want 6: %v", n, objectsOf(t, d))
		}
		d.agrees()
		d.finished(t, w)
	})
}

// tableOnly reports whether the backend block names a table, and no lock objects.
func (d *labDir) tableOnly() bool {
	return d.has("backend.tf") && !strings.Contains(d.read("backend.tf"), "use_lockfile")
}

// stockUntil starts an apply of the stock tool, in a process group of its own, and waits until so
// many objects are there.
func (d *labDir) stockUntil(t *testing.T, made int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("terraform", "apply", "-auto-approve", "-input=false", "-no-color", "-parallelism=1")
	cmd.Dir, cmd.Env = d.Path, slices.Concat(d.Environ(), []string{"CHECKPOINT_DISABLE=1"}, d.env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	programtest.WaitFor(t, "terraform has made objects", func() bool {
		names, _ := filepath.Glob(d.file("lab/lab_thing/*.json"))
		return len(names) >= made
	})
	return cmd
}

// finished checks that nothing is left to do, to recover, or to release, and that nothing exists twice.
func (d *labDir) finished(t *testing.T, w statebackend.Workspace) {
	t.Helper()
	d.want(0, "recover")
	d.want(0, "plan -detailed-exitcode", "No changes.")
	if known, objects := idsInState(t, d), objectsOf(t, d); len(known) != 6 || len(objects) != 6 {
		t.Errorf("in the end %d objects are in the state, and %d exist", len(known), len(objects))
	}
	if w != nil {
		noLocks(t, w)
	}
}
