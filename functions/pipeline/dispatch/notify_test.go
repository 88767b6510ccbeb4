package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// notifying is a repository with two projects, and notifications of all outcomes, and of those of one project.
func notifying() githubtest.Files {
	return githubtest.Files{
		"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n" +
			"notify \"all\" {\n  on = [\"planned\", \"unchanged\", \"plan_failed\", \"applied\", \"apply_failed\", \"apply_stopped\"]\n  program = \"all\"\n}\n" +
			"notify \"app\" {\n  on = [\"plan_failed\", \"applied\"]\n  program = \"app\"\n  projects = [\"app\"]\n}\n",
	}
}

// heard are the notifications that somebody got.
type heard struct {
	mu   sync.Mutex
	all  []string
	fail bool
}

func (h *heard) use(s *stage) {
	s.pipeline.Notify = func(_ context.Context, n jobs.Notice) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, x := range n.Happened {
			h.all = append(h.all, fmt.Sprintf("%s: %s %s +%d", n.Notification.Name, x.Run.Project, x.Outcome, x.Counts.Add))
		}
		if h.fail || n.URL == "" {
			return errors.New("nobody is there")
		}
		return nil
	}
}

// since returns what was told since the last call, sorted.
func (h *heard) since() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.all)
	out := strings.Join(h.all, ", ")
	h.all = nil
	return out
}

// TestNotifications is the story of a pull request that people elsewhere are told of, each outcome once.
func TestNotifications(t *testing.T) {
	t.Parallel()
	s := newStage(t, notifying())
	h := &heard{}
	h.use(s)
	told := func(what, want string) {
		t.Helper()
		if got := h.since(); got != want {
			t.Errorf("%s: told: %s; want %s", what, got, want)
		}
	}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": "resource {\n", "lockstep.hcl": githubtest.Deleted})
	told("by the base branch, whatever the pull request has", "all: app plan_failed +0, all: net planned +2, app: app plan_failed +0")
	s.repo.Push("alice", "b", "With settings", githubtest.Files{"lockstep.hcl": notifying()["lockstep.hcl"]})
	s.settle()
	told("planned again", "all: app plan_failed +0, all: net planned +2, app: app plan_failed +0")
	s.say("alice", n, "lockstep help")
	told("nothing new", "")
	s.say("bob", n, "lockstep apply -p net")
	told("an apply", "all: net applied +2")
	h.fail = true
	s.pipeline.Log = func(error) {}
	s.repo.Push("alice", "b", "Mend", githubtest.Files{"app/b.tf": resource("b", "1")})
	s.settle()
	told("nobody is there", "all: app planned +2, all: net unchanged +0")
	s.say("alice", n, "lockstep help")
	told("it is given up", "")
	h.fail = false
	s.say("bob", n, "lockstep apply -p app")
	told("the next", "all: app applied +2, app: app applied +2")
}

// notifyStory has somebody told of an apply, at least once.
func notifyStory(t *testing.T, f *faults) {
	s := newStage(t, notifying())
	h := &heard{}
	h.use(s)
	n := s.pull("alice", "b", githubtest.Files{"app/b.tf": resource("b", "1")})
	h.since()
	f.use(s)
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	got := strings.Split(h.since(), ", ")
	if strings.Contains(s.answerTo(n, id), "**Applied**") && (!slices.Contains(got, "all: app applied +2") || !slices.Contains(got, "app: app applied +2")) || len(got) > 5 {
		t.Errorf("%v: told: %q", f, got)
	}
	if list, err := s.records.List(t.Context(), fmt.Sprintf("told/%d", s.repo.Repo().ID)); err != nil || len(list) != 1 {
		t.Errorf("%v: %v %v", f, list, err)
	}
}

// TestNotifiedOfANewPlan holds that people elsewhere are told of a plan that is made by itself in the place of another.
func TestNotifiedOfANewPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, notifying())
	h := &heard{}
	h.use(s)
	one := s.pull("alice", "one", githubtest.Files{"net/b.tf": resource("b", "1")})
	two := s.pull("bob", "two", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", one, "lockstep apply")
	h.since()
	s.repo.Merge("alice", one)
	s.settle()
	if got, want := h.since(), "all: net planned +1"; got != want {
		t.Errorf("told: %s; want %s", got, want)
	}
	s.say("bob", two, "lockstep help")
	if got := h.since(); got != "" {
		t.Errorf("told again: %s", got)
	}
}

// TestNotifiedOfAMergeInVain holds that people elsewhere are told of what is merged and not applied.
func TestNotifiedOfAMergeInVain(t *testing.T) {
	t.Parallel()
	files := notifying()
	files["lockstep.hcl"] = strings.Replace(files["lockstep.hcl"], "\"apply_stopped\"", "\"apply_stopped\", \"not_applied\"", 1)
	s := newStage(t, files)
	h := &heard{}
	h.use(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	h.since()
	s.repo.Merge("alice", n)
	s.settle()
	if got, want := h.since(), "all: net not_applied +2"; got != want {
		t.Errorf("told: %s; want %s", got, want)
	}
}

// TestNotifiedOfAMergeThatWaits holds that people elsewhere are told, once, of what is merged and waits for what is missing, also where
// the merge applies nothing else.
func TestNotifiedOfAMergeThatWaits(t *testing.T) {
	t.Parallel()
	s := newStage(t, landing(frozen()+"notify \"all\" {\n  on = [\"applied\", \"not_applied\"]\n  program = \"all\"\n}\n"))
	h := &heard{}
	h.use(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the status", s.status(n), "Lockstep applies the plan once its requirements are met, if the plan is still up to date then.")
	if got, want := h.since(), "all: net not_applied +2"; got != want {
		t.Errorf("told: %s; want %s", got, want)
	}
	s.say("alice", n, "lockstep help")
	if got := h.since(); got != "" {
		t.Errorf("told again: %s", got)
	}
}

// TestNotifiedOfAMergeOfAFailedPlan holds the same of a project whose plan had failed: the merge is another outcome than the plan was.
func TestNotifiedOfAMergeOfAFailedPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, landing("notify \"all\" {\n  on = [\"plan_failed\", \"not_applied\"]\n  program = \"all\"\n}\n"))
	h := &heard{}
	h.use(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": "resource {\n"})
	if got, want := h.since(), "all: net plan_failed +0"; got != want {
		t.Errorf("told: %s; want %s", got, want)
	}
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Not applied** `net`")
	if got, want := h.since(), "all: net not_applied +0"; got != want {
		t.Errorf("told: %s; want %s", got, want)
	}
	s.say("alice", n, "lockstep help")
	if got := h.since(); got != "" {
		t.Errorf("told again: %s", got)
	}
}
