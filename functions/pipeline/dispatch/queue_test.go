package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// group is the outcome of our check of a merge group.
func (s *stage) group(sha string) string {
	s.t.Helper()
	out := ""
	for _, c := range s.repo.Checks(sha) {
		if c.Name == "lockstep" {
			if out != "" {
				s.t.Error("there are two checks of a merge group")
			}
			out = string(c.Status) + " " + string(c.Conclusion) + " " + c.Title
		}
	}
	return out
}

// TestMergeQueue lets pull requests through a merge queue that wants our check: the check of a merge group is that of the
// pull request, and what the queue merges is applied.
func TestMergeQueue(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "words", githubtest.Files{"doc.md": "words"})
	first, second := s.repo.Enqueue("alice", n), s.repo.Enqueue("bob", m)
	if s.repo.Land("lockstep") {
		t.Fatal("it is merged without a check")
	}
	s.settle()
	s.expect("the check of the first group", s.group(first), "completed success", "1 project")
	s.expect("the check of the second", s.group(second)+s.page(second), "completed success", "#1: 1 project applies on merge", "### #2: No project is affected")
	for range 2 {
		if !s.repo.Land("lockstep") {
			t.Fatal("it is not merged")
		}
		s.settle()
	}
	s.expect("the status", s.status(n), "applied by", "2 added")
	if r := s.run(n); r.Phase != runs.Applied {
		t.Errorf("%+v", r)
	}
}

// TestMergeQueueWaits holds that a plan which nobody has seen, or which fails, keeps the group out, and that a new head is one that
// nobody has looked at.
func TestMergeQueueWaits(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"})
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	early := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("a group that was made before the plan", s.group(early), "completed failure", "before the plan")
	s.repo.Push("alice", "b", "Broken", githubtest.Files{"net/b.tf": "resource {\n"})
	late := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("a group of a plan that fails", s.group(late), "completed failure")
	s.expect("the one before", s.group(early), "completed cancelled", "Removed from the merge queue")
}

// TestMergeQueueOfWhatWaits holds that a plan which waits for its apply before the merge keeps the group out where the base
// branch wants that, and not where it does not.
func TestMergeQueueOfWhatWaits(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"": "completed neutral", "check {\n  waiting = \"action_required\"\n}\n": "completed action_required"} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n" + setting})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		at := s.repo.Enqueue("alice", n)
		s.settle()
		s.expect("the check of the group", s.group(at), want, "1 project ready to apply")
		s.say("alice", n, "lockstep apply")
		s.expect("and then", s.group(at), "completed success", "1 project applied")
	}
}

// TestMergeGroupOfAnother holds that a pull request does not answer for another one that has its head.
func TestMergeGroupOfAnother(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\ncheck {\n  waiting = \"action_required\"\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "words", githubtest.Files{"doc.md": "words"})
	one, two := s.repo.Enqueue("alice", n), s.repo.Enqueue("bob", m)
	s.settle()
	s.expect("the check of the first group", s.group(one), "completed action_required")
	if strings.Contains(s.page(one), "#2") {
		t.Errorf("the page of the first group is %s", s.page(one))
	}
	// It has the first one, too.
	s.expect("the check of the second", s.group(two), "completed action_required", "#1: 1 project ready to apply")
	s.expect("its page", s.page(two), "### #2: No project is affected")
	s.say("alice", n, "lockstep apply")
	s.expect("the check of the second, once the first is applied", s.group(two), "completed success")
	s.repo.Dequeue(n)
	s.settle()
	s.expect("the check of the second, once the first has left", s.group(two), "completed cancelled")
}

// TestMergeGroupBehindAFormer holds that the check of a group is told when a pull request ahead has another group at once.
func TestMergeGroupBehindAFormer(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\ncheck {\n  waiting = \"action_required\"\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "words", githubtest.Files{"doc.md": "words"})
	one, two := s.repo.Enqueue("alice", n), s.repo.Enqueue("bob", m)
	s.settle()
	s.expect("the check of the second", s.group(two), "completed action_required")
	s.repo.Dequeue(n)
	three := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("the check of the former group", s.group(one), "completed cancelled")
	s.expect("the check of the one behind it", s.group(two), "completed cancelled")
	s.expect("the check of the present group", s.group(three), "completed action_required")
}

// TestMergeQueueUnseen holds that the group of a head which nobody has looked at yet waits, and is told once it is planned.
func TestMergeQueueUnseen(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"})
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	at := s.repo.Enqueue("alice", n)
	var later []pipeline.Message
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind != pipeline.Grouped {
			later = append(later, m)
			return nil
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.expect("the check of the group", s.group(at), "queued", "Looking for the projects")
	for _, m := range later {
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	s.settle()
	s.expect("and once it is planned", s.group(at), "completed failure", "before the plan")
}

// TestMergeQueueGivenUp is the story of a history (seed 91000724 of the brief ones): GitHub is down while a group comes, for longer
// than its message is tried. It holds that the group has its check once GitHub is up again.
func TestMergeQueueGivenUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	at := s.repo.Enqueue("alice", n)
	group := s.held(pipeline.Grouped)
	down := true
	s.refuse(func(x memory.Effect) bool {
		hub := slices.ContainsFunc([]string{"read ", "check", "comment", "react"}, func(word string) bool { return strings.HasPrefix(x.Call, word) })
		return down && hub
	})
	if err := s.pipeline.Handle(t.Context(), group); !errors.Is(err, errDown) {
		t.Error(err)
	}
	if err := s.pipeline.Abandon(t.Context(), group, "GitHub is down"); !errors.Is(err, errDown) {
		t.Errorf("it is given up for ever: %v", err)
	}
	down = false
	if err := s.pipeline.Abandon(t.Context(), group, "GitHub is down"); err != nil {
		t.Error(err)
	}
	s.settle()
	s.expect("the check of the group", s.group(at), "completed success")
}

// onMergeNet is a repository with one project, whose plans are applied on merge.
func onMergeNet() githubtest.Files {
	return githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"}
}

// page is the page of our check of a merge group.
func (s *stage) page(sha string) string {
	s.t.Helper()
	for _, c := range s.repo.Checks(sha) {
		if c.Name == "lockstep" {
			return c.Summary
		}
	}
	return ""
}

// TestQueueHeadSame holds that the plan is made again of the commit of a merge group, that an equal one leaves the plan and its
// approval as they are, and that the landing applies it.
func TestQueueHeadSame(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	was := s.run(n)
	s.repo.Push("bob", "main", "Another thing", githubtest.Files{"net/c.tf": "locals {\n  other = 1\n}\n"})
	at := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("the check of the group", s.group(at), "completed success", "1 project applies on merge – 2 to add")
	s.expect("its page", s.page(at), "`net`: planned again in the merge queue at `"+at[:7]+"`, with the same changes.")
	if now := s.run(n); now.Plan.Hash != was.Plan.Hash || now.Artifacts.Begun != was.Artifacts.Begun || now.Plan.Checked != nil {
		t.Errorf("the plan was %+v, and is %+v", was, now)
	}
	if strings.Contains(s.status(n), "merge queue") {
		t.Errorf("the status is %s", s.status(n))
	}
	if !s.repo.Land("lockstep") {
		t.Fatal("it is not merged")
	}
	s.settle()
	s.expect("the status", s.status(n), "applied by", "2 added")
}

// TestQueueHeadDiffers holds that another plan at the head of the queue keeps the group out, with the difference, that it never
// takes the place of the one that people have read, and that the remedy is one.
func TestQueueHeadDiffers(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	was := s.run(n)
	s.repo.Push("bob", "main", "Other value", githubtest.Files{"net/c.tf": resource("c", "1")})
	at := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("the check of the group", s.group(at), "completed failure", "Failed: the plan has changed in the merge queue")
	s.expect("its page", s.page(at), "+ ", "terraform_data.c", "Comment `lockstep plan -p net`")
	s.expect("the comment", s.answer(n, "queue-"+at), "in the merge queue** (", "terraform_data.c", "The check of the merge group fails, and nothing is merged.")
	if now := s.run(n); now.Plan.Hash != was.Plan.Hash || now.Phase != runs.Planned || now.Plan.Checked != nil {
		t.Errorf("the plan was %+v, and is %+v", was, now)
	}
	if s.repo.Land("lockstep") {
		t.Fatal("it is merged")
	}
	s.settle()
	s.expect("the check of the group afterwards", s.group(at), "completed cancelled")
	s.say("alice", n, "lockstep plan -p net")
	again := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("the check of the next group", s.group(again), "completed success")
	if !s.repo.Land("lockstep") {
		t.Fatal("it is not merged")
	}
	s.settle()
	s.expect("the status", s.status(n), "applied by", "3 added")
}

// TestQueueHeadFails holds that a plan which cannot be made at the head of the queue keeps the group out.
func TestQueueHeadFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Push("bob", "main", "The same name", githubtest.Files{"net/c.tf": resource("b", "2")})
	at := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("the check of the group", s.group(at), "completed failure", "Failed to plan in the merge queue")
	s.expect("the comment", s.answer(n, "queue-"+at), "**Failed to plan `net` in the merge queue** (", "on c.tf line 1")
}

// TestQueueOnTop holds that a plan with the changes of a pull request before it, which is not applied yet, does not keep the
// group out: the apply on landing compares.
func TestQueueOnTop(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	s.repo.Merge("bob", s.pull("bob", "first", githubtest.Files{"net/first.tf": resource("first", "1")}))
	s.settle()
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	first, second := s.repo.Enqueue("alice", n), s.repo.Enqueue("bob", m)
	s.settle()
	s.expect("the check of the first group", s.page(first), ": planned again in the merge queue at")
	s.expect("the check of the second", s.group(second), "completed success", "applies on merge")
	s.expect("its page", s.page(second), "### #2: 1 project applies on merge – 1 to add, 0 to change, 0 to destroy")
	for range 2 {
		if !s.repo.Land("lockstep") {
			t.Fatal("it is not merged")
		}
		s.settle()
	}
	s.expect("the first", s.status(n), "applied by")
	s.expect("the second", s.status(m), "applied by", "1 added")
}

// TestQueueOfWhatIsBehind holds that a head which lacks commits of the base branch is none that keeps its merge group out: the
// group's commit has them, whether they came before the group or with one that has landed before.
func TestQueueOfWhatIsBehind(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"up_to_date", "mergeable"} {
		files := requiring("apply", "  "+rule+" = true")
		files["lockstep.hcl"] = strings.Replace(files["lockstep.hcl"], "{\n", "{\n  apply = \"merge\"\n", 1)
		s := newStage(t, files)
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		m := s.pull("bob", "words", githubtest.Files{"doc.md": "words"})
		s.repo.Push("bob", "main", "More words", githubtest.Files{"other.md": "words"})
		if rule == "mergeable" {
			s.repo.Protect("behind", nil, nil)
		}
		first, second := s.repo.Enqueue("bob", m), s.repo.Enqueue("alice", n)
		s.settle()
		s.expect(rule+": the check of the first group", s.group(first), "completed success")
		s.expect(rule+": the check of the second", s.group(second), "completed success", "applies on merge")
		s.repo.Land("lockstep")
		s.settle()
		s.say("bob", n, "lockstep help")
		s.expect(rule+": the check of the head", s.headOf("b"), "action_required", "waiting for a requirement")
		s.expect(rule+": the check of the second, once the first has landed", s.group(second), "completed success")
	}
}

// TestQueueEmptied holds that the plan of a group that GitHub has no more is not made, that its check is cancelled, and that
// this is so whichever of its webhooks comes when.
func TestQueueEmptied(t *testing.T) {
	t.Parallel()
	for name, deliver := range map[string]func(s *stage, n int){
		"at once": func(s *stage, n int) {
			s.repo.Dequeue(n)
			s.settle()
		},
		"after the request for the plan": func(s *stage, n int) {
			s.settleBut(pipeline.ToQueue)
			s.repo.Dequeue(n)
			s.settle()
		},
		"after the plan": func(s *stage, n int) {
			s.settle()
			s.repo.Dequeue(n)
			s.settle()
		},
		"twice, and backwards": func(s *stage, n int) {
			s.settle()
			s.repo.Dequeue(n)
			s.settle()
			ids := s.hub.Deliveries()
			for i := range ids {
				if _, err := s.hub.Redeliver(s.t.Context(), ids[len(ids)-1-i]); err != nil {
					s.t.Fatal(err)
				}
			}
			s.settle()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, onMergeNet())
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.repo.Push("bob", "main", "Other value", githubtest.Files{"net/c.tf": resource("c", "1")})
			at := s.repo.Enqueue("alice", n)
			deliver(s, n)
			if got := s.group(at); got != "" && !strings.HasPrefix(got, "completed cancelled") {
				t.Errorf("the check of the group is %s", got)
			}
			if r := s.run(n); r.Phase != runs.Planned {
				t.Errorf("%+v", r)
			}
			s.repo.Push("bob", "main", "Words", githubtest.Files{"doc.md": "words"}) // else it is the same commit
			again := s.repo.Enqueue("alice", n)
			s.settle()
			s.expect("the next group", s.group(again), "completed failure", "the plan has changed in the merge queue")
		})
	}
}

// TestQueueHintsLie holds that a message about a commit which is not that of the pull request's merge group plans nothing, and
// writes no check there.
func TestQueueHintsLie(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Push("mallory", "evil", "Evil", githubtest.Files{"net/c.tf": resource("c", "1")})
	evil := s.repo.Head("evil")
	pull := s.run(n).Pull
	s.strict = true
	for i, m := range []pipeline.Message{
		{Kind: pipeline.Grouped}, {Kind: pipeline.ToQueue, Target: s.run(n).Target(), Attempt: s.run(n).Asked.Attempt},
	} {
		m.ID, m.Pull, m.MergeGroup = "lie-"+strconv.Itoa(i), pull, evil
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Error(err)
		}
	}
	s.settle()
	if got := s.repo.Checks(evil); len(got) != 0 {
		t.Errorf("the checks of the commit are %+v", got)
	}
	// It is one of another pull request's group that has the head of this one.
	at := s.repo.Enqueue("alice", n)
	s.settle()
	m := pipeline.Message{ID: "lie", Kind: pipeline.ToQueue, Pull: pull, Target: s.run(n).Target(), Attempt: s.run(n).Asked.Attempt, MergeGroup: evil}
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Error(err)
	}
	s.settle()
	s.expect("the group", s.group(at), "completed success")
	if got := s.repo.Checks(evil); len(got) != 0 {
		t.Errorf("the checks of the commit are %+v", got)
	}
}

// TestQueueTrustsTheBase holds that settings at the commit of a merge group, which has those of the pull requests before it,
// are never read.
func TestQueueTrustsTheBase(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("mallory", "grants", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n\nallow {\n  provisioners = true\n}\n"})
	s.repo.Enqueue("bob", m)
	at := s.repo.Enqueue("alice", n)
	var mu sync.Mutex
	read := 0
	s.answered = func(r *http.Request, _ int) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(r.URL.Path, "/contents/") && strings.Contains(r.URL.RawQuery, at) {
			read++
		}
	}
	s.settle()
	s.expect("the group", s.page(at), "### #1: 1 project applies on merge – 2 to add, 0 to change, 0 to destroy")
	mu.Lock()
	defer mu.Unlock()
	if read > 0 {
		t.Errorf("%d files of the group are read", read)
	}
}

// queueStory is of a merge group whose plan is another one, and of the next, which lands.
func queueStory(t *testing.T, f *faults) {
	s := newStage(t, onMerge())
	n := s.pull("alice", "b", githubtest.Files{"net/subnet.tf": resource("subnet", "1")})
	was := s.run(n).Plan.Hash
	s.repo.Push("bob", "main", "Other", githubtest.Files{"net/other.tf": resource("other", "1")})
	f.use(s)
	at := s.repo.Enqueue("alice", n)
	s.stubborn()
	s.expect(f.String()+": the group", s.group(at), "completed failure", "the plan has changed in the merge queue")
	s.expect(f.String()+": the comment", s.answer(n, "queue-"+at), "), because the configuration on the base branch has changed:")
	own := ledger.Ledger{Records: s.records}
	if all, err := own.Runs(t.Context(), s.ref(n)); err != nil || len(all) != 1 || all[0].Plan.Hash != was {
		t.Errorf("%v: the plan was %s, and the runs are %+v, %v", f, was, all, err)
	}
	s.repo.Dequeue(n)
	s.stubborn()
	s.expect(f.String()+": the group that is gone", s.group(at), "completed cancelled")
	if got := len(s.repo.Comments(n)); got != 2 {
		t.Errorf("%v: %d comments", f, got)
	}
	s.tidy(f)
}

// TestQueueAskedAgain holds that a plan is not made of the commit of a group that GitHub has no more, although nobody has told us
// of its end.
func TestQueueAskedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Push("bob", "main", "Other value", githubtest.Files{"net/c.tf": resource("c", "1")})
	at := s.repo.Enqueue("alice", n)
	var held []pipeline.Message
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToQueue {
			held = append(held, m)
			return nil
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.expect("the check while it is planned", s.group(at), "queued", "Planning in the merge queue")
	s.repo.Dequeue(n)
	if len(held) != 1 || held[0].MergeGroup != at {
		t.Fatalf("%+v", held)
	}
	if err := s.pipeline.Handle(t.Context(), held[0]); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), s.pipeline.Handle)
	s.expect("the check", s.group(at), "queued")
	s.settle()
	s.expect("the check in the end", s.group(at), "completed cancelled")
	if got := len(s.repo.Comments(n)); got != 1 {
		t.Errorf("%d comments", got)
	}
}

// TestTestsInAQueue holds that a merge group gets the check of tests, with the result of the group's own commit: failed tests of the
// group keep it out where the branch requires the check. A group that is gone is not tested.
func TestTestsInAQueue(t *testing.T) {
	t.Parallel()
	const check = "lockstep/test: net"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": testedNet})
	one := s.pull("alice", "b", githubtest.Files{"net/a.tftest.hcl": expecting("1"), "net/b.tf": resource("b", "1")})
	two := s.pull("bob", "c", githubtest.Files{"net/main.tf": resource("a", "2"), "net/c.tftest.hcl": expecting("2")})
	of := func(sha string) (out string) {
		for _, c := range s.repo.Checks(sha) {
			if c.Name == check {
				out += fmt.Sprintf("%s %s %s\n", c.Status, c.Conclusion, c.Title)
			}
		}
		return out
	}
	first := s.repo.Enqueue("alice", one)
	s.settle()
	second := s.repo.Enqueue("bob", two)
	s.settle()
	s.expect("the first group", of(first), "completed success 1 run passed")
	s.expect("the second, with both", of(second), "completed failure 1 of 2 runs did not pass")
	if got := of(s.repo.Head("c")); !strings.Contains(got, "completed success 1 run passed") {
		t.Errorf("the head of the second: %s", got)
	}
	for _, sha := range []string{first, second} {
		if n := strings.Count(of(sha), "\n"); n != 1 {
			t.Errorf("%d checks", n)
		}
	}
	s.repo.Dequeue(one)
	e := s.testing()
	s.settle()
	var late []pipeline.Message
	third := s.repo.Enqueue("bob", two)
	s.settleKeeping(func(m pipeline.Message) bool {
		if m.Kind == pipeline.ToTest {
			late = append(late, m)
		}
		return m.Kind == pipeline.ToTest
	})
	s.repo.Dequeue(two)
	s.settle()
	for _, m := range late {
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Error(err)
		}
	}
	if got := of(third); got != "" || len(e.jobs) > 0 || len(late) == 0 {
		t.Errorf("a group that is gone: %s, %d jobs, %d messages", got, len(e.jobs), len(late))
	}
}
