package dispatch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// landing are files with two projects that the merge applies, the second one after the first, and the requirements of a body.
func landing(body string) githubtest.Files {
	return githubtest.Files{
		"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\nproject \"app\" {\n  dir = \"app\"\n  apply = \"merge\"\n  depends_on = [\"net\"]\n}\n" + body,
	}
}

// frozen is a requirement that does not hold for half an hour.
func frozen() string {
	end := time.Now().UTC().Add(30 * time.Minute)
	return "require \"apply\" {\n  freeze = [\"2001-01-01/" + end.Format("2006-01-02T15:04") + ": x\"]\n}\n"
}

// lift takes the requirements away on the base branch, and lets the janitor come some hours later.
func (s *stage) lift() {
	s.t.Helper()
	s.repo.Push("carol", "main", "Lift", githubtest.Files{"lockstep.hcl": landing("")["lockstep.hcl"]})
	s.settle()
	s.roundAt(s.late()[0].At.Add(3*time.Hour), reconcile.Found{Decisions: 1})
}

// late are the watches over merged pull requests.
func (s *stage) late() (out []pipeline.Watch) {
	s.t.Helper()
	all, err := s.records.List(s.t.Context(), pipeline.LateDir(s.repo.Repo().ID))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, rec := range all {
		w, err := pipeline.DecodeWatch(rec)
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// openIssues are the titles of the open issues.
func (s *stage) openIssues() (out []string) {
	for _, x := range s.repo.Issues() {
		if x.Open {
			out = append(out, x.Title)
		}
	}
	return out
}

// TestLateApply holds that a merge in a freeze is applied by itself once that is over, in order, and told of until then.
func TestLateApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, landing(frozen()))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Not applied**", "`net`", "`app`", "**not met**: a time outside all freezes", "Once nothing blocks it, Lockstep applies the plan, if the plan is still up to date then.")
	s.lacks("the answer", s.answer(n, "merge"), "look at it, and apply that one")
	s.expect("the status", s.status(n), "erged, not applied", "| **merged, not applied**, waiting for the end of the freeze | `net` | 2 to add", "| **merged, not applied**, waiting for the end of the freeze, after `net` | `app` | 2 to add", "Lockstep applies the plan once its requirements are met, if the plan is still up to date then.")
	s.lacks("the status", s.status(n), "To apply what was merged")
	s.expect("the check", s.check("b"), "action_required Merged, not applied")
	if got := s.openIssues(); len(got) != 1 {
		t.Errorf("the issues are %q", got)
	}
	w := s.late()
	if len(w) != 1 || w[0].Until.IsZero() {
		t.Fatalf("the watches are %+v", w)
	}
	now := w[0].At.Add(59 * time.Minute)
	if !now.Before(w[0].Until) {
		now = w[0].Until.Add(-time.Minute)
	}
	s.roundAt(now, reconcile.Found{})
	s.roundAt(w[0].Until, reconcile.Found{Decisions: 1}) // the clock of whoever decides is not so far
	s.expect("the status then", s.status(n), "Lockstep applies the plan once its requirements are met, if the plan is still up to date then.")
	s.lift()
	s.expect("the answer then", s.answer(n, "merge"), "**Applied** `net`: 2 added", "**Applied** `app`: 2 added")
	s.expect("the status then", s.status(n), "applied by", "applied by `bob`")
	if got := s.openIssues(); len(got) > 0 || len(s.late()) > 0 {
		t.Errorf("the issues are %q, the watches %+v", got, s.late())
	}
	comments := len(s.repo.Comments(n))
	s.roundAt(time.Now().Add(3*time.Hour), reconcile.Found{})
	if got := len(s.repo.Comments(n)); got != comments {
		t.Errorf("%d comments, and %d before", got, comments)
	}
}

// TestLateDecisions holds that nothing is applied twice, whoever decides again and dies, and nothing at all that does not fit the base
// branch any more, or that a person has ended or has planned anew.
func TestLateDecisions(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*stage, int) {
		s := newStage(t, landing(frozen()))
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.repo.Merge("bob", n)
		s.settle()
		return s, n
	}
	t.Run("many at once", func(t *testing.T) {
		s, n := start(t)
		s.repo.Push("carol", "main", "Lift", githubtest.Files{"lockstep.hcl": landing("")["lockstep.hcl"]})
		for i := range 3 {
			if err := s.pipeline.Handle(t.Context(), pipeline.Message{ID: fmt.Sprint("decided-", i), Kind: pipeline.SyncComments, Pull: s.ref(n)}); err != nil {
				t.Fatal(err)
			}
		}
		s.settle()
		if got := strings.Count(s.answer(n, "merge"), "**Applied** `net`: 2 added"); got != 1 {
			t.Errorf("told %d times:\n%s", got, s.answer(n, "merge"))
		}
	})
	t.Run("merged again", func(t *testing.T) {
		s, n := start(t)
		s.repo.Push("carol", "main", "Revert", githubtest.Files{"net/b.tf": githubtest.Deleted})
		s.lift()
		s.expect("the answer", s.answer(n, "merge"), "Not applied", "`net/b.tf`", "comment `lockstep retry`")
		s.expect("the status", s.status(n), "erged, not applied", "To apply what was merged, comment `lockstep retry`")
		if got := made(t, s, "net"); strings.HasPrefix(got, "serial") {
			t.Errorf("the state has %s", got)
		}
		if got := s.late(); len(got) > 0 {
			t.Errorf("the watches are %+v", got)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		s, n := start(t)
		s.say("alice", n, "lockstep stop")
		s.expect("the status", s.status(n), "To apply what was merged, comment `lockstep retry`")
		s.repo.Push("carol", "main", "Lift", githubtest.Files{"lockstep.hcl": landing("")["lockstep.hcl"]})
		s.settle()
		s.roundAt(time.Now().Add(3*time.Hour), reconcile.Found{})
		if got := made(t, s, "net"); strings.HasPrefix(got, "serial") {
			t.Errorf("the state has %s", got)
		}
	})
	t.Run("planned anew", func(t *testing.T) {
		s, n := start(t)
		s.expect("the retry", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 2 to add")
		s.expect("the status", s.status(n), "**waiting** for the end of the freeze")
		s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "**not met**: a time outside all freezes")
		if got := s.late(); len(got) != 1 || got[0].Until.IsZero() {
			t.Errorf("the watches are %+v", got)
		}
		if got := made(t, s, "net"); strings.HasPrefix(got, "serial") {
			t.Errorf("the state has %s", got)
		}
	})
	t.Run("frozen meanwhile", func(t *testing.T) {
		s, n := start(t)
		s.repo.Push("carol", "main", "Lift", githubtest.Files{"lockstep.hcl": landing("")["lockstep.hcl"]})
		if err := s.pipeline.Handle(t.Context(), pipeline.Message{ID: "decided", Kind: pipeline.SyncComments, Pull: s.ref(n)}); err != nil {
			t.Fatal(err)
		}
		s.expect("the queue", s.status(n), "queued")
		s.repo.Push("carol", "main", "Freeze", githubtest.Files{"lockstep.hcl": landing(frozen())["lockstep.hcl"]})
		s.settle()
		s.expect("the answer", s.answer(n, "merge"), "**not met**: a time outside all freezes", "Once nothing blocks it, Lockstep applies the plan, if the plan is still up to date then.")
		s.expect("the status", s.status(n), "**merged, not applied**, waiting for ")
		s.lift()
		s.expect("the answer then", s.answer(n, "merge"), "**Applied** `net`: 2 added")
	})
	t.Run("who merged may not any more", func(t *testing.T) {
		s, n := start(t)
		s.repo.Grant("bob", "read")
		s.lift()
		s.expect("the answer", s.answer(n, "merge"), "`bob` has the permission `read`")
	})
}

// TestLateFacts holds that an apply of a merge waits for what people have to do, and for nothing that a new plan alone can mend.
func TestLateFacts(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, body string) (*stage, int) {
		s := newStage(t, landing("require \"apply\" {\n"+body+"\n}\n"))
		return s, s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	}
	t.Run("an approval", func(t *testing.T) {
		s, n := start(t, "  approvals = 1")
		s.repo.Merge("alice", n)
		s.settle()
		s.expect("the answer", s.answer(n, "merge"), "**not met**: an approval of the planned commit", "Once nothing blocks it, Lockstep applies the plan, if the plan is still up to date then.")
		s.repo.Review("bob", n, github.Approved, "")
		s.settle()
		s.expect("the answer then", s.answer(n, "merge"), "**Applied** `net`: 2 added")
	})
	t.Run("an approval in a freeze that is new", func(t *testing.T) {
		s, n := start(t, "  approvals = 1")
		s.repo.Merge("alice", n)
		s.settle()
		s.repo.Push("carol", "main", "Freeze", githubtest.Files{"lockstep.hcl": landing(frozen())["lockstep.hcl"]})
		s.repo.Review("bob", n, github.Approved, "")
		s.settle()
		s.expect("the status", s.status(n), "**merged, not applied**, waiting for ", "**not met**: a time outside all freezes")
		s.lacks("the answer", s.answer(n, "merge"), "Applied")
	})
	t.Run("a label", func(t *testing.T) {
		s, n := start(t, "  labels = [\"go\"]")
		s.repo.Merge("alice", n)
		s.settle()
		s.repo.Label("bob", n, "go")
		s.settle()
		s.expect("the answer then", s.answer(n, "merge"), "**Applied** `net`: 2 added")
	})
	t.Run("too much", func(t *testing.T) {
		s, n := start(t, "  max_changes = 1")
		s.repo.Merge("alice", n)
		s.settle()
		s.expect("the answer", s.answer(n, "merge"), "at most 1 change", "comment `lockstep retry`")
		s.expect("the status", s.status(n), "To apply what was merged")
	})
	t.Run("a lock", func(t *testing.T) {
		s, n := start(t, "  permission = \"write\"")
		other := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
		s.say("bob", other, "lockstep lock --reason \"it moves\"")
		s.repo.Merge("alice", n)
		s.settle()
		s.expect("the answer", s.answer(n, "merge"), "Locked by #2: `bob` has locked the state", "Once nothing blocks it, Lockstep applies the plan, if the plan is still up to date then.")
		s.say("bob", other, "lockstep unlock")
		s.expect("the answer then", s.answer(n, "merge"), "**Applied** `net`: 2 added")
	})
}

// TestLateCommands holds that nobody is told to plan anew, or to apply, what waits after its merge and is applied by itself: a new plan
// would lose the override of the one that waits.
func TestLateCommands(t *testing.T) {
	t.Parallel()
	s := newStage(t, landing("require \"apply\" {\n  labels = [\"go\"]\n  override = [\"zoe\"]\n}\nrequire \"apply\" {\n  approvals = 1\n}\n"))
	s.repo.Grant("zoe", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Merge("alice", n)
	s.settle()
	for _, command := range []string{"lockstep apply", "lockstep apply -p net"} {
		got := s.say("bob", n, command)
		s.expect(command, got, "**Not applied** `net`", "The merge requested this apply, which waits for its requirements.", "Lockstep applies the plan once they are met, if the plan is still up to date then.")
		s.lacks(command, got, "is under way")
		s.lacks(command, got, "look at it, and apply that one")
	}
	got := s.say("zoe", n, override)
	s.expect("the override", got, "**Requirements overridden** for the plan of `net`", "an approval of the planned commit", "Lockstep applies the plan once its requirements are met, if the plan is still up to date then.")
	s.lacks("the override", got, "lockstep apply")
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("the answer then", s.answer(n, "merge"), "**Applied** `net`: 2 added")
}

// TestLateOverride holds that an override of all that is missing has what waits after its merge applied, and says so.
func TestLateOverride(t *testing.T) {
	t.Parallel()
	s := newStage(t, landing("require \"apply\" {\n  labels = [\"go\"]\n  override = [\"zoe\"]\n}\n"))
	s.repo.Grant("zoe", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Merge("alice", n)
	s.settle()
	got := s.say("zoe", n, override)
	s.expect("the override", got, "**Requirements overridden** for the plan of `net`", "Lockstep applies it now, if the plan is still up to date then.")
	s.lacks("the override", got, "lockstep apply")
	s.expect("the answer then", s.answer(n, "merge"), "**Applied** `net`: 2 added")
}

// TestLateProjectGone holds that nothing is applied of what has waited since its merge, once the base branch has removed the project or
// has given it another name, and that people are told of that, and of no other files.
func TestLateProjectGone(t *testing.T) {
	t.Parallel()
	settings := landing("require \"apply\" {\n  approvals = 1\n}\n")
	for name, test := range map[string]struct {
		changes githubtest.Files
		answer  []string
		retried string
	}{
		"removed": {githubtest.Files{
			"app/main.tf": githubtest.Deleted, "app/b.tf": githubtest.Deleted, "app/backend.tf": githubtest.Deleted,
			"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n",
		}, []string{"The base branch has removed `app` since the plan, so there is nothing to plan or apply."}, "The base branch has removed `app`"},
		"renamed": {
			githubtest.Files{"lockstep.hcl": strings.Replace(settings["lockstep.hcl"], "project \"app\"", "project \"web\"", 1)},
			[]string{"has renamed `app` to `web`", "Use the new name: comment `lockstep retry -p web`."}, "**Planned** `web`: 2 to add",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := newBuckets(t, settings)
			n := s.pull("alice", "b", githubtest.Files{"app/b.tf": resource("b", "1")})
			s.repo.Merge("alice", n)
			s.settle()
			s.expect("the answer", s.answer(n, "merge"), "Once nothing blocks it, Lockstep applies the plan, if the plan is still up to date then.")
			s.repo.Push("carol", "main", "Gone", test.changes)
			s.repo.Review("bob", n, github.Approved, "")
			s.settle()
			s.expect("the answer then", s.answer(n, "merge"), test.answer...)
			s.lacks("the answer then", s.answer(n, "merge"), "other files")
			if got := b.objects(t, "s3://states/app"); got != "" {
				t.Errorf("the state has %s", got)
			}
			command := "lockstep retry"
			if name == "renamed" {
				command += " -p web"
			}
			s.expect("the retry", s.say("alice", n, command), test.retried)
		})
	}
}
