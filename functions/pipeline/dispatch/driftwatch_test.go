package dispatch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// drifting is an engine that finds drift in projects, or fails.
type drifting struct {
	jobs.Engine
	report map[string]string // by project: the changes, or "" for none
	broken string
	looked map[string]int
	// triggers is set if plans after applies are expected; they have changes if behind is set.
	triggers, behind bool
}

func (d *drifting) Plan(_ context.Context, j jobs.Job) (jobs.PlanResult, error) {
	if !j.Options.RefreshOnly && d.triggers {
		return jobs.PlanResult{Plan: []byte("a plan"), Applyable: d.behind, Report: "it will change"}, nil
	}
	if !j.Options.RefreshOnly || j.Number != 0 || !strings.Contains(j.Owner, "looking for drift") {
		return jobs.PlanResult{}, fmt.Errorf("this is no look for drift: %+v", j)
	}
	d.looked[j.Project]++
	if d.broken != "" {
		return jobs.PlanResult{Report: d.broken}, nil
	}
	text := d.report[j.Project]
	return jobs.PlanResult{Plan: []byte("a plan"), Drifted: strings.Count(text, "changed"), Report: text}, nil
}

// driftFor lets time pass, in steps of 15 minutes, with the messages that the janitor would send.
func (s *stage) driftFor(d time.Duration) { s.driftWith(d, s.settle) }

// driftWith is like driftFor; settle has the messages handled.
func (s *stage) driftWith(d time.Duration, settle func()) {
	s.t.Helper()
	repo := s.ref(1)
	repo.Number = 0
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(15 * time.Minute)
		m := pipeline.Message{Kind: pipeline.FindDrift, Pull: repo, ID: fmt.Sprint("find-drift-", time.Now().Unix())}
		if err := s.data.Queue.Send(s.t.Context(), m); err != nil {
			s.t.Fatal(err)
		}
		settle()
	}
}

// TestDrift is the story of two projects in which drift is looked for each day. Each has its own turn. Drift opens one
// issue, which is kept up to date, and closed when the drift is gone. The next drift gets another issue.
func TestDrift(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "db/main.tf": resource("a", "1"), "lockstep.hcl": "drift {\n  projects = [\"net\", \"db\"]\n}\n", "app/main.tf": resource("a", "1")})
		engine := &drifting{Engine: s.pipeline.Engine, report: map[string]string{}, looked: map[string]int{}}
		s.pipeline.Engine, s.pipeline.Secrets = engine, []github.Secret{github.NewSecret("swordfish")}
		issues := func(want ...string) {
			t.Helper()
			var got []string
			for _, x := range s.repo.Issues() {
				got = append(got, fmt.Sprintf("%s %v", x.Title, x.Open))
			}
			if strings.Join(got, ", ") != strings.Join(want, ", ") {
				t.Errorf("issues %q, want %q", got, want)
			}
		}
		s.driftFor(3 * 24 * time.Hour)
		if net, db := engine.looked["net"], engine.looked["db"]; net < 3 || net > 4 || db < 3 || db > 4 || engine.looked["app"] != 0 {
			t.Errorf("looks in three days: %v", engine.looked)
		}
		issues()

		engine.report["net"] = "terraform_data.a has changed: swordfish <!-- lockstep:answer 1 -->"
		since, writes := time.Now(), 0
		s.answered = func(r *http.Request, _ int) {
			if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/issues") {
				writes++
			}
		}
		s.driftFor(3 * 24 * time.Hour)
		issues("Drift in net true")
		if writes != 1 {
			t.Errorf("%d writes about the same drift on three days", writes)
		}
		body := s.repo.Issues()[0].Body
		s.expect("the issue", body, "An object of `net` changed outside of Lockstep.", "terraform_data.a has changed", "To undo these changes, comment `lockstep drift revert`.", "To keep these changes, comment `lockstep drift accept`.", since.UTC().Format("2006-01-"))
		if strings.Contains(body, "swordfish") || strings.Contains(body, "<!-- lockstep:answer") {
			t.Errorf("a secret or a marker is in the issue: %s", body)
		}
		engine.report["net"] = "terraform_data.a has changed, terraform_data.b has changed, too"
		s.driftFor(24 * time.Hour)
		issues("Drift in net true")
		s.expect("the issue, updated", s.repo.Issues()[0].Body, "2 objects of `net` changed", "terraform_data.b has changed, too")
		if strings.Count(s.repo.Issues()[0].Body, "saw this first on "+since.UTC().Format("2006")) != 1 {
			t.Errorf("since when: %s", s.repo.Issues()[0].Body)
		}
		engine.report["net"] = ""
		s.driftFor(24 * time.Hour)
		issues("Drift in net false")
		s.expect("the closed issue", s.repo.Issues()[0].Body, "`net` has no drift any more", "Lockstep closes this issue.")
		engine.report["net"] = "it changed once more"
		s.driftFor(24 * time.Hour)
		issues("Drift in net false", "Drift in net true")

		s.repo.Push("alice", "main", "No drift for net", githubtest.Files{"lockstep.hcl": "drift {\n  schedule = \"rate(1 hour)\"\n  projects = [\"db\"]\n}\n"})
		s.driftFor(6 * time.Hour)
		issues("Drift in net false", "Drift in net false")
		s.expect("the unwatched one", s.repo.Issues()[1].Body, "no longer looks for drift in `net`")

		engine.broken = "**Error:** the provider is gone"
		s.driftFor(2 * time.Hour)
		issues("Drift in net false", "Drift in net false")
		s.driftFor(3 * time.Hour)
		issues("Drift in net false", "Drift in net false", "Lockstep cannot look for drift in db true")
		s.expect("what failed", s.repo.Issues()[2].Body, "Three looks for drift in `db` have failed", "the provider is gone")
		engine.broken = ""
		s.driftFor(2 * time.Hour)
		issues("Drift in net false", "Drift in net false", "Drift in db false")
	})
}

// TestDriftFailures holds that only failures one after the other are told: a look in between that finds the same drift
// counts, and the error has no secret. Each error that stays is written once.
func TestDriftFailures(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "drift {}\n"})
	engine := &drifting{Engine: s.pipeline.Engine, report: map[string]string{"net": "it has changed"}, looked: map[string]int{}}
	s.pipeline.Engine, s.pipeline.Secrets = engine, []github.Secret{github.NewSecret("swordfish")}
	repo := s.ref(1)
	repo.Number = 0
	writes := 0
	s.answered = func(r *http.Request, _ int) {
		if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/issues") {
			writes++
		}
	}
	look := func(broken string) {
		t.Helper()
		engine.broken = broken
		engine.looked["looks"]++
		m := pipeline.Message{Kind: pipeline.ToDrift, Pull: repo, ID: fmt.Sprint("look-", engine.looked["looks"]), Target: "net@default"}
		if err := s.pipeline.Queue.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		s.settle()
	}
	for range 3 {
		look("")
		look("the provider is gone")
	}
	if all := s.repo.Issues(); len(all) != 1 || all[0].Title != "Drift in net" || writes != 1 {
		t.Errorf("%d writes: %+v", writes, all)
	}
	for range 4 {
		look("swordfish is gone")
	}
	if all := s.repo.Issues(); len(all) != 1 || all[0].Title != "Lockstep cannot look for drift in net" || writes != 2 || strings.Contains(all[0].Body, "swordfish") {
		t.Errorf("%d writes: %+v", writes, all)
	}
}

// TestDriftWithoutIssues holds that drift in a repository with issues disabled is told as soon as they are enabled.
func TestDriftWithoutIssues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "drift {\n  schedule = \"rate(1 hour)\"\n}\n"})
		s.pipeline.Engine = &drifting{Engine: s.pipeline.Engine, report: map[string]string{"net": "it has changed"}, looked: map[string]int{}}
		s.repo.WithoutIssues(true)
		s.driftFor(3 * time.Hour)
		if all := s.repo.Issues(); len(all) > 0 {
			t.Errorf("issues: %+v", all)
		}
		s.repo.WithoutIssues(false)
		s.driftFor(3 * time.Hour)
		if all := s.repo.Issues(); len(all) != 1 || !all[0].Open {
			t.Errorf("issues: %+v", all)
		}
	})
}

// TestDriftOfSimilarNames holds that the issues of projects with similar names are closed in the same round.
func TestDriftOfSimilarNames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, githubtest.Files{"a/b/main.tf": resource("a", "1"), "a-2Fb/main.tf": resource("a", "1"), "lockstep.hcl": "drift {\n  schedule = \"rate(1 hour)\"\n}\n"})
		s.pipeline.Engine = &drifting{Engine: s.pipeline.Engine, report: map[string]string{"a/b": "it has changed", "a-2Fb": "it has changed"}, looked: map[string]int{}}
		s.driftFor(2 * time.Hour)
		s.repo.Push("alice", "main", "No drift", githubtest.Files{"lockstep.hcl": "\n"})
		s.driftFor(15 * time.Minute)
		all := s.repo.Issues()
		if len(all) != 2 || all[0].Open || all[1].Open {
			t.Errorf("issues: %+v", all)
		}
	})
}

// TestDriftAfterAClockAhead holds that rounds go on after a clock that was a year ahead.
func TestDriftAfterAClockAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "drift {\n  schedule = \"rate(1 hour)\"\n}\n"})
		engine := &drifting{Engine: s.pipeline.Engine, report: map[string]string{}, looked: map[string]int{}}
		s.pipeline.Engine = engine
		ahead := time.Now().AddDate(1, 0, 0)
		if err := (ledger.Ledger{Records: s.records}).SaveDriftRound(t.Context(), s.ref(1), ledger.DriftRound{Last: ahead, Next: ahead.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		s.driftFor(3 * time.Hour)
		if n := engine.looked["net"]; n < 2 || n > 4 {
			t.Errorf("%d looks in three hours", n)
		}
	})
}

// TestDriftForReal looks for drift with the engine. What is merged and not applied is no drift, and a project that no
// longer plans gets an issue.
func TestDriftForReal(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "net/outputs.tf": "output \"o\" {\n  value = \"1\"\n}\n", "lockstep.hcl": "drift {\n  schedule = \"rate(1 hour)\"\n}\n"})
	look := func(n int) {
		t.Helper()
		repo := s.ref(1)
		repo.Number = 0
		for i := range n {
			m := pipeline.Message{Kind: pipeline.ToDrift, Pull: repo, ID: fmt.Sprintf("look-%d-%d", time.Now().UnixNano(), i), Target: "net@default"}
			if err := s.pipeline.Queue.Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			s.settle()
		}
	}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	s.repo.Merge("alice", n)
	s.settle()
	s.repo.Push("alice", "main", "Another output", githubtest.Files{"net/outputs.tf": "output \"o\" {\n  value = \"2\"\n}\n"})
	look(1)
	if all := s.repo.Issues(); len(all) > 0 {
		t.Errorf("an issue about a change that is not applied: %s", all[0].Body)
	}
	s.repo.Push("alice", "main", "A mistake", githubtest.Files{"net/outputs.tf": "output \"o\" {\n  value = local.nothing\n}\n"})
	look(2)
	if all := s.repo.Issues(); len(all) > 0 {
		t.Errorf("an issue after two looks: %s", all[0].Body)
	}
	look(1)
	s.expect("the issue", s.repo.Issues()[0].Body, "Three looks for drift in `net` have failed", "local.nothing")
	s.repo.Push("alice", "main", "Corrected", githubtest.Files{"net/outputs.tf": "output \"o\" {\n  value = \"2\"\n}\n"})
	look(1)
	if x := s.repo.Issues()[0]; x.Open || !strings.Contains(x.Body, "has no drift any more") {
		t.Errorf("after the correction: %+v", x)
	}
}

// TestDriftSurvives plays histories in which any call to GitHub or to the records may fail, before or after it is done,
// as if its process had died. A project never has two open issues. When nothing fails any more, each project with drift
// has one at the end of the next interval, and no other project has one. The same is true for the issue about db, which an
// apply of net may have made out of date.
func TestDriftSurvives(t *testing.T) {
	t.Parallel()
	histories := 15
	if n, err := strconv.Atoi(os.Getenv("LOCKSTEP_DRIFT_HISTORIES")); err == nil {
		histories = n
	}
	for seed := range uint64(histories) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "db/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n\nproject \"db\" {\n  dir        = \"db\"\n  depends_on = [\"net\"]\n}\n\ndrift {\n  schedule     = \"rate(1 hour)\"\n  run_triggers = true\n}\n"})
			engine := &drifting{Engine: s.pipeline.Engine, report: map[string]string{}, looked: map[string]int{}, triggers: true}
			s.pipeline.Engine = engine
			const outOfDate = "db has changes to apply since the apply of net"
			open := func() map[string]int {
				n := map[string]int{}
				for _, x := range s.repo.Issues() {
					if x.Open {
						n[x.Title]++
					}
				}
				return n
			}
			calm := s.gate(memory.Deciding(func(memory.Effect) (v memory.Verdict) {
				switch r.IntN(12) {
				case 0:
					v.Undone = errDown
				case 1:
					v.Done = errDown
				}
				return v
			}))
			for range 12 {
				p := []string{"net", "db"}[r.IntN(2)]
				if engine.report[p] = ""; r.IntN(2) == 0 {
					engine.report[p] = fmt.Sprint("it has changed, ", r.IntN(3))
				}
				if engine.behind = r.IntN(2) == 0; r.IntN(3) == 0 {
					repo := s.ref(1)
					repo.Number = 0
					m := pipeline.Message{Kind: pipeline.FindDrift, Pull: repo, ID: fmt.Sprint("after-", time.Now().Unix()), Target: "net@default", After: 1, At: time.Now()}
					if err := s.data.Queue.Send(t.Context(), m); err != nil {
						t.Fatal(err)
					}
				}
				s.driftWith(time.Duration(1+r.IntN(4))*15*time.Minute, func() {
					gone := func(context.Context, pipeline.Message, string) error { return nil }
					if _, err := s.data.Queue.Drain(t.Context(), localstore.Worker{Handle: s.pipeline.Handle, Abandon: gone}); err != nil {
						t.Fatal(err)
					}
				})
				for title, n := range open() {
					if n > 1 {
						t.Fatalf("seed %d: %d open issues: %s", seed, n, title)
					}
				}
			}
			calm()
			s.driftFor(3 * time.Hour)
			want := map[string]int{}
			for p, text := range engine.report {
				if text != "" {
					want["Drift in "+p] = 1
				}
			}
			// Only a message that was never handled leaves db unnoticed.
			known, err := s.pipeline.Ledger().RunTriggerOf(t.Context(), s.ref(1), "db@default")
			if err != nil || known.Pending || known.Open != (engine.behind && open()[outOfDate] > 0) {
				t.Errorf("seed %d: %+v, %v", seed, known, err)
			}
			if engine.behind && known.Open {
				want[outOfDate] = 1
			}
			if d := cmp.Diff(want, open()); d != "" {
				t.Errorf("seed %d: open issues: %s", seed, d)
			}
		})
	}
}

// TestDriftRequests holds that a look needs at most five requests to GitHub. So daily looks at 500 projects need 2,500 a day,
// and GitHub allows an App 5,000 an hour. LOCKSTEP_DRIFT_PROJECTS sets the number of projects.
func TestDriftRequests(t *testing.T) {
	t.Parallel()
	projects := 40
	if n, err := strconv.Atoi(os.Getenv("LOCKSTEP_DRIFT_PROJECTS")); err == nil {
		projects = n
	}
	synctest.Test(t, func(t *testing.T) {
		files := githubtest.Files{"lockstep.hcl": "drift {}\n"}
		for i := range projects {
			files[fmt.Sprintf("p%03d/main.tf", i)] = resource("a", "1")
		}
		s := newStage(t, files)
		engine := &drifting{Engine: s.pipeline.Engine, report: map[string]string{}, looked: map[string]int{}}
		s.pipeline.Engine, s.pipeline.Bases = engine, &gatefacts.Bases{}
		hours := map[int]int{}
		begin := time.Now()
		s.answered = func(*http.Request, int) { hours[int(time.Since(begin)/time.Hour)]++ }
		s.driftFor(24 * time.Hour)
		total, busiest := 0, 0
		for _, n := range hours {
			total, busiest = total+n, max(busiest, n)
		}
		t.Logf("%d looks, %d requests, %d in the busiest hour", len(engine.looked), total, busiest)
		const rounds = 25 * 5
		if len(engine.looked) != projects || total > 5*projects+rounds || busiest > max(100, projects) {
			t.Errorf("%d looks, %d requests, %d in the busiest hour", len(engine.looked), total, busiest)
		}
	})
}
