package runs_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestKept holds that every artifact of a run is deleted with it: there is no other end of them
// but the bucket's lifecycle. The contents of a state are none of a plan.
func TestKept(t *testing.T) {
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Number: 7}, Project: "net"}, Asked: runs.Asked{Try: 2}, Artifacts: runs.Artifacts{Begun: 3, Steps: true}, Plan: runs.Plan{Steps: "hash", Findings: true, Generated: true}}
	kept, found := r.AllArtifacts(3), 0
	v := reflect.ValueOf(r)
	for i := range v.NumMethod() {
		of, is := v.Method(i).Interface().(func() pipeline.Artifact)
		if !is {
			continue
		}
		found++
		if name := v.Type().Method(i).Name; name != "Contents" && !slices.Contains(kept, of()) {
			t.Errorf("%s is never deleted", name)
		}
	}
	if found < 5 {
		t.Errorf("only %d artifacts were looked at", found)
	}
}
