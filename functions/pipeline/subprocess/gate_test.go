//go:build linux

package subprocess

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// TestGatesOfAJob holds that a child has those gates asked that the base branch grants its job, as that has them, and no other.
func TestGatesOfAJob(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	var asked []requirements.Gate
	e.Gate = func(_ context.Context, j jobs.Job, g requirements.Gate, plan []byte) (runs.Judgement, error) {
		asked = append(asked, g)
		return runs.Judgement{Name: g.Name, Warned: []string{string(plan)}}, nil
	}
	granted := requirements.Gate{Name: "cost", Endpoint: endpoints.Endpoint{Function: "arn:cost", Timeout: time.Second}}
	for project, want := range map[string]string{"gate:cost": "cost[plan] <nil>", "gate:evil": "", "gate:": ""} {
		j := named(t, project)
		j.Gates = []requirements.Gate{granted}
		asked = nil
		got, err := e.Plan(t.Context(), j)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), errShape.Error()) || len(asked) > 0 {
				t.Errorf("%s: %v, %v, %+v", project, asked, err, got)
			}
			continue
		}
		if err != nil || !strings.Contains(got.Report, want) || len(asked) != 1 || asked[0] != granted {
			t.Errorf("%s: %v, %v, %+v", project, asked, err, got)
		}
	}
	e.Gate = nil
	j := named(t, "gate:cost")
	j.Gates = []requirements.Gate{granted}
	if got, err := e.Plan(t.Context(), j); err != nil || !strings.Contains(got.Report, "gates cannot be asked here") {
		t.Errorf("%+v, %v", got, err)
	}
}
