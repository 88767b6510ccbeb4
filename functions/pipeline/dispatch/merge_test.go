package dispatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// onMerge is a repository whose project is applied when a pull request is merged.
func onMerge() githubtest.Files {
	return githubtest.Files{
		"lockstep.hcl": "project \"net\" {\n  dir   = \"net\"\n  apply = \"merge\"\n}\n",
		"net/main.tf":  resource("vpc", "v1"),
		"README.md":    "hello\n",
	}
}

// TestApplyOnMerge holds that what was planned is applied when it is merged, in
// whichever way GitHub makes a commit of it, and not before.
func TestApplyOnMerge(t *testing.T) {
	t.Parallel()
	for name, merge := range map[string]func(*githubtest.Repository, string, int) string{
		"merge": (*githubtest.Repository).Merge, "squash": (*githubtest.Repository).Squash,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, onMerge())
			n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
			s.expect("the status", s.status(n), "applies on merge", "merge this pull request")
			s.expect("an early apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "The settings of the base branch say that merging applies `net`.", "merge the pull request")
			// Another file of the base branch moves: the plan is of another commit, but of the
			// same files.
			s.repo.Push("bob", "main", "Words", githubtest.Files{"README.md": "hello again\n"})
			merge(s.repo, "bob", n)
			s.settle()
			s.expect("the answer", s.answer(n, "merge"), "**Applied** `net`: 2 added, 0 changed, 0 destroyed.")
			s.expect("the status", s.status(n), "applied by", "applied by `bob`")
			s.expect("the check", s.check("subnet"), "success Applied – 2 added")
			two := s.pull("alice", "peering", githubtest.Files{"net/peering.tf": resource("peering", "v1")})
			s.expect("the next plan", s.status(two), "1 to add, 0 to change, 0 to destroy")
		})
	}
}

// TestMergeThatCannotBeApplied holds what is said when nothing could be begun: there is no
// plan any more that could be applied another time.
func TestMergeThatCannotBeApplied(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	s.pipeline.Engine = broken{s.pipeline.Engine}
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Failed to apply** `net`.", "If it was merged, comment `lockstep retry`", "**Lockstep failed internally**: 3 attempts failed or were interrupted.")
	if strings.Contains(s.answer(n, "merge"), "can still be applied") {
		t.Errorf("nothing is left to apply:\n%s", s.answer(n, "merge"))
	}
	s.expect("the status", s.status(n), "erged, not applied")
}

// TestUpgrade holds that an upgrade of Lockstep keeps approvals: the plan is made again, and it is the
// same.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.pipeline.Engine.(*executor.Engine).Version = "next"
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added", "Planned again, because")
}

// TestMergeOfOtherFiles holds that nothing is applied when what was merged is not what
// was planned, and that the pull request says so.
func TestMergeOfOtherFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	s.repo.Push("bob", "main", "A hotfix", githubtest.Files{"net/fix.tf": resource("fix", "v1")})
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Not applied** `net`", "Lockstep planned again, because the configuration on the base branch has changed:", "comment `lockstep retry`")
	s.expect("the status", s.status(n), "erged, not applied", "**merged, not applied**")
	if got := usable(artifacts(t, s)); len(got) != 0 {
		t.Errorf("something is kept: %q", got)
	}
}

// TestMergeByReader holds that who merges must be allowed to apply, when it is applied.
func TestMergeByReader(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	s.repo.Merge("alice", n)
	s.repo.Grant("alice", "read")
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Not applied** `net`", "`alice` has the permission `read`")
	if strings.Contains(s.status(n), "applied by") {
		t.Errorf("it was applied:\n%s", s.status(n))
	}
}

// TestRightsAreTheBase holds that a pull request cannot give itself the right to be
// applied by a comment, and is told so.
func TestRightsAreTheBase(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "shortcut", githubtest.Files{
		"lockstep.hcl":  strings.ReplaceAll(onMerge()["lockstep.hcl"], "merge", "comment"),
		"net/subnet.tf": resource("subnet", "v1"),
	})
	s.expect("the status", s.status(n), "This pull request changes `lockstep.hcl`", "applies on merge")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "The settings of the base branch say that merging applies `net`.")
	s.repo.Push("alice", "shortcut", "Broken", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dri = \"net\"\n}\n"})
	s.settle()
	s.expect("a broken file", s.status(n), "the projects could not be determined", "dri")
	s.expect("its plan", s.say("alice", n, "lockstep plan"), "**Failed to plan** `lockstep.", "dri")
}

// TestMergedWithoutApply holds that a merge which leaves a plan behind says so.
func TestMergedWithoutApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the status", s.status(n), "erged, not applied", "**merged, not applied**", "comment `lockstep retry` for a new plan. Read it, then comment `lockstep apply`")
	s.expect("the check", s.check("b"), "action_required Merged, not applied")
}

// TestMergeThatLeavesPlans holds that people are told, by one new comment, of the plans that a merge leaves because a comment was
// to apply them.
func TestMergeThatLeavesPlans(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"app/main.tf": resource("a", "1"), "net/main.tf": resource("a", "1"), "web/main.tf": resource("a", "1"), "zoo/main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"app/b.tf": resource("b", "1"), "net/b.tf": resource("b", "1"), "web/b.tf": resource("b", "1"), "zoo/b.tf": "resource {\n"})
	s.say("alice", n, "lockstep apply -p web")
	before := len(s.repo.Comments(n))
	s.repo.Merge("alice", n)
	s.settle()
	if got := len(s.repo.Comments(n)); got != before+1 {
		t.Errorf("%d comments, and %d before", got, before)
	}
	told := s.answer(n, "merge")
	s.expect("the answer to the merge", told, "**Merged, not applied**: `app`, `net`, `zoo`. The merge does not apply them.", "The merge does not apply them. Comment `lockstep retry` for a new plan of what was merged. Read it, then comment `lockstep apply`.")
	s.never("the answer to the merge", told, "`web`")
	if issues := s.repo.Issues(); len(issues) > 0 {
		t.Errorf("there is an issue: %+v", issues)
	}
	s.expect("its command", s.say("alice", n, "lockstep retry"), "**Planned** `app`", "**Planned** `net`")
	s.expect("and the other", s.say("alice", n, "lockstep apply"), "**Applied** `app`", "**Applied** `net`")

	all := s.pull("alice", "c", githubtest.Files{"web/c.tf": resource("c", "1")})
	s.say("alice", all, "lockstep apply")
	s.repo.Merge("alice", all)
	before = len(s.repo.Comments(all))
	s.settle()
	if got := len(s.repo.Comments(all)); got != before {
		t.Errorf("%d comments after a merge of what is applied, and %d before", got, before)
	}
}

// TestRetryAfterTheMerge holds that what was merged and is not applied is planned on the merged pull request, of the base
// branch as it is then, and applied from there: by a person who has seen that plan, and may.
func TestRetryAfterTheMerge(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	engine := s.pipeline.Engine
	s.pipeline.Engine = broken{engine}
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the status", s.status(n), "erged, not applied", "comment `lockstep retry`")
	s.expect("an apply without a plan", s.say("alice", n, "lockstep apply"), "**Not applied**", "lockstep retry")
	s.pipeline.Engine = engine
	s.repo.Push("carol", "main", "A hotfix", githubtest.Files{"net/fix.tf": resource("fix", "v1")})
	s.settle()
	s.expect("mallory's retry", s.say("mallory", n, "lockstep retry"), "**Not planned**", "has the permission `read`")
	s.expect("the retry", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 3 to add")
	s.expect("the status", s.status(n), "ready to apply", "To apply this plan, comment `lockstep apply`")
	s.expect("mallory's apply", s.say("mallory", n, "lockstep apply"), "**Not applied** `net`", "has the permission `read`")
	s.repo.Push("carol", "main", "Another one", githubtest.Files{"net/more.tf": resource("more", "v1")})
	s.settle()
	s.expect("an apply of what is not the base branch any more", s.say("alice", n, "lockstep apply"), "**Not applied** `net`")
	s.expect("the next plan", s.say("alice", n, "lockstep plan"), "**Planned** `net`: 4 to add")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 4 added")
	s.expect("the status", s.status(n), "applied by")
	s.expect("the check", s.check("subnet"), "success Applied – 4 added")
	two := s.pull("alice", "peering", githubtest.Files{"net/peering.tf": resource("peering", "v1")})
	s.expect("the next pull request", s.status(two), "1 to add, 0 to change, 0 to destroy")
	s.expect("a retry with nothing left", s.say("alice", n, "lockstep retry"), "**Not planned**")
}

// TestRetryOfAFailedCommand holds that a retry after the merge is of what was merged, whatever a command before it wanted, and that
// a command after it that fails has a remedy.
func TestRetryOfAFailedCommand(t *testing.T) {
	t.Parallel()
	const plain = "A retry of `net` uses the options of the last plan again. For a plan without them, comment `lockstep plan -p net`."
	for _, c := range []string{"import terraform_data.nothere x -p net", "untaint terraform_data.vpc -p net", "plan -var nothere=1 -p net", "state mv terraform_data.nothere terraform_data.z -p net"} {
		t.Run("before "+c, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("vpc", "v1"), "lockstep.hcl": netProject})
			n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
			s.expect("the command", s.say("alice", n, "lockstep "+c), "**Failed to plan** `net`.")
			s.repo.Merge("alice", n)
			s.settle()
			s.expect("the status", s.status(n), "comment `lockstep retry`")
			s.without("the status", s.status(n), plain)
			s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied**", "`lockstep retry`")
			s.expect("the retry", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 2 to add")
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
		})
		t.Run("after "+c, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("vpc", "v1"), "lockstep.hcl": netProject})
			n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
			s.repo.Merge("alice", n)
			s.settle()
			s.expect("the command", s.say("alice", n, "lockstep "+c), "**Failed to plan** `net`.")
			s.expect("the retry", s.say("alice", n, "lockstep retry"), "**Failed to plan** `net`.")
			s.expect("the status", s.status(n), plain)
			s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "Comment `lockstep plan -p net`: it plans what was merged, without options such as `-target`. Read the plan, then apply it.")
			s.expect("the remedy", s.say("alice", n, "lockstep plan -p net"), "**Planned** `net`: 2 to add")
			s.without("the status", s.status(n), plain)
		})
	}
}

// TestLateMerge holds that a merge of which the webhook comes late neither applies nor drops a plan that somebody has asked for
// on the merged pull request meanwhile: it is of the base branch as it is by now, and nobody has seen it.
func TestLateMerge(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	s.repo.Merge("bob", n)
	s.repo.Push("carol", "main", "A hotfix", githubtest.Files{"net/fix.tf": resource("fix", "v1")})
	s.hub.LoseDeliveries(20)
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.hub.LoseDeliveries(0)
	s.expect("the plan", s.say("alice", n, "lockstep plan"), "**Planned** `net`: 3 to add")
	if err := s.pipeline.Handle(t.Context(), pipeline.Message{ID: "late", Kind: pipeline.Closed, Pull: s.ref(n), Action: "closed", Actor: "bob"}); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if got := made(t, s, "net"); strings.HasPrefix(got, "serial") {
		t.Errorf("the state has %s", got)
	}
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 3 added")
}

// TestMergedAtOnce holds that a merge before anybody has looked at the head is planned afterwards, since it applies nothing,
// and that its issue stays open until all is applied: of a new pull request, and of one whose last push nobody has seen.
func TestMergedAtOnce(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{false, true} {
		s := newStage(t, onMerge())
		s.repo.Push("alice", "b", "B", githubtest.Files{"README.md": "more"})
		if seen {
			s.repo.OpenPull("alice", "B", "b")
			s.settle()
		}
		s.repo.Push("alice", "b", "B", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
		if !seen {
			s.repo.OpenPull("alice", "B", "b")
		}
		s.repo.Merge("bob", 1)
		s.settle()
		s.expect("the status", s.status(1), "ready to apply | `net` | 2 to add, 0 to change, 0 to destroy")
		s.expect("the answer to the merge", s.answer(1, "merge"), "**Planned** `net`: 2 to add")
		issues := s.repo.Issues()
		if len(issues) != 1 || !issues[0].Open {
			t.Fatalf("the issues are %+v", issues)
		}
		s.expect("the apply", s.say("alice", 1, "lockstep apply"), "**Applied** `net`: 2 added")
		if s.repo.Issues()[0].Open {
			t.Error("the issue is open")
		}
	}
	t.Run("from another branch", func(t *testing.T) {
		s := newStage(t, onMerge())
		s.repo.Push("alice", "release", "R", githubtest.Files{"README.md": "release"})
		s.repo.Push("alice", "b", "B", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
		n := s.repo.OpenPull("alice", "B", "b")
		s.repo.Retarget("alice", n, "release")
		s.settle()
		s.repo.Retarget("alice", n, "main")
		s.repo.Merge("bob", n)
		s.settle()
		s.expect("the answer to the merge", s.answer(n, "merge"), "**Planned** `net`: 2 to add")
	})
	for name, files := range map[string]githubtest.Files{"documents": {"README.md": "more"}, "another branch": {"net/subnet.tf": resource("subnet", "v1")}} {
		s := newStage(t, onMerge())
		s.repo.Push("alice", "b", "B", files)
		s.repo.Push("alice", "release", "R", githubtest.Files{"README.md": "release"})
		n := s.repo.OpenPull("alice", "B", "b")
		if name == "another branch" {
			s.repo.Retarget("alice", n, "release")
		}
		s.repo.Merge("bob", n)
		s.settle()
		if all := s.repo.Comments(n); len(all) > 0 {
			t.Errorf("%s: there is nothing to plan, and it says %q", name, all[0].Body)
		}
	}
}

// TestFollowUpIssue holds that an issue is opened for what a merge could not apply, of which each project is told, and is
// closed by the apply that finishes it. Where a repository has no issues, the rest is as it was.
func TestFollowUpIssue(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		s := newStage(t, onMerge())
		n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
		s.repo.OpenIssue("mallory", "Mine", "<!-- lockstep:follow-up 1 -->\nmine")
		if off {
			s.repo.WithoutIssues(true)
		}
		issue := func() githubtest.Issue {
			t.Helper()
			all := s.repo.Issues()
			if all[0].Body != "<!-- lockstep:follow-up 1 -->\nmine" || !all[0].Open {
				t.Errorf("mallory's issue is now %+v", all[0])
			}
			if len(all) != 2 {
				return githubtest.Issue{}
			}
			return all[1]
		}
		engine := s.pipeline.Engine
		s.pipeline.Engine = broken{engine}
		s.repo.Merge("bob", n)
		s.settle()
		s.pipeline.Engine = engine
		s.expect("the status", s.status(n), "erged, not applied")
		first := issue()
		if off {
			if first.Number != 0 {
				t.Errorf("an issue in a repository without issues: %+v", first)
			}
			continue
		}
		if !first.Open || first.Author != "lockstep[bot]" || first.Title != "#1 is merged, but not fully applied" {
			t.Errorf("the issue is %+v", first)
		}
		s.expect("the issue", first.Body, "| **merged, not applied** | `net` | 2 to add, 0 to change, 0 to destroy |", "For a new plan of what is not applied, comment `lockstep retry` on")
		s.expect("the retry", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 2 to add")
		s.expect("the issue", issue().Body, "ready to apply")
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
		if last := issue(); last.Open || last.Number != first.Number || !strings.Contains(last.Body, "#1 is fully applied, so Lockstep closes this issue.") {
			t.Errorf("the issue is %+v", last)
		}
	}
}

// TestFollowUpByAnother holds that the apply of another pull request which finishes what a merge has left closes its issue, and
// says so there; and that none does whose plan lacks the merge, or a part of the project.
func TestFollowUpByAnother(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		finish func(s *stage, second int)
		want   string
	}{
		{"the whole project", func(s *stage, second int) { s.repo.Merge("bob", second) }, "closed"},
		{"nothing", func(*stage, int) {}, "open"},
		{"a part", func(s *stage, second int) {
			s.say("bob", second, "lockstep plan -target=terraform_data.subnet")
			s.repo.Merge("bob", second)
			s.settle()
			s.say("bob", second, "lockstep plan -target=terraform_data.subnet")
			s.expect("the apply", s.say("bob", second, "lockstep apply"), "**Applied** `net`: 1 added")
		}, "open"},
		{"a plan without the merge", func(s *stage, second int) {
			s.repo.Retarget("bob", second, "release")
			s.settle()
			s.repo.Merge("bob", second)
			s.settle()
			s.expect("the merge", s.answer(second, "merge"), "**Applied** `net`: 2 added")
		}, "open"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := onMerge()
			files["lockstep.hcl"] += "\nallow {\n  branches = [\"release\"]\n}\n"
			s := newStage(t, files)
			s.repo.Push("bob", "release", "A release", nil)
			first := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
			second := s.pull("bob", "other", githubtest.Files{"net/other.tf": resource("other", "v1")})
			engine := s.pipeline.Engine
			s.pipeline.Engine = broken{engine}
			s.repo.Merge("bob", first)
			s.settle()
			s.pipeline.Engine = engine
			s.expect("the plan", s.say("bob", second, "lockstep plan"), "**Planned** `net`: 3 to add")
			test.finish(s, second)
			s.settle()
			issue := s.repo.Issues()[0]
			if got := map[bool]string{true: "open", false: "closed"}[issue.Open]; got != test.want {
				t.Fatalf("the issue is %s: %+v", got, issue)
			}
			if test.want == "open" {
				if len(issue.Talk) > 0 {
					t.Errorf("the comments are %q", issue.Talk)
				}
				return
			}
			s.expect("the issue", issue.Body, "#1 is fully applied: `net` by #2.")
			if len(issue.Talk) != 1 || !strings.Contains(issue.Talk[0], "#2 has applied `net`.") {
				t.Errorf("the comments are %q", issue.Talk)
			}
			s.expect("the status", s.status(first), "| applied by #2 | `net` | 2 to add, 0 to change, 0 to destroy |")
			s.lacks("the status", s.status(first), "not applied")
			s.lacks("the status", s.status(first), "retry")
			s.expect("the check", s.check("subnet"), "success Applied by #2")
			s.expect("the check of the head", s.headOf("subnet"), "success")
			s.expect("an apply", s.say("alice", first, "lockstep apply"), "**Not applied** `net`", "#2 has already applied what was merged.")
			comments := len(s.repo.Comments(first))
			for i := range 3 {
				third := s.pull("bob", fmt.Sprint("third", i), githubtest.Files{"net/main.tf": resource("vpc", fmt.Sprint("v", i+2))})
				s.repo.Merge("bob", third)
				s.settle()
			}
			if got := len(s.repo.Comments(first)); got != comments {
				t.Errorf("%d comments, and %d before", got, comments)
			}
			s.expect("the status afterwards", s.status(first), "applied by #2")
			s.expect("the retry", s.say("alice", first, "lockstep retry"), "No project of this pull request has failed.")
			if issue := s.repo.Issues()[0]; issue.Open || len(issue.Talk) != 1 {
				t.Errorf("after a retry the issue is %+v", issue)
			}
		})
	}
}

// TestFinishedByAnother holds that a merged pull request says whose apply has finished it, where a comment was to apply it, where its
// new plan waits, and where its apply waits for what is missing.
func TestFinishedByAnother(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files  githubtest.Files
		before func(s *stage, first int)
	}{
		"without an apply": {githubtest.Files{"net/main.tf": resource("vpc", "v1")}, func(*stage, int) {}},
		"with a new plan": {githubtest.Files{"net/main.tf": resource("vpc", "v1")}, func(s *stage, first int) {
			s.expect("the retry", s.say("alice", first, "lockstep retry"), "**Planned** `net`: 2 to add")
		}},
		"late": {landing("require \"apply\" {\n  labels = [\"go\"]\n}\n"), func(s *stage, first int) {
			s.expect("the status", s.status(first), "Lockstep applies the plan once its requirements are met, if the plan is still up to date then.")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, test.files)
			first := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
			s.repo.Merge("bob", first)
			s.settle()
			test.before(s, first)
			second := s.pull("bob", "other", githubtest.Files{"net/other.tf": resource("other", "v1")})
			s.repo.Label("bob", second, "go")
			s.settle()
			if name != "late" {
				s.expect("the other apply", s.say("bob", second, "lockstep apply"), "**Applied** `net`: 3 added")
			}
			s.repo.Merge("bob", second)
			s.settle()
			s.expect("the status", s.status(first), "| applied by #2 | `net` | 2 to add, 0 to change, 0 to destroy |")
			s.lacks("the status", s.status(first), "retry")
			s.expect("the check", s.check("subnet"), "success Applied by #2")
			kept := func(a string) bool { return strings.Contains(a, fmt.Sprintf("/%d/net@", first)) }
			if got := usable(artifacts(t, s)); name == "late" && slices.ContainsFunc(got, kept) {
				t.Errorf("something is kept: %q", got)
			}
			run := s.run(first)
			third := s.pull("bob", "third", githubtest.Files{"net/main.tf": resource("vpc", "v2")})
			s.repo.Label("bob", third, "go")
			s.repo.Label("bob", first, "go")
			if name != "late" {
				s.say("bob", third, "lockstep apply")
			}
			s.repo.Merge("bob", third)
			s.settle()
			if now := s.run(first); now.Asked.Attempt != run.Asked.Attempt || now.Asked.Try != run.Asked.Try || now.Artifacts.Begun != run.Artifacts.Begun || now.Artifacts.Reserved != run.Artifacts.Reserved {
				t.Errorf("the run was %+v, and is %+v", run, now)
			}
			if got := s.late(); len(got) > 0 {
				t.Errorf("the watches are %+v", got)
			}
		})
	}
}

// TestMergedAfterAConflict holds that a head which nobody could plan for a conflict, and which is merged once that is gone, is
// planned after the merge.
func TestMergedAfterAConflict(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	s.repo.Push("bob", "main", "Theirs", githubtest.Files{"net/subnet.tf": resource("subnet", "v2")})
	s.repo.Push("alice", "b", "Ours", githubtest.Files{"net/other.tf": resource("other", "v1")})
	n := s.repo.OpenPull("alice", "Ours", "b")
	s.repo.Push("bob", "main", "Theirs", githubtest.Files{"net/other.tf": resource("other", "v2")})
	s.settle()
	s.expect("the status", s.status(n), "the branch conflicts with the base branch")
	s.repo.Push("bob", "main", "Undone", githubtest.Files{"net/other.tf": githubtest.Deleted})
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the answer to the merge", s.answer(n, "merge"), "**Planned** `net`: 3 to add")
}

// TestMergedOnTopOfAnother holds that a merge's projects are planned if the pull request did not change them until the base
// branch got some of its commits by another one: it undoes them here.
func TestMergedOnTopOfAnother(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("vpc", "v1")})
	first := s.pull("alice", "first", githubtest.Files{"net/other.tf": resource("other", "v1")})
	second := s.pull("alice", "second", githubtest.Files{"README.md": "new"})
	s.repo.Retarget("alice", second, "first")
	s.repo.UpdateBranch("alice", second)
	s.repo.Retarget("alice", second, "main")
	s.repo.Push("alice", "second", "Without it", githubtest.Files{"net/other.tf": githubtest.Deleted})
	s.expect("the first apply", s.say("alice", first, "lockstep apply"), "**Applied** `net`: 2 added")
	s.repo.Merge("bob", first)
	s.settle()
	s.expect("the check of the second", s.pages("second"), "nothing to plan")
	s.repo.Merge("bob", second)
	s.settle()
	s.expect("the merge", s.answer(second, "merge"), "**Planned** `net`: 0 to add, 0 to change, 1 to destroy")
	s.expect("its apply", s.say("bob", second, "lockstep apply"), "**Applied** `net`: 0 added, 0 changed, 1 destroyed")
}

// TestRequirementsOfARetry holds that a plan of what was merged, and its apply, need what the base branch requires now, and not what it
// required at the merge: other settings may have come since.
func TestRequirementsOfARetry(t *testing.T) {
	t.Parallel()
	const gate = "require \"apply\" {\n  approvals = 1\n}\n"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("a plan", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 2 to add")
	s.repo.Push("bob", "main", "Stricter", githubtest.Files{"lockstep.hcl": netProject + gate})
	s.settle()
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "**not met**: an approval")
	s.expect("another plan", s.say("alice", n, "lockstep plan -p net"), "**Planned** `net`: 2 to add")
	s.expect("the status", s.status(n), "**not met**: an approval")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "**not met**: an approval")
	s.repo.Push("bob", "main", "For plans", githubtest.Files{"lockstep.hcl": netProject + "require \"plan\" {\n  by = [\"bob\"]\n}\n"})
	s.settle()
	s.expect("a plan by somebody else", s.say("alice", n, "lockstep plan -p net"), "**Not planned** `net`", "a request by `bob`")
	s.repo.Push("bob", "main", "Looser", githubtest.Files{"lockstep.hcl": netProject})
	s.settle()
	s.expect("an apply then", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
}
