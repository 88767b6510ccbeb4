package pagedata

import (
	"context"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

var infra = github.Repo{ID: 5, Owner: "acme", Name: "infra"}

// put writes a record of any type.
func put(t testing.TB, s Site, key string, value any) {
	t.Helper()
	if _, err := s.Records.Put(t.Context(), key, pipeline.Encode(value), ""); err != nil {
		t.Fatal(err)
	}
}

// newSite returns a site with empty stores, without an Access.
func newSite(t testing.TB) Site {
	t.Helper()
	data, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	return Site{Records: data.Records, Artifacts: data.Artifacts, Chains: data.Chains, All: data.Records.ListAll}
}

// Every standing that there is can be put into words.
func TestStandings(t *testing.T) {
	t.Parallel()
	for _, standing := range comment.Standings() {
		if p := shown(runs.Run{}, comment.ProjectStatus{Standing: standing}, false); p.Standing == "" || p.Tone == "" {
			t.Errorf("%s has no words", standing)
		}
	}
}

// TestListReadsAtOnce holds that a list reads no record for a project alone.
func TestListReadsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i, phase := range []runs.Phase{runs.Planned, runs.Applying, runs.Applied, runs.Planned} {
		r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: infra, Number: 7 + i%2}, Project: string(phase) + string(rune('a'+i)), Workspace: "default"}, Phase: phase, Spec: runs.Spec{Dir: "db", Head: "abc"}, Asked: runs.Asked{Try: 2}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true}}, Artifacts: runs.Artifacts{Begun: 1}}
		put(t, s, r.Key(), r)
	}
	all, err := s.pulls(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	from, err := s.snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if err := x.read(t.Context(), from); err != nil {
			t.Fatal(err)
		}
	}
	from.Records = unread{t: t}
	for _, x := range all {
		if err := s.glance(t.Context(), from, x, new(page.Pull)); err != nil {
			t.Error(err)
		}
	}
}

// unread are records that nobody may read.
type unread struct {
	pipeline.Records
	t *testing.T
}

func (u unread) Get(_ context.Context, key string) (pipeline.Record, error) {
	u.t.Errorf("%s is read", key)
	return pipeline.Record{}, nil
}

// TestIssueIsNoPullRequest holds that the page of an issue about drift says that it is an issue, and leads to it.
func TestIssueIsNoPullRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Web = "https://github.com"
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: infra, Number: 7}, Project: "net", Workspace: "default"}, Phase: runs.Planned, Spec: runs.Spec{Dir: "net", Head: "abc", OnIssue: true, AfterMerge: true}}
	put(t, s, r.Key(), r)
	p, err := s.Pull(t.Context(), page.PullID{Owner: "acme", Name: "infra", Number: 7})
	if err != nil || p.Title != "Issue about net" || p.URL != "https://github.com/acme/infra/issues/7" || p.Standing != "" {
		t.Errorf("%q %q %q, %v", p.Title, p.URL, p.Standing, err)
	}
}
