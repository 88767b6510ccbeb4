package localpipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runstatus"
	"github.com/lockstep-iac/lockstep/github"
)

// applies has a project of the pull request 7 being applied.
func applies(t *testing.T, m *Machine) {
	t.Helper()
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 7}, Project: "db", Workspace: "default"}, Phase: runs.Applying, Spec: runs.Spec{Dir: "db", Head: "abc"}, Asked: runs.Asked{By: "alice", Try: 2}, Artifacts: runs.Artifacts{Begun: 1}}
	now := time.Now()
	for key, v := range map[string]any{
		r.Key(): r,
		fmt.Sprintf("%s/%s/2", runstatus.ApplyDir(r.Pull), r.Target()): map[string]any{
			"Begun": now.Add(-4 * time.Minute), "Progress": comment.Progress{Done: 3, Of: 20},
			"UnderWay": []comment.ChangeUnderWay{{Address: "aws_db_instance.main[\"<script>\"]", Action: comment.Creating, Since: now.Add(-150 * time.Second)}},
		},
	} {
		value, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Data.Records.Put(t.Context(), key, value, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Data.Artifacts.Put(t.Context(), r.Report(), []byte("the plan")); err != nil {
		t.Fatal(err)
	}
}

// TestProgressOnThePage holds that the pages show how far an apply is, from the records.
func TestProgressOnThePage(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	applies(t, m)
	p, err := m.Site("").Pull(t.Context(), page.PullID{Owner: "acme", Name: "infra", Number: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Projects {
		if x.Name != "db" {
			continue
		}
		if x.Standing != "applying (3 of 20)" || x.Tone != page.Busy || !strings.Contains(x.Report, "3 of 20 changes are done. Under way: `aws_db_instance.main[\"<script>\"]` (creating for 2 min).") {
			t.Errorf("%s, %s: %s", x.Standing, x.Tone, x.Report)
		}
		return
	}
	t.Error("the project is not on the page")
}

// TestProgressIsAnnounced holds that open pages learn of each report of the progress, once it is recorded.
func TestProgressIsAnnounced(t *testing.T) {
	t.Parallel()
	var changed page.Changes
	recorded := 0
	e := announcing{reporting{}, &changed}
	was := changed.Wait(t.Context(), 0)
	j := jobs.Job{}
	j.Progress = func(o comment.Ongoing) {
		if recorded = o.Done; changed.Wait(t.Context(), 0) != was {
			t.Error("it is announced before it is recorded")
		}
	}
	if _, err := e.Apply(t.Context(), j, nil, nil); err != nil || recorded != 3 || changed.Wait(t.Context(), 0) == was {
		t.Errorf("%d are recorded, %v", recorded, err)
	}
	if _, err := e.Apply(t.Context(), jobs.Job{}, nil, nil); err != nil {
		t.Error(err)
	}
}

// reporting is an engine that reports its progress once.
type reporting struct{ jobs.Engine }

func (reporting) Apply(_ context.Context, j jobs.Job, _ []byte, _ func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if j.Progress != nil {
		j.Progress(comment.Ongoing{Progress: comment.Progress{Done: 3, Of: 20}})
	}
	return jobs.Outcome{}, nil
}
