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
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// torture is how often applies are killed, each at a random moment.
var torture = flag.Int("torture", 5, "the kills of TestTorture")

// Each generation updates some of 200 objects, and replaces others, with the successor first or
// last: each of the actions is under way at some kill.
const tortured = labHead + `
variable "generation" {}

resource "lab_thing" "updated" {
  count   = 80
  name    = "updated${count.index}"
  color   = var.generation
  trouble = "create-20,update-20"
}

resource "lab_thing" "replaced" {
  count   = 60
  name    = "replaced${count.index}-${var.generation}-${lab_thing.updated[count.index].color}"
  trouble = "create-20,delete-20"
}

resource "lab_thing" "succeeded" {
  count   = 60
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
	killAndKill(t, newLab(t, "main.tf", tortured), *torture, nil)
}

// TestTortureInS3 is the same with state, locks and journal on S3 and DynamoDB servers.
func TestTortureInS3(t *testing.T) {
	t.Parallel()
	c := startRealCloud(t)
	endpoints := fmt.Sprintf("    endpoints = { s3 = %q, dynamodb = %q }\n", c.s3, c.dynamodb)
	d := newLab(t, "main.tf", tortured, "backend.tf", "terraform {\n  backend \"s3\" {\n"+endpoints+`    bucket                      = "states"
    key                         = "app/terraform.tfstate"
    region                      = "us-east-1"
    dynamodb_table              = "locks"
    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
  }
}
`)
	d.set("AWS_ACCESS_KEY_ID="+statebackendtest.AccessKey, "AWS_SECRET_ACCESS_KEY="+statebackendtest.SecretKey)
	killAndKill(t, d, max(2, *torture/5), c.open(t, "app/terraform.tfstate", "default", map[string]any{"dynamodb_table": "locks"}))
}

// killAndKill kills applies on a state, whose locks outlive their processes unless it is nil.
func killAndKill(t *testing.T, d *labDir, kills int, state statebackend.Workspace) {
	r := rand.New(rand.NewPCG(1, uint64(kills)))
	d.want(0, "init")
	for kill := range kills {
		run := d.start(fmt.Sprintf("apply -auto-approve -var generation=%d", kill))
		run.says("ing...\n")
		time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond) // a moment is what is random here
		run.cmd.Process.Kill()                                     // it may have come to its end
		run.end()
		settle(t, d, kill, state)
	}
	last := fmt.Sprintf(" -var generation=%d", kills)
	d.want(0, "apply -auto-approve"+last)
	d.want(0, "plan -detailed-exitcode"+last)
	settle(t, d, kills, state)
}

// settle compares the objects with the state, and settles the unresolved creations: an object that
// no state knows is imported or removed, as it happens to be.
func settle(t *testing.T, d *labDir, kill int, state statebackend.Workspace) {
	t.Helper()
	out := d.run("recover -json")
	if strings.Contains(out.stderr, "takes the lock over") {
		dead(t, state)
		out = d.run("recover -json")
	}
	var report struct {
		Unresolved []struct{ Address, Action string }
	}
	if err := json.Unmarshal([]byte(out.out), &report); err != nil {
		t.Fatalf("kill %d: recover -json: %v\n%s%s", kill, err, out.out, out.stderr)
	}
	known := idsInState(t, d)
	var lost []string
	for _, id := range objectsOf(t, d) {
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
