package program

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// torture is how often applies are killed, each at a random moment.
var torture = flag.Int("torture", 10, "the kills of TestTorture")

// The numbers of objects. A kill of the few costs half a second of processor time, one of the many
// four; so the usual test kills the many in one of ten cases, and one of more kills always.
const few, many = 20, 200

// Each generation updates some objects, and replaces others, with the successor first or
// last: each of the actions is under way at some kill.
const tortured = labHead + `
variable "generation" {}
variable "objects" {}

resource "lab_thing" "updated" {
  count   = var.objects * 2 / 5
  name    = "updated${count.index}"
  color   = var.generation
  trouble = "create-20,update-20"
}

resource "lab_thing" "replaced" {
  count   = var.objects * 3 / 10
  name    = "replaced${count.index}-${var.generation}-${lab_thing.updated[count.index].color}"
  trouble = "create-20,delete-20"
}

resource "lab_thing" "succeeded" {
  count   = var.objects * 3 / 10
  name    = "succeeded${count.index}-${var.generation}"
  trouble = "create-20,delete-20"
  lifecycle { create_before_destroy = true }
}
`

// TestTorture kills applies at random moments. After each kill every object that exists is in the
// state, or may be the one of an unresolved creation; none is in the state twice; and when the
// unresolved ones are settled as a person would, an apply ends with an empty plan.
func TestTorture(t *testing.T) {
	t.Parallel()
	kills := []int{*torture / 10, *torture * 3 / 10, *torture * 3 / 10, *torture * 3 / 10}
	for i, n := range kills {
		objects := few
		if i == 0 || *torture > 100 {
			objects = many
		}
		t.Run(fmt.Sprintf("%d-%d", i, objects), func(t *testing.T) {
			t.Parallel()
			torment{newLab(t, "main.tf", tortured), objects, nil}.kill(n, uint64(i))
		})
	}
}

// TestTortureInS3 is the same with state, locks and journal on S3 and DynamoDB servers. The server of S3 keeps each
// version of an object as a file, and is the slower the more there are; so nobody's has many.
func TestTortureInS3(t *testing.T) {
	t.Parallel()
	kills, objects, shards := 10, few, 1
	if *torture > 100 {
		kills, objects, shards = *torture/5, many, 5
	}
	for i := range shards {
		t.Run(fmt.Sprintf("%d-%d", i, objects), func(t *testing.T) {
			t.Parallel()
			torment{newLab(t, "main.tf", tortured), objects, nil}.inS3().kill(kills/shards, uint64(100+i))
		})
	}
}

// inS3 starts servers of its own for the state.
func (d torment) inS3() torment {
	c := startRealCloud(d.T)
	d.Write("backend.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \"app/terraform.tfstate\"\n    dynamodb_table = \"locks\"\n"+c.settings()+"  }\n}\n")
	d.state = c.open(d.T, "app/terraform.tfstate", "default", map[string]any{"dynamodb_table": "locks"})
	return d
}

// TestKilledAtEachRequest kills an apply at its first request, then one at its second, and so on, before the server
// has carried it out or after: each place in the protocol is one at which a process has died.
func TestKilledAtEachRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, more string
		attributes map[string]any
	}{
		{"lock object", noTable, map[string]any{"use_lockfile": true}},
		{"table", withTable, map[string]any{"dynamodb_table": "locks"}},
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, after %t", c.name, after), func(t *testing.T) {
				t.Parallel()
				r := &reaper{after: after}
				things, table := httptest.NewServer(r.over(new(statebackendtest.S3))), httptest.NewServer(r.over(new(statebackendtest.DynamoDB).Start(t)))
				defer things.Close()
				defer table.Close()
				cloud := realCloud{things.URL, table.URL}
				const objects = 10
				d := torment{newLab(t, "main.tf", tortured), objects, cloud.open(t, "app/terraform.tfstate", "default", c.attributes)}
				d.Write("backend.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \"app/terraform.tfstate\"\n"+c.more+cloud.settings()+"    max_retries = 0\n  }\n}\n")
				d.want(0, "init")
				variables := func(generation int) string {
					return fmt.Sprintf(" -var generation=%d -var objects=%d", generation, objects)
				}
				d.finish(variables(0))
				for at := 0; ; at++ {
					run := d.starting("apply -auto-approve" + variables(at+1))
					r.arm(at, func() { run.cmd.Process.Kill() })
					if err := run.cmd.Start(); err != nil {
						t.Fatal(err)
					}
					run.end()
					if !r.disarm() {
						if at < 12 {
							t.Errorf("an apply has only %d requests", at)
						}
						break
					}
					if d.settle(at) > 2*objects {
						d.finish(variables(at + 1))
					}
				}
				d.finish(variables(1000))
			})
		}
	}
}

// A reaper kills a process at one of its requests.
type reaper struct {
	after bool // the server has carried the request out

	mu    sync.Mutex
	left  int    // requests until then
	kill  func() // nil: not armed
	fired bool
}

func (r *reaper) arm(at int, kill func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.kill, r.fired = at, kill, false
}

// disarm reports whether it has killed.
func (r *reaper) disarm() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kill = nil
	return r.fired
}

// over is a server with the reaper in front of it.
func (r *reaper) over(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.left--; r.kill == nil || !r.fired && r.left >= 0 {
			server.ServeHTTP(w, q)
			return
		}
		if !r.fired && r.after {
			server.ServeHTTP(httptest.NewRecorder(), q)
		}
		r.fired = true
		r.kill()
		panic(http.ErrAbortHandler)
	})
}

// A torment is a directory whose applies are killed, with a number of objects, and a state whose locks
// outlive their processes unless it is nil.
type torment struct {
	*labDir
	objects int
	state   statebackend.Workspace
}

// kill kills applies.
func (d torment) kill(kills int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, uint64(kills)))
	d.want(0, "init")
	variables := func(generation int) string {
		return fmt.Sprintf(" -var generation=%d -var objects=%d", generation, d.objects)
	}
	for kill := range kills {
		run := d.start("apply -auto-approve" + variables(kill))
		run.says("ing...\n")
		time.Sleep(time.Duration(r.IntN(100+7*d.objects)) * time.Millisecond) // a moment is what is random here
		run.cmd.Process.Kill()                                                // it may have come to its end
		run.end()
		if d.settle(kill) > 2*d.objects { // what was replaced, and is to be deleted
			d.finish(variables(kill))
		}
	}
	d.finish(variables(kills))
	if n := d.settle(kills); n != d.objects {
		d.T.Errorf("%d objects after the last apply, and not %d", n, d.objects)
	}
}

// finish applies the rest, and holds that nothing is left to do.
func (d torment) finish(variables string) {
	d.want(0, "apply -auto-approve"+variables)
	d.want(0, "plan -detailed-exitcode"+variables)
}

// settle compares the objects with the state, and settles the unresolved creations: an object that
// no state knows is removed, as a person might. It returns how many there are.
func (d torment) settle(kill int) (objects int) {
	t := d.T
	t.Helper()
	out := d.here("recover -json")
	if strings.Contains(strings.Join(strings.Fields(out.Stderr), " "), "takes the lock over") {
		dead(t, d.state)
		out = d.here("recover -json")
	}
	var report struct {
		Unresolved []struct{ Address, Action string }
	}
	if err := json.Unmarshal([]byte(out.Out), &report); err != nil {
		t.Fatalf("kill %d: recover -json: %v\n%s%s", kill, err, out.Out, out.Stderr)
	}
	known := idsInState(t, d.labDir)
	var lost []string
	for _, id := range objectsOf(t, d.labDir) {
		switch n := known[id]; {
		case n == 0:
			lost = append(lost, id)
		case n > 1:
			t.Errorf("kill %d: the object %s is in the state %d times", kill, id, n)
		}
	}
	if len(lost) > len(report.Unresolved) {
		t.Fatalf("kill %d: %d objects are in no state, and %d creations are unresolved: %v", kill, len(lost), len(report.Unresolved), lost)
	}
	for _, id := range lost {
		if err := os.Remove(d.file("lab/lab_thing/" + id + ".json")); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("kill %d: %d objects, %d in the state, %d unresolved, %d of them made", kill, len(known)+len(lost), len(known), len(report.Unresolved), len(lost))
	for _, u := range report.Unresolved {
		d.here("recover -forget " + u.Address)
	}
	if len(report.Unresolved) > 0 {
		check(t, d.here("recover"), 0, "recover")
	}
	return len(known)
}

func objectsOf(t *testing.T, d *labDir) []string {
	t.Helper()
	files, err := filepath.Glob(d.file("lab/lab_thing/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return slices.Sorted(slices.Values(files))
}

// idsInState counts the objects of the state by ID.
func idsInState(t *testing.T, d *labDir) map[string]int {
	t.Helper()
	ids := map[string]int{}
	data := d.here("state pull").Out
	if strings.TrimSpace(data) == "" {
		return ids
	}
	var state struct {
		Resources []struct {
			Instances []struct{ Attributes struct{ ID string } }
		}
	}
	if err := json.Unmarshal([]byte(data), &state); err != nil {
		t.Fatal(err)
	}
	for _, r := range state.Resources {
		for _, in := range r.Instances {
			ids[in.Attributes.ID]++
		}
	}
	return ids
}
