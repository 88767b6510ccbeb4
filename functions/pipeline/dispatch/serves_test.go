package dispatch_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// watched notes what is asked of GitHub on behalf of an installation, and what is logged.
type watched struct {
	mu     sync.Mutex
	tokens map[string]int // by the path that gives one
	log    strings.Builder
}

func (s *stage) watch() *watched {
	w := &watched{tokens: map[string]int{}}
	s.fault = func(_ http.ResponseWriter, r *http.Request) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if strings.HasPrefix(r.URL.Path, "/app/installations/") {
			w.tokens[r.URL.Path]++
		}
		return false
	}
	s.pipeline.Log = func(err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		fmt.Fprintln(&w.log, err)
	}
	s.webhook.Intake = s.pipeline.Intake()
	return w
}

// tokensFor returns how many tokens were asked for of a repository's installation.
func (w *watched) tokensFor(r *githubtest.Repository) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tokens[fmt.Sprintf("/app/installations/%d/access_tokens", r.Installation())]
}

// done returns what Lockstep did in a repository.
func (s *stage) done(r *githubtest.Repository) (lines []string) {
	for _, e := range s.hub.Edits() {
		if e.Repo == r.String() && strings.HasSuffix(e.Who, "[bot]") {
			lines = append(lines, e.String())
		}
	}
	return lines
}

// stranger installs the App in a repository of their own, in which they grant themselves
// everything, and have it run a program.
func (s *stage) stranger(owner string) *githubtest.Repository {
	r := s.hub.AddRepository(owner, "infra", withBackends(githubtest.Files{
		"lockstep.hcl": "allow {\n  provisioners = true\n}\n",
		"main.tf":      "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {\n    command = \"id\"\n  }\n}\n",
	}))
	r.Push(owner, "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
	n := r.OpenPull(owner, "Change", "b")
	r.Comment(owner, n, "lockstep apply")
	return r
}

// TestStrangersAreNotServed carries out attacks: somebody installs the App in a repository
// of their own, takes a name that was given up, or takes an account. It holds that nothing
// of theirs is read, planned or written to, but for the check run that says so.
func TestStrangersAreNotServed(t *testing.T) {
	t.Parallel()
	t.Run("by_name", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		w := s.watch()
		evil := s.stranger("eve")
		s.settle()
		if got := s.done(evil); len(got) > 0 || w.tokensFor(evil) > 0 {
			t.Errorf("it led to %q and %d tokens", got, w.tokensFor(evil))
		}
		s.expect("the log", w.log.String(), "`eve/infra` is not enabled", "`-serves`")
		if list, err := s.records.List(t.Context(), "delivery"); err != nil || len(list) > 0 {
			t.Errorf("%d records, %v", len(list), err)
		}
	})
	t.Run("by_message", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		w := s.watch()
		evil := s.stranger("eve")
		p := pipeline.Pull{Installation: evil.Installation(), Repo: evil.Repo(), Number: 1}
		for _, kind := range []pipeline.Kind{pipeline.Commanded, pipeline.Closed, pipeline.SyncComments, pipeline.ToPlan, pipeline.ToApply} {
			m := pipeline.Message{ID: "m-" + string(kind), Kind: kind, Pull: p, Actor: "eve", Comment: 1, Lines: grammar.Parse("lockstep plan"), Target: ".@default"}
			if err := errors.Join(s.pipeline.Handle(t.Context(), m), s.pipeline.Abandon(t.Context(), m, "it died")); err != nil {
				t.Error(err)
			}
		}
		if got := s.done(evil); len(got) > 0 || w.tokensFor(evil) > 0 {
			t.Errorf("messages led to %q and %d tokens", got, w.tokensFor(evil))
		}
	})
	t.Run("by_the_janitor", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		w := s.watch()
		s.hub.LoseDeliveries(10)
		evil := s.stranger("eve")
		s.settle()
		s.hub.LoseDeliveries(0)
		s.round(reconcile.Found{})
		s.round(reconcile.Found{})
		if got := s.done(evil); len(got) > 0 || w.tokensFor(evil) > 0 {
			t.Errorf("rounds led to %q and %d tokens", got, w.tokensFor(evil))
		}
		if w.tokensFor(s.repo) == 0 {
			t.Error("the janitor did not look at what is served")
		}
	})
	t.Run("none_named", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		s.pipeline.Serves = intake.Serves{}
		s.webhook.Intake = s.pipeline.Intake()
		w := s.watch()
		n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
		s.say("alice", n, "lockstep plan")
		s.notServed(0, "b", "is not enabled: no repository is.", "`acme/infra`")
		s.expect("the log", w.log.String(), "acme/infra is not served")
		s.repo.Push("alice", "b", "More", githubtest.Files{"c.tf": resource("c", "1")})
		s.settle()
		s.notServed(0, "b", "is not enabled: no repository is")
		s.round(reconcile.Found{})
	})
}

// notServed holds that Lockstep did nothing, since what it had done before, but a check run
// at the head of a branch, which says why it is not served.
func (s *stage) notServed(before int, branch string, why ...string) {
	s.t.Helper()
	if got := len(s.repo.Checks(s.repo.Head(branch))); got != 1 {
		s.t.Errorf("%d checks at the head", got)
	}
	s.expect("the check", s.pages(branch), append(why, "lockstep: completed neutral, Not enabled for this repository")...)
	for _, line := range s.done(s.repo)[before:] {
		if !strings.HasPrefix(line, "check lockstep ") {
			s.t.Errorf("Lockstep did %s", line)
		}
	}
}

// TestNamesChangeHands holds that a name counts for the repository, and the account, that
// had it first, until somebody names the other's ID.
func TestNamesChangeHands(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*stage, githubtest.Files) (owner string){
		"repository": func(s *stage, files githubtest.Files) string {
			s.repo.Delete()
			s.repo = s.hub.AddRepository("acme", "infra", files)
			return fmt.Sprintf("acme acme/infra=%d", s.repo.Repo().ID)
		},
		"account": func(s *stage, files githubtest.Files) string {
			s.hub.GiveUp("acme")
			s.repo = s.hub.AddRepository("acme", "new", files)
			return fmt.Sprintf("acme=%d", s.repo.Repo().OwnerID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := withBackends(githubtest.Files{"main.tf": resource("a", "1")})
			s := newStage(t, files)
			w := s.watch()
			s.expect("the first", s.status(s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})), "2 to add")
			remedy := take(s, files)
			s.repo.Grant("alice", "write")
			before := len(s.done(s.repo))
			n := s.pull("alice", "c", githubtest.Files{"c.tf": resource("c", "1")})
			if got := s.say("alice", n, "lockstep plan"); got != "" {
				t.Errorf("it was answered: %s", got)
			}
			words := strings.Fields(remedy)
			s.notServed(before, "c", "that was enabled under this name", "`"+words[len(words)-1]+"`")
			s.expect("the log", w.log.String(), "that was enabled under this name")
			s.round(reconcile.Found{})

			s.pipeline.Serves = serving(t, remedy)
			s.webhook.Intake = s.pipeline.Intake()
			s.expect("once its ID is named", s.say("alice", n, "lockstep plan"), "**Planned** `.`: 2 to add")
			s.pipeline.Serves = serving(t, "acme")
			s.webhook.Intake = s.pipeline.Intake()
			s.expect("and from then on", s.say("alice", n, "lockstep plan"), "**Planned** `.`: 2 to add")
		})
	}
}
