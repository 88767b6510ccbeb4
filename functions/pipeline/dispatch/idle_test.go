package dispatch_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var idle = flag.Int("idle", 100, "the number of repositories of TestIdleRepositories")

// TestIdleRepositories holds that an hour of the janitor costs an idle repository one counted request, in a process that
// begins with the hour: GitHub's validators are of a token, and a token lives for an hour. So 500 cost 519.
//
// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func TestIdleRepositories(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": ""})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": ""})
	s.repo.Close("alice", n)
	s.settle()
	for i := range *idle - 1 {
		s.hub.AddRepository("acme", fmt.Sprintf("idle%d", i), githubtest.Files{"main.tf": ""})
	}
	now := s.hub.Now().Add(24 * time.Hour)
	s.roundAt(now, reconcile.Found{}) // looks at all
	app, err := github.NewApp(s.appConfig)
	if err != nil {
		t.Fatal(err)
	}
	s.app = app
	c := &counted{kinds: map[string]int{}}
	s.answered = c.count
	for range 6 {
		now = now.Add(10 * time.Minute)
		s.roundAt(now, reconcile.Found{})
	}
	if all := c.sum(""); all > *idle+25 {
		t.Errorf("%d requests of %d idle repositories in an hour:\n%s", all, *idle, c)
	}
}

// TestIdleIsOver holds that whatever happens to a pull request of an idle repository ends the idleness, also where the
// webhook is lost, and that a repository with an open pull request is none.
func TestIdleIsOver(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.repo.Close("alice", n)
	s.settle()
	s.hub.LoseDeliveries(1 << 20)
	other := s.hub.AddRepository("acme", "other", githubtest.Files{"main.tf": ""})
	other.Push("alice", "b", "b", githubtest.Files{"b.tf": ""})
	clock := other.OpenPull("alice", "b", "b")
	other.Close("alice", clock)
	later := func(want reconcile.Found) {
		t.Helper()
		for range 15 { // minutes, of the hub's time
			other.Comment("alice", clock, "tick")
		}
		j := &reconcile.Janitor{Pipeline: s.pipeline, App: noDeliveries{s.app}, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
			return s.app.Repository(installation, r)
		}}
		got, err := j.Round(t.Context(), s.hub.Now())
		if err != nil || got != want {
			t.Errorf("the round: %+v, %v", got, err)
		}
		s.settle()
	}
	later(reconcile.Found{})
	later(reconcile.Found{})
	s.repo.Comment("alice", n, "lockstep plan") // on one that is closed
	later(reconcile.Found{Comments: 1})
	later(reconcile.Found{})
	s.repo.Push("alice", "c", "c", githubtest.Files{"c.tf": resource("c", "1")})
	m := s.repo.OpenPull("alice", "c", "c")
	later(reconcile.Found{Heads: 1})
	later(reconcile.Found{})
	s.repo.Push("alice", "c", "c", githubtest.Files{"c.tf": resource("c", "2")})
	later(reconcile.Found{Heads: 1})
	s.expect("the status", s.status(m), "2 to add")
}
