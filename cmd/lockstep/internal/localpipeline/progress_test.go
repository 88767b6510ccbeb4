package localpipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
	e := announcing{reporting{}, newMachine(t).Data.Records, &changed}
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

// TestProviderLogOnThePage holds that the page of a pull request shows what providers log, during the run and after it, as text and without
// Lockstep's secrets; and that the log of the next run replaces it, even if that one logs nothing.
func TestProviderLogOnThePage(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	applies(t, m)
	j := jobs.Job{Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 7, Project: "db", Workspace: "default"}
	log := func(lines ...comment.LogLine) string {
		t.Helper()
		e := announcing{logging{lines: lines}, m.Data.Records, &m.changed}
		j.Progress = func(comment.Ongoing) {}
		if _, err := e.Plan(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		p, err := m.Site("").Pull(t.Context(), page.PullID{Owner: "acme", Name: "infra", Number: 7})
		i := slices.IndexFunc(p.Projects, func(x page.Project) bool { return x.Name == "db" })
		if err != nil || i < 0 {
			t.Fatal(err)
		}
		return p.Projects[i].Log
	}
	if got := log(); got != "" {
		t.Errorf("without a log: %q", got)
	}
	at := time.Date(2026, time.March, 2, 14, 2, 3, 0, time.UTC)
	if got, want := log(comment.LogLine{At: at, Level: "warn", From: "provider.aws", Text: "<script> is slow"}), "(3 other lines are left out)\n14:02:03 WARN provider.aws: <script> is slow\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := log(); strings.Contains(got, "slow") {
		t.Errorf("of the next run: %q", got)
	}
}

// logging is an engine whose providers log lines, and leave out 3.
type logging struct {
	jobs.Engine
	lines []comment.LogLine
}

func (l logging) Plan(_ context.Context, j jobs.Job) (jobs.PlanResult, error) {
	left := 0
	if len(l.lines) > 0 {
		left = 3
	}
	j.Progress(comment.Ongoing{Planning: true, Log: l.lines, Unlogged: left})
	return jobs.PlanResult{}, nil
}

// reporting is an engine that reports its progress once.
type reporting struct{ jobs.Engine }

func (reporting) Apply(_ context.Context, j jobs.Job, _ []byte, _ func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if j.Progress != nil {
		j.Progress(comment.Ongoing{Progress: comment.Progress{Done: 3, Of: 20}})
	}
	return jobs.Outcome{}, nil
}
