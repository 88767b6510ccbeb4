package dispatch_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// removing is a stage with two applied projects, and a pull request that removes one of them.
func removing(t *testing.T, settings string, changes githubtest.Files) (*stage, int) {
	s := removable(t, settings)
	return s, s.pull("alice", "remove", removal.With(changes))
}

// removal are the changes of such a pull request.
var removal = githubtest.Files{
	"net/main.tf": githubtest.Deleted, "net/b.tf": githubtest.Deleted,
	"lockstep.hcl": "project \"app\" {\n  dir = \"app\"\n}\n",
}

// removable is the stage before it.
func removable(t *testing.T, settings string) *stage {
	s := newStage(t, githubtest.Files{
		"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n" + settings + "}\nproject \"app\" {\n  dir = \"app\"\n}\n",
	})
	first := s.pull("alice", "first", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.say("alice", first, "lockstep apply")
	s.repo.Merge("alice", first)
	s.settle()
	return s
}

// of returns the run of a project of a pull request.
func (s *stage) of(n int, name string) runs.Run {
	s.t.Helper()
	all, err := s.pipeline.Ledger().Runs(s.t.Context(), s.ref(n))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range all {
		if r.Project == name {
			return r.Run
		}
	}
	s.t.Fatalf("there is no run of %s in %d", name, len(all))
	return runs.Run{}
}

// TestRemovedProject is the removal of a project: its objects are planned to be destroyed, by the configuration of the base
// branch, and only an apply of its own does that.
func TestRemovedProject(t *testing.T) {
	t.Parallel()
	s, n := removing(t, "", githubtest.Files{"app/c.tf": resource("c", "1")})
	s.expect("the status", s.status(n), "**This pull request removes the project** `net`", "| ready to destroy with `lockstep apply -p net` | `net` | 0 to add, 0 to change, 2 to destroy, with -destroy |", "terraform_data.b will be destroyed")
	s.expect("an apply of all", s.say("alice", n, "lockstep apply"), "**Applied** `app`: 1 added", "**Not applied** `net`", "Such a plan needs a command of its own", "`lockstep apply -p net`")
	s.expect("plan and apply in one comment", s.say("alice", n, "lockstep plan\nlockstep apply"), "**Planned** `net`", "**Not applied** `net`")
	s.expect("by somebody without rights", s.say("mallory", n, "lockstep apply -p net"), "**Not applied**")
	s.expect("an apply of its own", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
	s.repo.Merge("alice", n)
	s.settle()
	if r := s.of(n, "net"); r.Phase != runs.Dropped || r.End.Was != runs.Applied || !r.Spec.Removed {
		t.Errorf("%+v", r)
	}
}

// TestRemovedProjectAndTheMerge holds that the merge destroys nothing that nobody has asked for, and that what is left can be
// destroyed afterwards: the base branch does not have the project any more.
func TestRemovedProjectAndTheMerge(t *testing.T) {
	t.Parallel()
	s, n := removing(t, "", nil)
	s.expect("the status", s.status(n), "ready to destroy with `lockstep apply -p net`")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the status after the merge", s.status(n), "`lockstep retry`")
	if r := s.of(n, "net"); r.Phase != runs.Dropped || r.End.Was != runs.Planned {
		t.Errorf("%+v", r)
	}
	s.expect("what is left", s.repo.Issues()[0].Title+s.repo.Issues()[0].Body, "#2 is merged", "`net`")
	s.expect("a plan again", s.say("alice", n, "lockstep retry"), "**Planned** `net`", "2 to destroy")
	s.expect("an apply of all", s.say("alice", n, "lockstep apply"), "Such a plan needs a command of its own")
	s.expect("its apply", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
}

// TestRemovedProjectMergedAtOnce holds the same where nobody had looked at the head before the merge.
func TestRemovedProjectMergedAtOnce(t *testing.T) {
	t.Parallel()
	at := func(settings string) (*stage, int) {
		s := removable(t, settings)
		s.repo.Push("alice", "remove", "Remove", removal)
		n := s.repo.OpenPull("alice", "Remove", "remove")
		s.repo.Merge("alice", n)
		s.settle()
		return s, n
	}
	s, n := at("")
	s.expect("the status", s.status(n), "**This pull request removes the project** `net`", "2 to destroy", "`lockstep apply -p net`")
	if all := s.repo.Issues(); len(all) != 1 || !strings.Contains(all[0].Body, "`net`") {
		t.Fatalf("the issues are %+v", all)
	}
	s.expect("its apply", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
	if s.repo.Issues()[0].Open {
		t.Error("the issue is open")
	}
	s, n = at("  apply = \"merge\"\n")
	s.expect("the status where merges alone apply it", s.status(n), "`net` applies only on merge, so its objects stay, and nobody plans them after this merge.")
	for _, command := range []string{"retry", "plan -p net", "apply -p net"} {
		if answer := s.say("alice", n, "lockstep "+command); strings.Contains(answer, "destroy") {
			t.Errorf("%s: %s", command, answer)
		}
	}
}

// TestRemovedProjectAppliedByMerges carries an attack out: whoever may write removes a project that merges alone apply, and
// has its objects destroyed without a merge, and so without a review.
func TestRemovedProjectAppliedByMerges(t *testing.T) {
	t.Parallel()
	s, n := removing(t, "  apply = \"merge\"\n", githubtest.Files{"app/c.tf": resource("c", "1")})
	s.expect("the status", s.status(n), "**This pull request removes the project** `net`", "`net` applies only on merge, so its objects stay, and nobody plans them after this merge.")
	for _, command := range []string{"plan -p net", "plan -destroy -p net", "apply -p net", "apply", "plan\nlockstep apply -p net"} {
		if answer := s.say("alice", n, "lockstep "+command); strings.Contains(answer, "**Planned** `net`") || strings.Contains(answer, "**Applied** `net`") {
			t.Errorf("%s: %s", command, answer)
		}
	}
	for _, command := range []string{"plan -p net", "plan -destroy -p net", "apply -p net"} {
		got := s.say("alice", n, "lockstep "+command)
		s.expect(command, got, "This pull request removes `net`, which applies only on merge. So Lockstep does not plan to destroy its objects.", "To destroy the objects, first remove the resources in a pull request that keeps the project, and merge it.")
		s.lacks(command, got, "lockstep plan")
	}
	s.repo.Merge("alice", n)
	s.settle()
	for _, command := range []string{"retry", "plan -p net", "apply -p net"} {
		if answer := s.say("alice", n, "lockstep "+command); strings.Contains(answer, "destroyed") && !strings.Contains(answer, "0 destroyed") {
			t.Errorf("%s after the merge: %s", command, answer)
		}
	}
	data, err := os.ReadFile(filepath.Join(executor.LocalState(s.data.States, s.repo.Repo().ID, "net", "default"), "terraform.tfstate"))
	if err != nil || strings.Count(string(data), "\"terraform_data\"") != 2 {
		t.Errorf("%s, %v", data, err)
	}
}

// TestRemovedProjectByMergeSince holds that a plan of destruction is not applied by the merge where merges alone apply the
// project by now, nor by a comment.
func TestRemovedProjectByMergeSince(t *testing.T) {
	t.Parallel()
	s, n := removing(t, "", nil)
	s.repo.Push("bob", "main", "Merges apply it", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n"})
	s.settle()
	if answer := s.say("alice", n, "lockstep apply -p net"); strings.Contains(answer, "**Applied**") {
		t.Error(answer)
	}
	data, err := os.ReadFile(filepath.Join(executor.LocalState(s.data.States, s.repo.Repo().ID, "net", "default"), "terraform.tfstate"))
	if err != nil || strings.Count(string(data), "\"terraform_data\"") != 2 {
		t.Errorf("%s, %v", data, err)
	}
}

// TestMergeDestroysNothing holds that the merge applies no plan of destruction, whatever the record has of the occasion: a
// check against the state takes it from the base branch as it is then.
func TestMergeDestroysNothing(t *testing.T) {
	t.Parallel()
	s, n := removing(t, "", nil)
	now := s.of(n, "net")
	now.Spec.ApplyOn = project.OnMerge
	robber{stage: s}.writeRun(now)
	s.repo.Merge("alice", n)
	s.settle()
	if r := s.of(n, "net"); r.End.Was != runs.Planned || r.Asked.Try > 0 {
		t.Errorf("%+v", r)
	}
}

// TestRestoredProject holds that a project which a later push restores is planned as any other.
func TestRestoredProject(t *testing.T) {
	t.Parallel()
	s, n := removing(t, "", nil)
	s.repo.Push("alice", "remove", "Keep it", githubtest.Files{
		"net/main.tf": resource("a", "1"), "net/b.tf": resource("b", "2"),
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n",
	})
	s.settle()
	if r := s.of(n, "net"); r.Spec.Removed || r.Spec.Options.Destroy || r.Phase != runs.Planned {
		t.Errorf("%+v", r)
	}
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 0 added, 1 changed, 0 destroyed")
}

// TestRemovedProjectMoves holds that the configuration of the base branch as it is then destroys the objects: what main has
// made meanwhile makes the plan stale.
func TestRemovedProjectMoves(t *testing.T) {
	t.Parallel()
	s, n := removing(t, "", nil)
	m := s.pull("bob", "more", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.expect("another one's apply", s.say("bob", m, "lockstep apply"), "**Applied** `net`: 1 added")
	s.repo.Merge("bob", m)
	s.settle()
	s.expect("the status", s.status(n), "3 to destroy")
	s.expect("an apply of what was shown before", s.say("alice", n, "lockstep apply -p net"), "`net`")
	s.say("alice", n, "lockstep plan")
	s.expect("its apply", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`: 0 added, 0 changed, 3 destroyed")
}

// TestRevertedRemoval holds that a removal which is reverted destroys nothing: neither the plan that was made, nor the
// repetition of one that failed.
func TestRevertedRemoval(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"planned": false, "failed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := removing(t, "", githubtest.Files{"app/c.tf": resource("c", "1")})
			if fails {
				engine := s.pipeline.Engine
				s.pipeline.Engine = failing{engine}
				s.expect("a plan that fails", s.say("alice", n, "lockstep plan -p net"), "**Failed to plan** `net`.")
				s.pipeline.Engine = engine
			}
			s.repo.Push("alice", "remove", "Keep it as it was", githubtest.Files{
				"net/main.tf": resource("a", "1"), "net/b.tf": resource("b", "1"),
				"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n",
			})
			s.settle()
			s.expect("an apply of its own", s.say("alice", n, "lockstep apply -p net"), "**Not applied** `net`")
			s.say("alice", n, "lockstep retry")
			s.say("alice", n, "lockstep apply -p net")
			if r := s.of(n, "net"); r.Phase == runs.Applied || fails && (r.Spec.Options.Destroy || r.Spec.Removed) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// failing is an engine whose plans fail.
type failing struct{ jobs.Engine }

func (failing) Plan(context.Context, jobs.Job) (jobs.PlanResult, error) {
	return jobs.PlanResult{Report: "it cannot be planned"}, nil
}

// TestConflictOfDocuments holds that the comment about a conflict is taken back once there is none, though there are no
// projects to tell of.
func TestConflictOfDocuments(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "doc.md": "1", "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n"})
	s.repo.Push("alice", "words", "Words", githubtest.Files{"doc.md": "2"})
	n := s.repo.OpenPull("alice", "Words", "words")
	s.repo.Push("bob", "main", "Words of others", githubtest.Files{"doc.md": "3"})
	s.settle()
	s.say("alice", n, "lockstep plan")
	s.expect("the status", s.status(n), "conflicts with the base branch")
	s.repo.Push("bob", "main", "Take it back", githubtest.Files{"doc.md": "1"})
	s.settle()
	s.say("alice", n, "lockstep plan")
	if status := s.status(n); strings.Contains(status, "conflict") {
		t.Error(status)
	}
}

// TestRemovedProjectIsBack carries an accident out: a project is removed, and its objects are left. Another pull request brings
// it back. From then on the removal must not destroy what the base branch has again, by no plan made before or after that.
func TestRemovedProjectIsBack(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{false, true} {
		s, n := removing(t, "", nil)
		s.repo.Merge("alice", n)
		s.settle()
		if before {
			s.expect("a plan before that", s.say("alice", n, "lockstep retry"), "**Planned** `net`", "2 to destroy")
		}
		back := s.pull("alice", "back", githubtest.Files{
			"net/main.tf": resource("a", "1"), "net/b.tf": resource("b", "1"),
			"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n",
		})
		s.repo.Merge("alice", back)
		s.settle()
		for _, command := range []string{"apply -p net", "retry", "apply -p net", "plan -p net", "apply -p net"} {
			if answer := s.say("alice", n, "lockstep "+command); strings.Contains(answer, "to destroy") || strings.Contains(answer, "**Applied**") {
				t.Errorf("planned before %v: %s: %s", before, command, answer)
			}
		}
		data, err := os.ReadFile(filepath.Join(executor.LocalState(s.data.States, s.repo.Repo().ID, "net", "default"), "terraform.tfstate"))
		if err != nil || strings.Count(string(data), "\"terraform_data\"") != 2 {
			t.Errorf("planned before %v: %s, %v", before, data, err)
		}
	}
}

// waitingMessage is an engine that waits for the lock of the state, during which something happens.
type waitingMessage struct {
	jobs.Engine
	meanwhile func()
}

func (w waitingMessage) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	w.meanwhile()
	return w.Engine.Apply(ctx, j, plan, permit)
}

// TestRestoredMeanwhile holds the same of a project that comes back while the apply waits for the state's lock.
func TestRestoredMeanwhile(t *testing.T) {
	t.Parallel()
	s, n := removing(t, "", nil)
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("a plan", s.say("alice", n, "lockstep retry"), "**Planned** `net`", "2 to destroy")
	s.pipeline.Engine = waitingMessage{s.pipeline.Engine, func() {
		s.repo.Push("bob", "main", "Keep it", githubtest.Files{
			"net/main.tf": resource("a", "1"), "net/b.tf": resource("b", "1"),
			"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n",
		})
	}}
	s.expect("the apply", s.say("alice", n, "lockstep apply -p net"), "**Not applied** `net`", "The base branch has the project again")
}

// TestRestoredBeforeItIsPlanned holds that nothing is left of a removal whose plan was refused since it was merged by then, once
// the base branch has the project again, by another name.
func TestRestoredBeforeItIsPlanned(t *testing.T) {
	t.Parallel()
	s, _ := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1")})
	s.repo.Push("alice", "remove", "Remove", githubtest.Files{"net/main.tf": githubtest.Deleted, "net/backend.tf": githubtest.Deleted})
	n := s.repo.OpenPull("alice", "Remove", "remove")
	s.after(first(calls("read pull")), func() { s.repo.Merge("alice", n) })
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := true
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		err := s.pipeline.Handle(ctx, m)
		if all := s.repo.Issues(); first && (len(all) != 1 || !all[0].Open || !strings.Contains(all[0].Body, "`net`")) {
			t.Errorf("the issues are %+v", all)
		}
		first = false
		return err
	})
	s.repo.Push("bob", "main", "Keep it", githubtest.Files{"vpc/main.tf": resource("a", "1"), "vpc/backend.tf": inBuckets(githubtest.Files{"net/main.tf": ""})["net/backend.tf"]})
	s.settle()
	if all := s.repo.Issues(); len(all) != 1 || all[0].Open {
		t.Errorf("the issues are %+v", all)
	}
}

// TestRemovalUndoneByTheBase holds that an open pull request destroys nothing of a project which, merged into the base branch as
// it is now, it does not remove any more.
func TestRemovalUndoneByTheBase(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1")})
	first := s.pull("alice", "first", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", first, "lockstep apply")
	s.repo.Merge("alice", first)
	s.settle()
	n := s.pull("alice", "remove", githubtest.Files{"net/main.tf": githubtest.Deleted, "net/b.tf": githubtest.Deleted, "net/backend.tf": githubtest.Deleted})
	s.expect("the status", s.status(n), "**This pull request removes the project** `net`")
	s.repo.Push("bob", "main", "More of it", githubtest.Files{"net/backend.tf": githubtest.Deleted, "net/terraform.tf": "terraform {\n  backend \"local\" {\n  }\n}\n"})
	s.expect("the apply", s.say("alice", n, "lockstep apply -p net"), "**Not applied** `net`", "The pull request no longer removes the project")
}

// TestRemovedAndAppliedSince holds that the removal of a project without objects is not done with its merge if another pull
// request has made some since it was planned: they are in an issue, and can be destroyed.
func TestRemovedAndAppliedSince(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{
		"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n",
	})
	n := s.pull("alice", "remove", githubtest.Files{"net/main.tf": githubtest.Deleted, "lockstep.hcl": removal["lockstep.hcl"]})
	s.expect("the status", s.status(n), "| up to date | `net` | no changes, with -destroy |")
	m := s.pull("bob", "more", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the other apply", s.say("bob", m, "lockstep apply -p net"), "**Applied** `net`: 2 added")
	s.repo.Merge("alice", n)
	s.settle()
	if all := s.repo.Issues(); len(all) != 1 || !strings.Contains(all[0].Body, "`net`") {
		t.Fatalf("the issues are %+v", all)
	}
	s.repo.Close("bob", m)
	s.settle()
	s.expect("a plan again", s.say("alice", n, "lockstep retry"), "**Planned** `net`", "2 to destroy")
	s.expect("its apply", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
}

// TestRemovedRootMergedAtOnce holds the same of a project in the repository's own directory.
func TestRemovedRootMergedAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1"), "app/main.tf": resource("a", "1")})
	first := s.pull("alice", "first", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the first apply", s.say("alice", first, "lockstep apply"), "**Applied** `.`: 2 added")
	s.repo.Merge("alice", first)
	s.settle()
	s.repo.Push("alice", "remove", "Remove", githubtest.Files{"main.tf": githubtest.Deleted, "b.tf": githubtest.Deleted, "backend.tf": githubtest.Deleted})
	n := s.repo.OpenPull("alice", "Remove", "remove")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the status", s.status(n), "**This pull request removes the project** `.`", "2 to destroy")
}

// TestRemovedFromALostBase holds that a merged pull request is planned where the commit that its base branch had is gone.
func TestRemovedFromALostBase(t *testing.T) {
	t.Parallel()
	s := removable(t, "")
	lost := s.repo.Head("main")
	s.repo.Push("alice", "change", "Change", githubtest.Files{"app/c.tf": resource("c", "1")})
	n := s.repo.OpenPull("alice", "Change", "change")
	s.repo.Merge("alice", n)
	s.pipeline.Bases = &gatefacts.Bases{}
	asked := false
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "tarball/"+lost) {
			return false
		}
		asked = true
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
		return true
	}
	s.settle()
	s.expect("the status", s.status(n), "| `app` | 1 to add, 0 to change, 0 to destroy |")
	if !asked {
		t.Error("nobody has asked for the lost commit")
	}
}

// TestDriftOfARemovedProject holds that the drift of a removed project is its drift, and no destruction, and that nothing of it is
// replaced.
func TestDriftOfARemovedProject(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"lockstep drift", "lockstep drift -p net", "lockstep plan -p net -refresh-only"} {
		s, n := removing(t, "", nil)
		s.expect(c, s.say("alice", n, c), "**Planned** `net`: no changes")
		s.say("alice", n, "lockstep apply -p net")
		if got := s.of(n, "net").Apply.Done.Destroy; got > 0 {
			t.Errorf("%s: it destroys %d objects", c, got)
		}
	}
	for _, c := range []string{"lockstep taint terraform_data.a -p net", "lockstep plan -p net -replace=terraform_data.a"} {
		s, n := removing(t, "", nil)
		s.expect(c, s.say("alice", n, c), "**Not planned** `net`", "The pull request removes `net`: Lockstep can only destroy its objects, and replaces none.")
	}
	s, n := removing(t, "", nil)
	s.expect("a plan after all", s.say("alice", n, "lockstep plan -p net"), "**Planned** `net`: 0 to add, 0 to change, 2 to destroy")
}

// TestRemovedByAnotherCommand holds that objects of a removed project are destroyed by no command that may be for another
// project as well: one with a pattern, with a directory or a workspace alone, or with a name that the head has, too.
func TestRemovedByAnotherCommand(t *testing.T) {
	t.Parallel()
	two := "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n"
	workspace := strings.Replace(two, "dir = \"net\"", "dir = \"net\"\n  workspace = \"prod\"", 1)
	name := strings.Replace(two, "project \"net\"", "project \"network\"", 1)
	for _, c := range []struct{ settings, command, own string }{
		{workspace, "apply -p net", "apply -p net -w default"},
		{workspace, "apply -d net", "apply -p net -w default"},
		{workspace, "apply -p net -w *", "apply -p net -w default"},
		{workspace, "plan -p net\nlockstep apply -p net", "apply -p net -w default"},
		{workspace, "plan -p net -w default\nlockstep apply -p net", "apply -p net -w default"},
		{name, "apply -d net", "apply -p net"},
		{name, "apply -p net*", "apply -p net"},
		{name, "apply -w default", "apply -p net"},
		{two[strings.Index(two, "project \"app\""):], "apply -p *", "apply -p net"},
		{two[strings.Index(two, "project \"app\""):], "plan -p *\nlockstep apply -p *", "apply -p net"},
	} {
		t.Run(c.own+" "+c.command, func(t *testing.T) {
			t.Parallel()
			s := removable(t, "")
			n := s.pull("alice", "remove", githubtest.Files{"lockstep.hcl": c.settings, "app/c.tf": resource("c", "1")})
			s.expect("the status", s.status(n), "ready to destroy with `lockstep "+c.own+"`")
			answer := s.say("alice", n, "lockstep "+c.command)
			if strings.Contains(answer, "2 destroyed") {
				t.Errorf("destroyed: %s", answer)
			}
			s.expect("the answer", answer, "Such a plan needs a command of its own", "`lockstep "+c.own+"`")
			s.expect("an apply of its own", s.say("alice", n, "lockstep "+c.own), "**Applied**", "2 destroyed")
		})
	}
}

// TestOwnApplyIsRefused holds that an apply of its own is the remedy for a removed project only where the gate would allow it, and
// that nobody else is told of it.
func TestOwnApplyIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before       func(s *stage, n int)
		who          string
		says, lacks  string
		own, ownSays string // an apply of its own
	}{
		"who may not apply": {func(*stage, int) {}, "mallory", "`read`", "of its own", "lockstep apply -p net", "`read`"},
		"a lock": {func(s *stage, n int) {
			other := s.pull("bob", "other", githubtest.Files{"net/o.tf": resource("o", "1")})
			s.expect("the lock", s.say("bob", other, "lockstep lock --reason x"), "**Locked**")
		}, "alice", "`bob` has locked the state", "of its own", "lockstep apply -p net", "`bob` has locked the state"},
		"drift":             {func(s *stage, n int) { s.say("alice", n, "lockstep drift -p net") }, "alice", "The plan has no changes, so there is nothing to apply.", "of its own", "lockstep apply -p net", "The plan has no changes, so there is nothing to apply."},
		"a target":          {func(s *stage, n int) { s.say("alice", n, "lockstep plan -p net -target=terraform_data.a") }, "alice", "The pull request removes this project. Each plan of it needs a command of its own.", "all of its objects", "lockstep apply -p net", "1 destroyed"},
		"a part":            {func(s *stage, n int) { s.say("alice", n, "lockstep plan -p net -destroy -target=terraform_data.a") }, "alice", "Each plan of it needs a command of its own.", "all of its objects", "lockstep apply -p net", "1 destroyed"},
		"what is destroyed": {func(s *stage, n int) { s.say("alice", n, "lockstep apply -p net") }, "alice", "is already applied, requested by", "of its own", "lockstep apply -p net", "is already applied, requested by"},
		"what has failed": {func(s *stage, n int) {
			engine := s.pipeline.Engine
			s.pipeline.Engine = halfway{engine}
			s.expect("an apply that fails", s.say("alice", n, "lockstep apply -p net"), ": 0 added, 0 changed, 2 destroyed before the failure. The state contains these changes.")
			s.pipeline.Engine = engine
		}, "alice", "The apply of this plan failed", "of its own", "lockstep apply -p net", "The apply of this plan failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := removing(t, "", nil)
			c.before(s, n)
			for _, all := range []string{"lockstep apply", "lockstep apply -p 'n*'"} {
				answer := s.say(c.who, n, all)
				s.expect(all, answer, "**Not applied** `net`", c.says)
				s.without(all, answer, c.lacks)
			}
			s.expect(c.own, s.say(c.who, n, c.own), c.ownSays)
		})
	}
}

// halfway is an engine whose applies fail.
type halfway struct{ jobs.Engine }

func (h halfway) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	o, err := h.Engine.Apply(ctx, j, plan, permit)
	o.Failed, o.Report = true, "Error: the cloud is down"
	return o, err
}

// TestNamesakesAreTold holds that answers tell two projects of one name apart, and name commands for each of them.
func TestNamesakesAreTold(t *testing.T) {
	t.Parallel()
	s := removable(t, "")
	n := s.pull("alice", "remove", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  workspace = \"prod\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n"})
	old, fresh := "`net (default)`", "`net (prod)`"
	for _, c := range []struct {
		command string
		says    []string
	}{
		{"help", []string{"Projects: ", fresh, old}},
		{"plan -p nothere", []string{"Projects: ", fresh, old}},
		{"apply -p nothere", []string{"Projects with a plan: ", fresh, old}},
		{"apply -p net --failed", []string{"None of these projects has failed: ", fresh, old, "has failed"}},
		{"retry -p net", []string{"None of these projects has failed: ", fresh, old, "has failed"}},
		{"lock --reason x", []string{"**Locked** " + old, "`lockstep unlock -p net -w default`", "**Locked** " + fresh, "`lockstep unlock -p net -w prod`"}},
		{"unlock -p net -w prod", []string{"**Unlocked** " + fresh}},
		{"unlock", []string{"**Unlocked** " + old, "**no lock** on " + fresh}},
		{"recover", []string{old + ": **nothing to recover**", fresh + ": **nothing to recover**"}},
		{"override --reason x", []string{old, fresh}},
		{"import terraform_data.a x -p net", []string{"needs one project, but matches 2: ", fresh, old, "Name one of them: add `-p NAME -w WORKSPACE`."}},
		{"import terraform_data.c x -p net -w prod", []string{fresh}},
	} {
		answer := s.say("alice", n, "lockstep "+c.command)
		s.expect(c.command, answer, c.says...)
		s.without(c.command, answer, "`net`", "add `-p NAME`.")
	}
	s.say("alice", n, "lockstep lock -p net --reason x -w prod")
	s.expect("the status of a lock", s.status(n), "`alice` has locked the state of "+fresh, "comment `lockstep unlock -p net -w prod` here")
}

// TestNamesakes is a workspace that is another one at the head: two projects of one name, each with words of its own.
func TestNamesakes(t *testing.T) {
	t.Parallel()
	s := removable(t, "")
	n := s.pull("alice", "remove", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  workspace = \"prod\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n"})
	s.expect("the status", s.status(n), "| `net (prod)` | 2 to add", "| `net (default)` | 0 to add, 0 to change, 2 to destroy", "#### `net (prod)`", "#### `net (default)`")
	s.expect("the check of the new one", s.checkOf("remove", "lockstep/net@prod").Summary, "To apply this plan, comment `lockstep apply -p net -w prod`")
	s.expect("the check of the old one", s.checkOf("remove", "lockstep/net").Summary, "To apply this plan, comment `lockstep apply -p net -w default`")
	s.expect("an apply of both", s.say("alice", n, "lockstep apply"), "**Applied** `net (prod)`: 2 added", "**Not applied** `net (default)`")
	s.expect("a plan and an apply of one", s.say("alice", n, "lockstep plan -p net -w default\nlockstep apply -p net -w default"), "**Planned** `net (default)`", "**Not applied** `net (default)`", "you have not seen the plan")
	s.expect("its apply", s.say("alice", n, "lockstep apply -p net -w default"), "**Applied** `net (default)`: 0 added, 0 changed, 2 destroyed")
}

// dependent is a stage with two applied projects, of which app depends on net.
func dependent(t *testing.T) *stage {
	s := newStage(t, githubtest.Files{"o/main.tf": resource("a", "1"), "net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": appLast})
	first := s.pull("alice", "first", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.expect("the first apply", s.say("alice", first, "lockstep apply"), "**Applied** `app`")
	s.repo.Merge("alice", first)
	s.settle()
	return s
}

// TestDestroyedInTurn holds that a project is destroyed after those that depend on it, and that nobody waits for that.
func TestDestroyedInTurn(t *testing.T) {
	t.Parallel()
	s := dependent(t)
	n := s.pull("alice", "destroy", githubtest.Files{"net/c.tf": resource("c", "1"), "app/c.tf": resource("c", "1")})
	s.say("alice", n, "lockstep plan -destroy")
	s.expect("the first of all", s.say("alice", n, "lockstep apply -p net"), "**Not applied** `net`", "`net` can be destroyed only once `app`, which depends on it, is applied.", "comment `lockstep apply -p app`. To apply both in order, comment `lockstep apply`")
	answer := s.say("alice", n, "lockstep apply")
	s.expect("both", answer, "**Applied** `app`: 0 added, 0 changed, 2 destroyed", "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
	if strings.Index(answer, "**Applied** `app`") > strings.Index(answer, "**Applied** `net`") {
		t.Error(answer)
	}
}

// TestRemovedInTurn holds the same of projects that a pull request removes, before its merge and after it.
func TestRemovedInTurn(t *testing.T) {
	t.Parallel()
	for _, merged := range []bool{false, true} {
		s := dependent(t)
		n := s.pull("alice", "remove", githubtest.Files{"lockstep.hcl": "project \"o\" {\n  dir = \"o\"\n}\n"})
		if merged {
			s.repo.Merge("alice", n)
			s.settle()
			s.expect("a plan again", s.say("alice", n, "lockstep retry"), "**Planned** `net`", "**Planned** `app`")
		}
		s.expect("the wrong one first", s.say("alice", n, "lockstep apply -p net"), "**Not applied** `net`", "`net` can be destroyed only once `app`, which depends on it, is applied.", "First apply that project: comment `lockstep apply -p app`.")
		s.expect("the dependent", s.say("alice", n, "lockstep apply -p app"), "**Applied** `app`: 0 added, 0 changed, 2 destroyed")
		s.expect("what it depended on", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
	}
}

// TestRemovedDependency is how a project gets rid of one that it depends on: it is applied first, and then the other one is
// destroyed.
func TestRemovedDependency(t *testing.T) {
	t.Parallel()
	s := dependent(t)
	n := s.pull("alice", "drop", githubtest.Files{"app/c.tf": resource("c", "1"), "lockstep.hcl": "project \"app\" {\n  dir = \"app\"\n}\n"})
	s.expect("the wrong one first", s.say("alice", n, "lockstep apply -p net"), "`net` can be destroyed only once `app`")
	s.expect("all", s.say("alice", n, "lockstep apply"), "**Applied** `app`: 1 added", "**Not applied** `net`", "Such a plan needs a command of its own")
	s.expect("what is removed", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
}

// TestBackendGone holds that a root module without a project block is planned for destruction when it loses its backend
// block, whether or not its file is deleted.
func TestBackendGone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ backend, want string }{
		{"# none\n", "**This pull request removes the project** `net`"},
		{"terraform {\n  required_version = \">= 1\"\n}\n", "2 to destroy"},
		{githubtest.Deleted, "2 to destroy"},
	} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1")})
		first := s.pull("alice", "first", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.expect("the first apply", s.say("alice", first, "lockstep apply"), "**Applied** `net`")
		s.repo.Merge("alice", first)
		s.settle()
		n := s.pull("alice", "remove", githubtest.Files{"net/backend.tf": c.backend})
		s.expect("the status", s.status(n), c.want, "ready to destroy with `lockstep apply -p net`")
		s.expect("its apply", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
	}
}

// TestBackendUnreadable holds that no move of the state is told where the backend block cannot be read.
func TestBackendUnreadable(t *testing.T) {
	t.Parallel()
	s := removable(t, "")
	n := s.pull("alice", "broken", githubtest.Files{"net/backend.tf": "terraform {\n"})
	s.expect("the status", s.status(n), "**failed to plan**", "on backend.tf line 1")
	if strings.Contains(s.status(n), "moves the state") {
		t.Error(s.status(n))
	}
}

// TestRemovedBesideAnother holds that a pull request whose project another one has removed comes to an end: once that is
// merged, nothing of it is left to be planned or applied.
func TestRemovedBesideAnother(t *testing.T) {
	t.Parallel()
	const gone = "he base branch has removed"
	for _, applied := range []bool{true, false} {
		s := removable(t, "")
		other := s.pull("bob", "other", githubtest.Files{"net/c.tf": resource("c", "1")})
		n := s.pull("alice", "remove", githubtest.Files{"lockstep.hcl": removal["lockstep.hcl"]})
		if applied {
			s.say("alice", n, "lockstep apply -p net")
		}
		s.repo.Merge("alice", n)
		s.settle()
		if applied { // so that the plan was checked
			s.expect("the status", s.status(other), "**T"+gone+"** `net`")
			s.expect("the check", s.checkOf("other", "lockstep/net").Title, gone)
			s.expect("an apply", s.say("bob", other, "lockstep apply"), gone+" `net`")
		}
		s.expect("a plan", s.say("bob", other, "lockstep plan"), gone+" `net`")
		s.expect("an apply after it", s.say("bob", other, "lockstep apply -p net"), gone+" `net`")
		if c := s.checkOf("other", "lockstep"); c.Conclusion != github.ConcludedSuccess {
			t.Errorf("the check of the head: %q %s", c.Conclusion, c.Title)
		}
		s.repo.Merge("bob", other)
		s.settle()
		if status := s.status(other); strings.Contains(status, "not applied") || strings.Contains(status, "lockstep retry") {
			t.Error(status)
		}
	}
}
