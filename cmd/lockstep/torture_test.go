package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
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
	c := startRealCloud(d.t)
	d.write("backend.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \"app/terraform.tfstate\"\n    dynamodb_table = \"locks\"\n"+c.settings()+"  }\n}\n")
	d.state = c.open(d.t, "app/terraform.tfstate", "default", map[string]any{"dynamodb_table": "locks"})
	return d
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
		run.saysIn(10*time.Minute, "ing...\n")
		time.Sleep(time.Duration(r.IntN(100+7*d.objects)) * time.Millisecond) // a moment is what is random here
		run.cmd.Process.Kill()                                                // it may have come to its end
		run.end()
		if d.settle(kill) > 2*d.objects { // what was replaced, and is to be deleted
			d.finish(variables(kill))
		}
	}
	d.finish(variables(kills))
	if n := d.settle(kills); n != d.objects {
		d.t.Errorf("%d objects after the last apply, and not %d", n, d.objects)
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
	t := d.t
	t.Helper()
	out := d.run("recover -json")
	if strings.Contains(out.stderr, "takes the lock over") {
		dead(t, d.state)
		out = d.run("recover -json")
	}
	var report struct {
		Unresolved []struct{ Address, Action string }
	}
	if err := json.Unmarshal([]byte(out.out), &report); err != nil {
		t.Fatalf("kill %d: recover -json: %v\n%s%s", kill, err, out.out, out.stderr)
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
		d.run("recover -forget " + u.Address)
	}
	if len(report.Unresolved) > 0 {
		d.want(0, "recover")
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
	data := d.run("state pull").out
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
