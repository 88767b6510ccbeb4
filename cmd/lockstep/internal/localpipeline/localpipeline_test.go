package localpipeline

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
	"github.com/lockstep-iac/lockstep/functions/pipeline/runstatus"
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
		{ID: runs.ID{Pull: pipeline.Pull{Repo: infra, Number: 7}, Project: "network", Workspace: "default"}, Phase: runs.Planned, Spec: runs.Spec{Dir: "network", Head: "abc"}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true, Counts: counting.Counts{Add: 2, Forget: 1}}, Full: true}, Artifacts: runs.Artifacts{Begun: 2}},
		{ID: runs.ID{Pull: pipeline.Pull{Repo: infra, Number: 7}, Project: "network", Workspace: "staging"}, Phase: runs.Superseded, Spec: runs.Spec{Dir: "network", Head: "old"}, Artifacts: runs.Artifacts{Begun: 1}},
		{ID: runs.ID{Pull: pipeline.Pull{Repo: infra, Number: 12}, Project: "app/eu", Workspace: "default"}, Phase: runs.Dropped, Spec: runs.Spec{Dir: "app"}, Asked: runs.Asked{By: "alice"}, End: runs.End{Was: runs.Applied, Fate: runs.Merged}},
		{ID: runs.ID{Pull: pipeline.Pull{Repo: shop, Number: 1}, Project: "all", Workspace: "default"}, Phase: runs.Dropped, Spec: runs.Spec{Dir: "."}, End: runs.End{Was: runs.Planned}},
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
		if r.Plan.Full {
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
		"/acme/infra/pull/12 merged : app/eu applied, good",
		"/acme/infra/pull/7 open abc: network ready to apply, waiting",
		"/acme/infra/pull/7 open abc: network@staging superseded by a newer commit, quiet",
		"/acme/shop/pull/1 closed : all closed, not applied, quiet",
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
	if text, err := s.Text(t.Context(), id, page.WholePlan, "network"); err != nil || text != "all of network@default" {
		t.Errorf("%q %v", text, err)
	}
	for _, name := range []string{"network@staging", "app", ""} {
		if _, err := s.Text(t.Context(), id, page.WholePlan, name); !errors.Is(err, page.ErrNotFound) {
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
		r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 7}}, Artifacts: runs.Artifacts{Begun: 3}}
		r.Project, r.Workspace, _ = strings.Cut(project, "@")
		if got := m.Pipeline.Where(r.FullReport()); got != "http://127.0.0.1:8080/acme/infra/pull/7"+want {
			t.Errorf("%s is at %s", project, got)
		}
		for _, a := range []pipeline.Artifact{r.StepOutputs(), r.ApplyStepOutputs()} {
			if got := m.Pipeline.Where(a); got != "http://127.0.0.1:8080/acme/infra/pull/7"+strings.Replace(want, "plan", "steps", 1) {
				t.Errorf("the outputs of the steps of %s are at %s", project, got)
			}
		}
	}
}

// TestPageHasNoSecret carries out an attack: the decision about a requirement quotes an answer of its gate, the last look an
// error of the settings, and an apply its provisioner, each with a secret of ours in it.
func TestPageHasNoSecret(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.Pipeline.Secrets = append(m.Pipeline.Secrets, github.NewSecret("swordfish"))
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 7}, Project: "network", Workspace: "default"}, Spec: runs.Spec{Head: "abc"}}
	unknown := rulings.Ruling{Rule: rulings.Readable, Outcome: rulings.Unknown, Problem: "it answers swordfish"}
	c := runs.CheckRecord{Key: r.Key(), Required: &rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Unknown, Of: []rulings.Ruling{unknown}}}
	put(t, m, runs.CheckKey(r), c)
	put(t, m, "pull/1/7", with(runstatus.Look{Pull: r.Pull, Head: "abc"}, func(l *runstatus.Look) { l.Problem, l.Notes = "it is not swordfish", []string{"nor is it swordfish"} }))
	failed := runs.Run{ID: runs.ID{Pull: r.Pull, Project: "app", Workspace: "default"}, Phase: runs.ApplyFailed, Spec: runs.Spec{Head: "old"}, Asked: runs.Asked{Try: 1}}
	put(t, m, failed.Key(), failed)
	if err := m.Data.Artifacts.Put(t.Context(), failed.Result(), []byte("it says swordfish")); err != nil {
		t.Fatal(err)
	}
	var p page.Pull
	err := m.Site("").Show(t.Context(), r.Pull.Repo, 7, &p)
	text := p.Report
	for _, x := range p.Projects {
		text += x.Report
	}
	for _, want := range []string{"it answers", "it is not", "nor is it", "it says"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%q is missing: %+v %v", want, p, err)
		}
	}
	if strings.Contains(text, "swordfish") {
		t.Errorf("%+v", p)
	}
}

// put writes a record.
func put(t *testing.T, m *Machine, key string, value any) {
	t.Helper()
	if _, err := m.Data.Records.Put(t.Context(), key, pipeline.Encode(value), ""); err != nil {
		t.Fatal(err)
	}
}

// TestPageHasNoOtherPlan carries out an attack: the report of a plan was exchanged.
func TestPageHasNoOtherPlan(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 9}, Project: "network", Workspace: "default"}, Phase: runs.Planned, Spec: runs.Spec{Head: "abc"}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true}, Reported: runs.HashOf([]byte("1 to destroy"))}, Artifacts: runs.Artifacts{Begun: 1}}
	put(t, m, r.Key(), r)
	if err := m.Data.Artifacts.Put(t.Context(), r.Report(), []byte("nothing of note")); err != nil {
		t.Fatal(err)
	}
	var p page.Pull
	if err := m.Site("").Show(t.Context(), r.Pull.Repo, 9, &p); err != nil || strings.Contains(p.Projects[0].Report, "nothing of note") || !strings.Contains(p.Projects[0].Report, "The stored plan was replaced") {
		t.Errorf("%+v %v", p, err)
	}
}

// TestLooks is a table of the last looks at #7, whose plan is of the head "abc", and of the words on its page.
func TestLooks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		look runstatus.Look
		want string
		says string
	}{
		"a plan":                {runstatus.Look{Head: "abc"}, "open abc: ; ready to apply, superseded by a newer commit", ""},
		"closed":                {with(runstatus.Look{Head: "abc"}, func(l *runstatus.Look) { l.Closed = true }), "closed abc: ; ready to apply, superseded by a newer commit", ""},
		"merged":                {with(runstatus.Look{Head: "abc"}, func(l *runstatus.Look) { l.Closed, l.Merged = true, true }), "merged abc: ; ready to apply, superseded by a newer commit", ""},
		"a newer head":          {runstatus.Look{Head: "def"}, "open def: No project is affected; superseded by a newer commit, superseded by a newer commit", "changes no project"},
		"a problem":             {with(runstatus.Look{Head: "abc"}, func(l *runstatus.Look) { l.Problem = "Line 3 is wrong." }), "open abc: Failed: the projects could not be determined; ready to apply, superseded by a newer commit", "Line 3 is wrong."},
		"a refusal":             {with(runstatus.Look{Head: "def"}, func(l *runstatus.Look) { l.Refused = "It is from a fork." }), "open def: Nothing is planned; superseded by a newer commit, superseded by a newer commit", "It is from a fork."},
		"a removed project":     {with(runstatus.Look{Head: "abc"}, func(l *runstatus.Look) { l.Removed = "It removes app." }), "open abc: ; ready to apply, superseded by a newer commit", "It removes app."},
		"a note":                {with(runstatus.Look{Head: "abc"}, func(l *runstatus.Look) { l.Notes = []string{"The state moves."} }), "open abc: ; ready to apply, superseded by a newer commit", "The state moves."},
		"nobody could look":     {runstatus.Look{Head: "abc", GivenUp: "def"}, "open def: Failed: Lockstep could not read this commit; superseded by a newer commit, superseded by a newer commit", "Lockstep does not know the projects of this commit."},
		"nobody has looked yet": {with(runstatus.Look{}, func(l *runstatus.Look) { l.Heads = []string{"abc"} }), "open abc: Looking for the projects that changed; ready to apply, superseded by a newer commit", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			test.look.Pull = pipeline.Pull{Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 7}
			put(t, m, "pull/1/7", test.look)
			s := m.Site("")
			p, err := s.Pull(t.Context(), page.PullID{Owner: "acme", Name: "infra", Number: 7})
			if err != nil {
				t.Fatal(err)
			}
			words := func(p page.Pull) string {
				return fmt.Sprintf("%s %s: %s; %s, %s", p.Standing, p.Head, p.Words, p.Projects[0].Standing, p.Projects[1].Standing)
			}
			if got := words(p); got != test.want || !strings.Contains(p.Report, test.says) || (p.Words != "") != (p.Tone != "") {
				t.Errorf("%s, %q, want %s, %q", got, p.Report, test.want, test.says)
			}
			all, err := s.Pulls(t.Context())
			if err != nil || len(all) != 3 || words(all[1]) != test.want {
				t.Errorf("%+v %v", all, err)
			}
		})
	}
}

func with(l runstatus.Look, set func(*runstatus.Look)) runstatus.Look {
	set(&l)
	return l
}
