package pagedata

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// reading lets the reader see some repositories.
type reading []github.Repo

func (l reading) Repository(_ context.Context, owner, name string) (github.Repo, error) {
	for _, r := range l {
		if r.Owner == owner && r.Name == name {
			return r, nil
		}
	}
	return github.Repo{}, page.ErrNotFound
}

func (l reading) Repositories(context.Context) ([]github.Repo, error) { return l, nil }

var infraID = page.RepositoryID{Owner: "acme", Name: "infra"}

// fill puts a repository into a site: pull requests with a project each, of which every second is applied.
func fill(t testing.TB, s Site, repo github.Repo, pulls int) {
	t.Helper()
	ld, trail := ledger.Ledger{Records: s.Records}, audit.Trail{Chains: s.Chains}
	for n := 1; n <= pulls; n++ {
		r := runs.Run{
			ID:    runs.ID{Pull: pipeline.Pull{Repo: repo, Number: n}, Project: fmt.Sprintf("p%03d", n), Workspace: "default"},
			Phase: runs.Planned, Spec: runs.Spec{Dir: "net", Head: "abc"}, Asked: runs.Asked{By: "alice", Try: 1},
			Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true, Counts: counting.Counts{Add: n}}}, Artifacts: runs.Artifacts{Begun: 1},
		}
		r.Address.Place = fmt.Sprintf("s3://states/%s/p%03d.tfstate", repo.Name, n)
		put(t, s, fmt.Sprintf("pull/%d/%d", repo.ID, n), ledger.Look{Pull: r.Pull, Head: "abc", Discovery: ledger.Discovery{Projects: 1}})
		put(t, s, runs.AddressKey(repo.ID, r.Target()), map[string]any{"Place": r.Address.Place})
		if n%2 == 0 {
			r.Phase = runs.Applied
			rec := audit.Of(r, audit.ApplyEnded, "alice")
			rec.Counts, rec.Serial = counting.Counts{Add: n}, uint64(n)
			at, err := trail.Append(t.Context(), r, runs.Audited{}, rec)
			if err != nil {
				t.Fatal(err)
			}
			last := runs.LastApply{Number: n, By: "alice", State: runs.StateID{Serial: uint64(n), Lineage: "l"}, Audited: at}
			put(t, s, r.StateKey(), last)
		} else if err := ld.ListPlan(t.Context(), r, "alice"); err != nil {
			t.Fatal(err)
		}
		put(t, s, r.Key(), r)
	}
}

// TestRepository is a table of sizes of a repository, and of the pages of its views.
func TestRepository(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 30, 300} {
		s := newSite(t)
		s.Access = reading{infra}
		fill(t, s, infra, n)
		var numbers []int
		for at, pages := 0, 0; ; pages++ {
			x, err := s.Repository(t.Context(), infraID, page.PullsView, at)
			if err != nil || len(x.Pulls) > perPage || pages > n {
				t.Fatalf("%d: %d pull requests at %d: %v", n, len(x.Pulls), at, err)
			}
			for _, p := range x.Pulls {
				numbers = append(numbers, p.Number)
			}
			if at = x.Next; at == 0 {
				break
			}
		}
		if len(numbers) != n || n > 0 && (numbers[0] != n || numbers[n-1] != 1) {
			t.Errorf("%d: %v", n, numbers)
		}
		x, err := s.Repository(t.Context(), infraID, page.PullsView, 0)
		if err != nil || n > 0 && len(x.Pulls[0].Projects) != 1 {
			t.Errorf("%d: %+v, %v", n, x, err)
		}
		if x, err = s.Repository(t.Context(), infraID, page.ProjectsView, 0); err != nil || len(x.Projects) != n {
			t.Errorf("%d: %d projects: %v", n, len(x.Projects), err)
		}
		if x, err = s.Repository(t.Context(), infraID, page.AuditView, 0); err != nil || len(x.Records) != min(n/2, perPage) || (x.Next > 0) != (n/2 > perPage) {
			t.Errorf("%d: %d audit records: %v", n, len(x.Records), err)
		}
		found, more, err := s.Find(t.Context(), []string{"STATES", "infra"})
		if err != nil || len(found) != min(n, page.MaxMatches) || more != (n > page.MaxMatches) {
			t.Errorf("%d: found %d, %v, %v", n, len(found), more, err)
		}
	}
}

// TestProject holds what the page of a project shows: the state, the lock, the queue, the drift, the plans and the audit
// records.
func TestProject(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Access, s.Web = reading{infra}, "https://github.com"
	s.Secrets = []github.Secret{github.NewSecret("swordfish")}
	fill(t, s, infra, 2)
	name := runs.StateName("s3://states/infra/p002.tfstate", "")
	at := time.Date(2026, time.March, 2, 14, 0, 0, 0, time.UTC)
	put(t, s, runs.ReservationKey(infra.ID, name), runs.Reservation{Number: 1, By: "carol", Reason: "it is swordfish", At: at})
	put(t, s, "drift/5/p002@default", ledger.Drift{Open: true, Issue: 9, Since: at})
	put(t, s, "drift/5/round", ledger.DriftRound{Last: at})
	queued := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: infra, Number: 3}, Project: "p002", Workspace: "default"}, Phase: runs.ApplyQueued, Asked: runs.Asked{By: "bob", Try: 1}, Address: runs.Address{Place: "s3://states/infra/p002.tfstate"}}
	put(t, s, queued.Key(), queued)
	over := queued.Turn()
	over.Pull.Number, over.By = 2, "over"
	put(t, s, queued.QueueKey(), []runs.Turn{over, queued.Turn()})
	applied, err := ledger.Ledger{Records: s.Records}.Read(t.Context(), pipeline.Pull{Repo: infra, Number: 2}.Runs()+"/p002@default")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Artifacts.Put(t.Context(), applied.Contents(), []byte("Outputs: 1\n\na = swordfish\n")); err != nil {
		t.Fatal(err)
	}

	x, err := s.Project(t.Context(), infraID, "p002@default")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Artifacts.Put(t.Context(), applied.Contents(), []byte("Outputs: 1\n\na = swordfish\n\nObjects: 12\n\naws_vpc.main\nmodule.shop.aws_vpc.main[\"swordfish\"]\naws_subnet.a\n... and 9 more\n")); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{"VPC main": "aws_vpc.main, module.shop.aws_vpc.main[\"[secret]\"]", "subnet": "aws_subnet.a", "swordfish": "", "more": "", "12": "", "a =": ""} {
		found, more, err := s.FindObjects(t.Context(), strings.Fields(words))
		var got []string
		for _, o := range found {
			got = append(got, o.Address)
			if o.Target != "p002@default" || o.RepositoryID != infraID {
				t.Errorf("%q: found in %+v", words, o.Match)
			}
		}
		if err != nil || more || strings.Join(got, ", ") != want {
			t.Errorf("%q: found %q, %v, %v", words, got, more, err)
		}
	}
	if x.Contents != "Outputs: 1\n\na = [secret]\n" {
		t.Errorf("the contents of the state: %q", x.Contents)
	}
	if x.Place != "s3://states/infra/p002.tfstate" || x.Last == nil || x.Last.Pull != 2 || x.Last.Serial != 2 || !x.Last.Open || x.Last.At.IsZero() {
		t.Errorf("the state: %+v", x.ProjectState)
	}
	if x.Lock == nil || x.Lock.By != "carol" || strings.Contains(x.Lock.Reason, "swordfish") {
		t.Errorf("the lock: %+v", x.Lock)
	}
	if len(x.Queue) != 1 || x.Queue[0] != (page.Turn{Pull: 3, By: "bob"}) {
		t.Errorf("the queue: %+v", x.Queue)
	}
	if x.Drift == nil || x.Drift.URL != "https://github.com/acme/infra/issues/9" {
		t.Errorf("the drift: %+v", x.Drift)
	}
	if len(x.Plans) != 1 || x.Plans[0].Pull.Number != 2 || x.Plans[0].Project.Standing != "applied" {
		t.Errorf("the plans: %+v", x.Plans)
	}
	if len(x.Records) != 1 || x.Records[0].Outcome != "2 added" || x.Records[0].Serial != 2 || x.More {
		t.Errorf("the records: %+v", x.Records)
	}
	for view, want := range map[page.View]int{page.ProjectsView: 2, page.LocksView: 1, page.DriftView: 1} {
		if x, err := s.Repository(t.Context(), infraID, view, 0); err != nil || len(x.Projects) != want {
			t.Errorf("%s: %d projects: %v", view, len(x.Projects), err)
		}
	}
	if x, err := s.Project(t.Context(), infraID, "p001@default"); err != nil || len(x.Plans) != 1 || x.Last != nil || len(x.Records) != 0 {
		t.Errorf("a project that was never applied: %+v, %v", x, err)
	}
	for _, target := range []string{"p009@default", "", "round", "..", "p002"} {
		if _, err := s.Project(t.Context(), infraID, target); !errors.Is(err, page.ErrNotFound) {
			t.Errorf("%q: %v", target, err)
		}
	}
}

// TestRenamedProject holds that a state belongs to the present name of its project.
func TestRenamedProject(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Access = reading{infra}
	fill(t, s, infra, 1)
	put(t, s, runs.AddressKey(infra.ID, "new@default"), map[string]any{"Place": "s3://states/infra/p001.tfstate"})
	put(t, s, places.ClaimKey("s3://states/infra/p001.tfstate"), places.Claim{RepoID: infra.ID, Repo: "acme/infra", Project: "new", Workspace: "default"})
	x, err := s.Repository(t.Context(), infraID, page.ProjectsView, 0)
	if err != nil || len(x.Projects) != 1 || x.Projects[0].Name != "new" {
		t.Errorf("%+v, %v", x.Projects, err)
	}
}

// TestNothingOfOthers holds that each method shows only what the reader may see: a repository of which the store has
// everything does not exist for others, and a name leads to the repository that has it now.
func TestNothingOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	shop := github.Repo{ID: 6, Owner: "acme", Name: "shop"}
	fill(t, s, infra, 2)
	fill(t, s, shop, 2)
	s.Access = reading{shop}
	for name, ask := range map[string]func() error{
		"Pull": func() error {
			_, err := s.Pull(t.Context(), page.PullID{Owner: "acme", Name: "infra", Number: 1})
			return err
		},
		"Text": func() error {
			_, err := s.Text(t.Context(), page.PullID{Owner: "acme", Name: "infra", Number: 1}, page.WholePlan, "p001")
			return err
		},
		"Project":  func() error { _, err := s.Project(t.Context(), infraID, "p001@default"); return err },
		"Pulls":    func() error { _, err := s.Repository(t.Context(), infraID, page.PullsView, 0); return err },
		"Projects": func() error { _, err := s.Repository(t.Context(), infraID, page.ProjectsView, 0); return err },
		"Audit":    func() error { _, err := s.Repository(t.Context(), infraID, page.AuditView, 0); return err },
	} {
		if err := ask(); !errors.Is(err, page.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := s.Repositories(t.Context()); err != nil || len(all) != 1 || all[0].Name != "shop" {
		t.Errorf("%v, %v", all, err)
	}
	found, _, err := s.Find(t.Context(), []string{"p001"})
	if err != nil || len(found) != 1 || found[0].RepositoryID.Name != "shop" {
		t.Errorf("%v, %v", found, err)
	}
	if found, _, err := s.FindObjects(t.Context(), []string{"."}); err != nil || len(found) != 0 {
		t.Errorf("objects of a repository that the reader may not read: %v, %v", found, err)
	}
	// The repository with the ID 6 gets the name acme/infra: its own records are shown, and none of ID 5.
	s.Access = reading{{ID: 6, Owner: "acme", Name: "infra"}}
	x, err := s.Repository(t.Context(), infraID, page.ProjectsView, 0)
	if err != nil || len(x.Projects) != 2 || !strings.Contains(x.Projects[0].Place, "/shop/") {
		t.Errorf("%+v, %v", x.Projects, err)
	}
}

// TestRecent holds that lists about a repository are read once in 10 seconds, and everything else each time.
func TestRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &listCounter{Records: new(memory.Store)}
		r := Recent(store)
		put(t, Site{Records: store}, "pull/5/1", 1)
		for range 3 {
			for dir, want := range map[string]int{"pull/5": 1, "run/5/1": 0} {
				if list, err := r.List(t.Context(), dir); err != nil || len(list) != want {
					t.Errorf("%s: %v, %v", dir, list, err)
				}
			}
		}
		if store.lists != 4 {
			t.Errorf("%d lists were read", store.lists)
		}
		put(t, Site{Records: store}, "pull/5/2", 1)
		time.Sleep(RecentLife)
		if list, err := r.List(t.Context(), "pull/5"); err != nil || len(list) != 2 {
			t.Errorf("later: %v, %v", list, err)
		}
	})
}

// listCounter counts how many lists are read.
type listCounter struct {
	pipeline.Records
	lists int
}

func (c *listCounter) List(ctx context.Context, dir string) ([]pipeline.Record, error) {
	c.lists++
	return c.Records.List(ctx, dir)
}
