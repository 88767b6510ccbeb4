package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// newMachine returns a machine with some runs of two repositories in it.
func newMachine(t *testing.T) *Machine {
	t.Helper()
	app, err := github.NewApp(githubtest.New(githubtest.Options{}).App("http://127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(Config{Dir: t.TempDir(), Version: "test", App: app, Secret: github.NewSecret("x"), States: executor.LocalStates, URL: "http://127.0.0.1:8080"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	infra, shop := github.Repo{ID: 1, Owner: "acme", Name: "infra"}, github.Repo{ID: 2, Owner: "acme", Name: "shop"}
	for _, r := range []runs.Run{
		{Pull: pipeline.Pull{Repo: infra, Number: 7}, Project: "network", Dir: "network", Workspace: "default", Phase: runs.Planned, Applyable: true, Head: "abc", Begun: 2, Full: true, Counts: counting.Counts{Add: 2, Forget: 1}},
		{Pull: pipeline.Pull{Repo: infra, Number: 7}, Project: "network", Dir: "network", Workspace: "staging", Phase: runs.Superseded, Head: "old", Begun: 1},
		{Pull: pipeline.Pull{Repo: infra, Number: 12}, Project: "app/eu", Dir: "app", Workspace: "default", Phase: runs.Dropped, Was: runs.Applied, Merged: true, Actor: "alice"},
		{Pull: pipeline.Pull{Repo: shop, Number: 1}, Project: "all", Dir: ".", Workspace: "default", Phase: runs.Dropped, Was: runs.Planned},
	} {
		value, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Data.Records.Put(t.Context(), fmt.Sprintf("run/%d/%d/%s", r.Pull.Repo.ID, r.Pull.Number, r.Target()), value, ""); err != nil {
			t.Fatal(err)
		}
		if err := m.Data.Artifacts.Put(t.Context(), r.Report(), []byte("report of "+r.Target())); err != nil {
			t.Fatal(err)
		}
		if r.Full {
			if err := m.Data.Artifacts.Put(t.Context(), r.FullReport(), []byte("all of "+r.Target())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

func TestSite(t *testing.T) {
	t.Parallel()
	s := newMachine(t).Site("https://github.com")
	pulls, err := s.Pulls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pulls {
		for _, x := range p.Projects {
			got = append(got, fmt.Sprintf("%s %s %s: %s %s, %s", p.Path(), p.Standing, p.Head, x.Plan, x.Standing, x.Tone))
		}
	}
	want := []string{
		"/acme/infra/pull/12 merged : app/eu is applied, good",
		"/acme/infra/pull/7 open abc: network waits for lockstep apply, waiting",
		"/acme/infra/pull/7 open abc: network@staging was superseded by a newer head, quiet",
		"/acme/shop/pull/1 closed : all was closed without an apply, quiet",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	id := page.PullID{Owner: "acme", Name: "infra", Number: 7}
	p, err := s.Pull(t.Context(), id)
	if err != nil || p.URL != "https://github.com/acme/infra/pull/7" || len(p.Projects) != 2 || !strings.HasSuffix(p.Projects[0].Report, "\n\nreport of network@default") || !strings.Contains(p.Projects[0].Report, "comment `lockstep apply -p network`") {
		t.Errorf("%+v %v", p, err)
	}
	if p.Projects[0].Summary != "2 to add, 1 to forget" || !p.Projects[0].HasPlan || p.Projects[1].HasPlan {
		t.Errorf("%+v", p.Projects)
	}
	if text, err := s.Plan(t.Context(), id, "network"); err != nil || text != "all of network@default" {
		t.Errorf("%q %v", text, err)
	}
	for _, name := range []string{"network@staging", "app", ""} {
		if _, err := s.Plan(t.Context(), id, name); !errors.Is(err, page.ErrNotFound) {
			t.Errorf("plan %q: %v", name, err)
		}
	}
	id.Number = 8
	if _, err := s.Pull(t.Context(), id); !errors.Is(err, page.ErrNotFound) {
		t.Errorf("#8: %v", err)
	}
}

// What a comment says of where a plan is leads to the page of that plan.
func TestWhere(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for project, want := range map[string]string{
		"network@default": "/plan/network", "network@staging": "/plan/network@staging", "app/eu@default": "/plan/app%2Feu", "a b@c d": "/plan/a%20b@c%20d",
	} {
		r := runs.Run{Pull: pipeline.Pull{Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 7}, Begun: 3}
		r.Project, r.Workspace, _ = strings.Cut(project, "@")
		if got := m.Pipeline.Where(r.FullReport()); got != "http://127.0.0.1:8080/acme/infra/pull/7"+want {
			t.Errorf("%s is at %s", project, got)
		}
	}
}

// Every standing that there is can be put into words.
func TestStandings(t *testing.T) {
	t.Parallel()
	for _, standing := range comment.Standings() {
		if p := shown(runs.Run{}, standing); p.Standing == "" || p.Tone == "" {
			t.Errorf("%s has no words", standing)
		}
	}
}

// TestPageHasNoSecret carries out an attack: the decision about a requirement quotes an answer of its gate, which has a secret of
// ours in it.
func TestPageHasNoSecret(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.Pipeline.Secrets = append(m.Pipeline.Secrets, github.NewSecret("swordfish"))
	r := runs.Run{Pull: pipeline.Pull{Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 7}, Project: "network", Workspace: "default", Head: "abc"}
	unknown := rulings.Ruling{Rule: rulings.Readable, Outcome: rulings.Unknown, Problem: "it answers swordfish"}
	c := runs.CheckRecord{Key: r.Key(), Required: &rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Unknown, Of: []rulings.Ruling{unknown}}}
	if _, err := m.Data.Records.Put(t.Context(), runs.CheckKey(r), pipeline.Encode(c), ""); err != nil {
		t.Fatal(err)
	}
	all, err := m.Projects(t.Context(), r.Pull.Repo, 7)
	if err != nil || !strings.Contains(all[0].Report, "it answers") || strings.Contains(all[0].Report, "swordfish") {
		t.Errorf("%+v %v", all, err)
	}
}
