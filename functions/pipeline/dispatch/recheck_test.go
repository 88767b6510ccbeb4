package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// settleBut is settle with all messages of a kind lost.
func (s *stage) settleBut(kind pipeline.Kind) {
	s.t.Helper()
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.drain(s.t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == kind {
			return nil
		}
		return s.pipeline.Handle(ctx, m)
	})
}

// meanwhile handles the events that are delivered, while another message is being handled.
func (s *stage) meanwhile() {
	s.t.Helper()
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Error(err)
	}
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	s.data.Queue.Drain(ctx, localstore.Worker{Abandon: s.pipeline.Abandon, Handle: func(_ context.Context, m pipeline.Message) error {
		if m.Queue() == pipeline.Events && m.Kind != pipeline.SyncComments {
			defer stop()
		}
		return s.pipeline.Handle(s.t.Context(), m)
	}})
}

// overtake has alice apply and merge a pull request that adds a resource of a name.
func (s *stage) overtake(name string) {
	s.t.Helper()
	n := s.pull("alice", name, githubtest.Files{name + ".tf": resource(name, "1")})
	s.expect("the apply of "+name, s.say("alice", n, "lockstep apply"), "**Applied** `.`")
	s.repo.Merge("alice", n)
	s.settle()
}

// two are a pull request of bob whose plan would create the network, and one of alice that creates it
// first, and is not merged yet.
func two(t *testing.T) (s *stage, mine, other int) {
	t.Helper()
	s = newStage(t, githubtest.Files{"main.tf": resource("vpc", "1")})
	mine = s.pull("bob", "mine", githubtest.Files{"mine.tf": resource("mine", "1")})
	other = s.pull("alice", "other", githubtest.Files{"other.tf": resource("other", "1")})
	s.expect("the first apply", s.say("alice", other, "lockstep apply"), "**Applied** `.`: 2 added")
	return s, mine, other
}

// TestOthersStaySame holds that a plan which an apply has nothing to do with stays, under its hash and
// its approval, and that people are told before they ask.
func TestOthersStaySame(t *testing.T) {
	t.Parallel()
	s, n := planned(t)
	was := s.run(n)
	s.overtake("third")
	since := "Planned again. Causes:\n\n- the configuration on the base branch has changed: `third.tf`\n- the state was written (serial 1, now 2) by #3, applied by `alice`\n\nThe changes are the same. "
	s.expect("the status", s.status(n), since+"Approvals of this plan stay valid.", "ready to apply")
	s.expect("the check", s.pages("second"), since, "success")
	if now := s.run(n); now.Plan.Hash != was.Plan.Hash || now.Artifacts.Begun != was.Artifacts.Begun || now.Plan.State != was.Plan.State || now.Plan.Applies != 2 {
		t.Errorf("the plan was %+v, and is %+v", was, now)
	}
	s.overtake("fourth")
	s.expect("the status", s.status(n), "\n- the state was written (serial 1, now 3) by #4, applied by")
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Applied** `.`: 0 added, 1 changed, 0 destroyed.")
	if got := len(s.repo.Comments(n)); got != 3 {
		t.Errorf("%d comments", got)
	}
}

// TestOthersDiffer holds that a plan which an apply has made another one is shown, with the
// difference, when that is merged and not before, and is applied by nobody who does not name it.
func TestOthersDiffer(t *testing.T) {
	t.Parallel()
	s, n, other := two(t)
	was := s.hash(n)
	s.expect("before the merge", s.status(n), "2 to add", "**blocked**")
	s.repo.Merge("alice", other)
	s.settle()
	if was == s.hash(n) {
		t.Fatal("the plan is the same")
	}
	s.expect("the status", s.status(n), "has a new plan", "1 to add, 0 to change, 0 to destroy", "# terraform_data.vpc\n- action: create",
		"**has a new plan**, to confirm with `lockstep apply "+s.hash(n)+"`")
	s.expect("the check", s.check("mine"), "action_required Has a new plan, to confirm with lockstep apply")
	s.expect("the notice", s.answer(n, "check"), "the configuration on the base branch has changed: `", "by #2, applied by `alice`", "`lockstep apply "+s.hash(n))
	now := s.hash(n)
	s.overtake("third")
	if s.hash(n) != now {
		t.Error("the plan is another one for an apply that it has nothing to do with")
	}
	s.expect("the check", s.check("mine"), "action_required Has a new plan, to confirm with lockstep apply")
	s.expect("an apply that names none", s.say("bob", n, "lockstep apply"), "**Not applied** `.`", "Nobody has confirmed the new plan")
	s.expect("an apply of the former", s.say("bob", n, "lockstep apply "+was), "**Not applied** `.`", was)
	s.expect("an apply of the new one", s.say("bob", n, "lockstep apply "+s.hash(n)), "**Applied** `.`: 1 added")
}

// empty are a pull request that changes nothing now, and one that reads what it changes, and is applied and merged next.
func empty(t *testing.T, settings string) (s *stage, mine, other int) {
	t.Helper()
	s = newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "net/x.tf": "locals {\n  x = \"1\"\n}\n", "lockstep.hcl": settings})
	first := s.pull("alice", "first", githubtest.Files{"net/first.tf": resource("first", "1")})
	s.say("alice", first, "lockstep apply")
	s.repo.Merge("alice", first)
	s.settle()
	mine = s.pull("bob", "mine", githubtest.Files{"net/x.tf": "locals {\n  x = \"2\"\n}\n"})
	other = s.pull("alice", "other", githubtest.Files{"net/other.tf": "resource \"terraform_data\" \"other\" {\n  input = local.x\n}\n"})
	s.expect("the plan without changes", s.status(mine), "| up to date | `net` | no changes |")
	s.expect("its check", s.headOf("mine"), "success 1 project up to date")
	return s, mine, other
}

// TestNoChangesAreCheckedAgain holds that a plan without changes is made again once another pull request is applied and merged:
// its check passes no more if it has some then. The notice, and the answer to a merge in spite of it, tell of them.
func TestNoChangesAreCheckedAgain(t *testing.T) {
	t.Parallel()
	for apply, answer := range map[string]string{"": "not applied", "  apply = \"merge\"\n": "**Not applied** `net`"} {
		s, mine, other := empty(t, "project \"net\" {\n  dir = \"net\"\n"+apply+"}\n"+enforcing)
		s.say("alice", other, "lockstep apply")
		s.repo.Merge("alice", other)
		s.settle()
		s.expect("the check", s.headOf("mine"), "action_required 1 project has a new plan")
		s.expect("the status", s.status(mine), "0 to add, 1 to change, 0 to destroy", "is the earlier plan,")
		s.expect("the notice", s.answer(mine, "check"), "**New plan** for")
		s.repo.Merge("bob", mine)
		s.settle()
		s.expect("the answer to the merge", s.answer(mine, "merge"), answer)
		if open := len(s.repo.Issues()) == 1 && s.repo.Issues()[0].Open; open != (apply != "") {
			t.Errorf("%q: the issues are %+v", apply, s.repo.Issues())
		}
	}
}

// TestNoChangesMergedAtOnce holds that a merge which applies nothing, as there were no changes when it was planned, is planned of the
// base branch if there are some by then: with the apply of another merge before it that is under way, or with what another merge
// has brought that applies nothing either; in a merge queue and without one. Without any changes nobody hears of it.
func TestNoChangesMergedAtOnce(t *testing.T) {
	t.Parallel()
	settings := "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"
	other := func(input string) githubtest.Files {
		return githubtest.Files{"net/other.tf": "resource \"terraform_data\" \"other\" {\n  " + input + "\n}\n"}
	}
	for name, test := range map[string]struct {
		before githubtest.Files
		other  githubtest.Files
		counts string // of the changes that are left; "" if there are none
	}{
		"one whose apply is under way":  {githubtest.Files{}, other("input = local.x"), "0 to add, 1 to change"},
		"one that reads nothing of it":  {githubtest.Files{}, other("input = 1"), ""},
		"one that changes nothing, too": {githubtest.Files{}, other("count = local.x - 1"), "1 to add"},
		"a file of words":               {githubtest.Files{}, githubtest.Files{"doc.md": "words\n"}, ""},
	} {
		for _, queue := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", queue ", queue), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "net/x.tf": "locals {\n  x = \"1\"\n}\n", "lockstep.hcl": settings})
				s.repo.Merge("alice", s.pull("alice", "first", githubtest.Files{"net/first.tf": resource("first", "1")}))
				s.settle()
				mine := s.pull("bob", "mine", githubtest.Files{"net/x.tf": "locals {\n  x = \"2\"\n}\n"})
				m := s.pull("alice", "other", test.other)
				if queue {
					one, two := s.repo.Enqueue("alice", m), s.repo.Enqueue("bob", mine)
					s.settle()
					s.expect("the first group", s.group(one), "completed success")
					if strings.Contains(name, "too") { // nothing is applied in between that could make it another one
						s.expect("the second group", s.group(two), "completed failure", "Failed: the plan has changed in the merge queue")
						return
					}
					s.expect("the second group", s.group(two), "completed success")
					s.expect("its page", s.page(two), "### #2: 1 project up to date")
					for range 2 {
						if !s.repo.Land("lockstep") {
							t.Fatal("they are not merged")
						}
					}
				} else {
					s.repo.Merge("alice", m)
					s.repo.Merge("bob", mine)
				}
				s.settle()
				if test.counts == "" {
					if got := s.status(mine); strings.Contains(got, "to add") || len(s.repo.Comments(mine)) != 1 || len(s.repo.Issues()) != 0 {
						t.Errorf("%d comments, issues %+v: %s", len(s.repo.Comments(mine)), s.repo.Issues(), got)
					}
					return
				}
				s.expect("the status", s.status(mine), test.counts, "apply")
				if all := s.repo.Issues(); len(all) != 1 || !all[0].Open {
					t.Errorf("the issues are %+v", all)
				}
				s.expect("the apply", s.say("bob", mine, "lockstep apply "+s.hash(mine)), "**Applied** `net`")
			})
		}
	}
}

// TestNoChangesStay holds that a plan without changes which still has none stays, also if it is checked often, and that nobody is
// notified or alarmed.
func TestNoChangesStay(t *testing.T) {
	t.Parallel()
	s, mine, _ := empty(t, "project \"net\" {\n  dir = \"net\"\n}\n"+enforcing)
	was := s.run(mine)
	for _, name := range []string{"third", "fourth"} {
		n := s.pull("alice", name, githubtest.Files{"net/" + name + ".tf": resource(name, "1")})
		s.say("alice", n, "lockstep apply")
		s.repo.Merge("alice", n)
		s.settle()
		s.expect("the status", s.status(mine), "the configuration on the base branch has changed: `", "`net/"+name+".tf`")
		s.expect("the check", s.headOf("mine"), "success 1 project up to date")
	}
	if now := s.run(mine); now.Plan.Hash != was.Plan.Hash || now.Plan.Applies != 3 {
		t.Errorf("the plan was %+v, and is %+v", was, now)
	}
	if got := len(s.repo.Comments(mine)); got != 1 || strings.Contains(s.status(mine), "`"+was.Plan.Hash[:12]+"`") {
		t.Errorf("%d comments, and the status is %s", got, s.status(mine))
	}
}

// TestApprovalsOfAFormerPlan carries out an attack: a plan is approved, another pull request turns it into another plan, and its
// author applies that under the former one's approval, as it is or planned once more. An approval counts that is newer.
func TestApprovalsOfAFormerPlan(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "net/x.tf": "locals {\n  x = \"1\"\n}\n", "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nrequire \"apply\" {\n  approvals = 1\n}\n"})
		n := s.pull("alice", "mine", githubtest.Files{"net/x.tf": "locals {\n  x = \"2\"\n}\n", "net/mine.tf": resource("mine", "1")})
		m := s.pull("bob", "other", githubtest.Files{"net/other.tf": "resource \"terraform_data\" \"other\" {\n  input = local.x\n}\n"})
		s.repo.Review("bob", n, github.Approved, "")
		s.repo.Review("alice", m, github.Approved, "")
		s.settle()
		s.expect("the former plan", s.status(n), "met: an approval of the planned commit (approved by `bob`)")
		s.say("bob", m, "lockstep apply")
		s.repo.Merge("bob", m)
		s.settle()
		s.expect("the status", s.status(n), "**needs approval**, and has a new plan", "**not met**: an approval of the planned commit (`bob` approved an earlier plan)")
		s.expect("the check", s.headOf("mine"), "action_required 1 project needs approval")
		if again {
			s.say("alice", n, "lockstep plan")
		}
		s.expect("the apply", s.say("alice", n, "lockstep apply "+s.hash(n)), "**Not applied** `net`", "`bob` approved an earlier plan")
		s.repo.Review("bob", n, github.Approved, "")
		s.settle()
		s.expect("the status, once it is approved", s.status(n), "met: an approval of the planned commit (approved by `bob`)")
		s.expect("the apply, once it is approved", s.say("alice", n, "lockstep apply "+s.hash(n)), "**Applied** `net`")
	}
}

// TestRenewedIsNotMerged carries out an attack: reviewers approve a plan that the merge applies, and
// another pull request turns it into another plan just before.
func TestRenewedIsNotMerged(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("bob", "mine", githubtest.Files{"net/mine.tf": resource("mine", "1")})
	other := s.pull("alice", "other", githubtest.Files{"net/other.tf": resource("other", "1")})
	s.repo.Merge("alice", other)
	s.settle()
	s.expect("the first apply", s.answer(other, "merge"), "**Applied** `net`: 2 added")
	s.expect("the status", s.status(n), "1 to add, 0 to change, 0 to destroy", "**has a new plan**, which the merge does not apply")
	s.expect("the check", s.check("mine"), "action_required Has a new plan")
	s.expect("the notice", s.answer(n, "check"), "Comment `lockstep plan -p net`, and read that plan. Then merge: the merge applies it.", "`lockstep plan -p net`")
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "**Not applied** `net`", "Nobody has confirmed the new plan")
	s.expect("the check", s.check("mine"), "action_required Merged, not applied")
}

// TestAskedForAfterCheck holds that a plan that somebody asks for is theirs.
func TestAskedForAfterCheck(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("bob", "mine", githubtest.Files{"net/mine.tf": resource("mine", "1")})
	other := s.pull("alice", "other", githubtest.Files{"net/other.tf": resource("other", "1")})
	s.repo.Merge("alice", other)
	s.settle()
	s.expect("the plan", s.say("bob", n, "lockstep plan"), "**Planned** `net`: 1 to add")
	s.expect("the check", s.check("mine"), "success Applies on merge – 1 to add")
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "**Applied** `net`: 1 added")
}

// TestNotChecked holds that a plan that cannot be made again stays, and says why.
func TestNotChecked(t *testing.T) {
	t.Parallel()
	s, n := planned(t)
	was := s.hash(n)
	breaks := s.pull("alice", "third", githubtest.Files{"third.tf": resource("third", "1") + "output \"x\" {\n  value = terraform_data.vpc.input == \"1\" ? 1 : tonumber(\"x\")\n}\n"})
	s.expect("the apply", s.say("alice", breaks, "lockstep apply"), "**Applied** `.`: 1 added")
	s.repo.Merge("alice", breaks)
	s.settle()
	s.expect("the status", s.status(n), "**Lockstep could not check this plan against the current state.** The apply plans again before it changes anything.", "Invalid function argument", "comment `lockstep plan -p .`", "ready to apply")
	if s.hash(n) != was {
		t.Error("the plan was replaced")
	}
	s.round(reconcile.Found{})
}

// between is an engine that does something after each check, before anybody knows its result.
type between struct {
	jobs.Engine
	do func()
}

func (b between) Check(ctx context.Context, j jobs.Job, plan []byte) (jobs.Checked, error) {
	got, err := b.Engine.Check(ctx, j, plan)
	b.do()
	return got, err
}

// TestPushWhileChecked holds that what people do takes precedence over a check.
func TestPushWhileChecked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(s *stage, n int)
		want runs.Phase
	}{
		"push": {func(s *stage, n int) {
			s.repo.Push("bob", "mine", "More", githubtest.Files{"more.tf": resource("more", "1")})
		}, runs.Planned},
		"close": {func(s *stage, n int) { s.repo.Close("bob", n) }, runs.Dropped},
		"apply": {func(s *stage, n int) { s.repo.Comment("bob", n, "lockstep apply") }, runs.ApplyQueued},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n, other := two(t)
			was := s.run(n)
			checks := 0
			s.pipeline.Engine = between{s.pipeline.Engine, func() {
				if checks++; checks > 1 {
					return
				}
				test.do(s, n)
				s.meanwhile()
			}}
			s.repo.Merge("alice", other)
			s.settleBut(pipeline.ToApply)
			now := s.run(n)
			if now.Phase != test.want || now.Plan.Checked != nil || checks != 1 {
				t.Errorf("%d checks, the run is %+v", checks, now)
			}
			if name != "push" && now.Plan.Hash != was.Plan.Hash {
				t.Error("the plan was replaced")
			}
			for _, key := range artifacts(t, s) {
				if name != "push" && strings.Contains(key, "@default/2/") {
					t.Errorf("the artifact %s of the new plan is left", key)
				}
			}
		})
	}
}

// TestCheckedByTheJanitor holds that neither the loss of a message nor that of the list of open plans
// keeps a plan from being checked.
func TestCheckedByTheJanitor(t *testing.T) {
	t.Parallel()
	s, n, other := two(t)
	now := s.hub.Now()
	s.round(reconcile.Found{})
	s.repo.Merge("alice", other)
	s.settleBut(pipeline.Settled)
	if r := s.run(n); r.Plan.Checked != nil {
		t.Fatalf("%+v", r)
	}
	if err := s.pipeline.Ledger().UnlistPlan(t.Context(), s.run(n)); err != nil {
		t.Fatal(err)
	}
	s.roundAt(now, reconcile.Found{States: 1})
	s.expect("the status", s.status(n), "has a new plan")
	s.roundAt(now.Add(2*time.Hour), reconcile.Found{})
}

// keeping is an engine that does something after each plan, before it is kept.
type keeping struct {
	jobs.Engine
	do func()
}

func (k keeping) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	got, err := k.Engine.Plan(ctx, j)
	k.do()
	return got, err
}

// TestPlannedBeforeTheMerge holds that a plan that was made after another pull request was applied, and before that one was
// merged, is checked once it is: its base branch lacked what was applied, so that it would take that back.
func TestPlannedBeforeTheMerge(t *testing.T) {
	t.Parallel()
	s, _, other := two(t)
	late := s.pull("bob", "late", githubtest.Files{"late.tf": resource("late", "1")})
	s.expect("the status before", s.status(late), "is not merged", "1 to add, 0 to change, 1 to destroy")
	s.repo.Merge("alice", other)
	s.settle()
	s.expect("the status then", s.status(late), "**has a new plan**, to confirm with `lockstep apply", "1 to add, 0 to change, 0 to destroy")
	if c := s.check("late"); strings.Contains(c, "failure") {
		t.Error(c)
	}
}

// TestAppliedWhilePlanned holds that a plan is checked which was not kept yet when the open ones were
// looked for.
func TestAppliedWhilePlanned(t *testing.T) {
	t.Parallel()
	s, _, other := two(t)
	s.repo.Merge("alice", other)
	s.settle()
	plans := 0
	s.pipeline.Engine = keeping{s.pipeline.Engine, func() {
		if plans++; plans > 1 {
			return
		}
		r := s.run(1)
		ld := s.pipeline.Ledger()
		if err := ld.Remember(t.Context(), r, runs.LastApply{Number: 1, By: "bob"}); err != nil {
			t.Error(err)
		}
		if _, err := ld.Settle(t.Context(), r, 1, runs.Merged); err != nil {
			t.Error(err)
		}
	}}
	late := s.pull("bob", "late", githubtest.Files{"late.tf": resource("late", "1")})
	if r := s.run(late); r.Plan.Checked == nil || r.Plan.Applies != 2 || plans != 1 {
		t.Errorf("%d plans, the run is %+v", plans, r)
	}
	s.expect("the status", s.status(late), "*Checked against the current state:")
}

// TestCheckTrustsNobody carries out an attack: whoever may write plans and records exchanges a plan
// before it is checked, to have it named by our check run.
func TestCheckTrustsNobody(t *testing.T) {
	t.Parallel()
	r, n := rob(t)
	r.exchange(r.own.SavedPlan(), r.run(n).SavedPlan())
	was := r.pages("b")
	ld := r.pipeline.Ledger()
	if err := ld.Remember(t.Context(), r.run(n), runs.LastApply{Number: n}); err != nil {
		t.Fatal(err)
	}
	if _, err := ld.Settle(t.Context(), r.run(n), n, runs.Merged); err != nil {
		t.Fatal(err)
	}
	r.roundAt(r.hub.Now(), reconcile.Found{States: 1})
	r.expect("the status", r.status(n), "**Lockstep could not check this plan against the current state.** The apply plans again before it changes anything.", "The saved plan was replaced")
	if hash := r.run(n).Plan.Hash; !strings.Contains(was, hash) || !strings.Contains(r.pages("b"), hash) {
		t.Errorf("the check named another plan")
	}
}

// checkStory is of a plan that becomes another one when a pull request is merged.
func checkStory(t *testing.T, f *faults) {
	s, n, other := two(t)
	was := s.hash(n)
	f.use(s)
	s.repo.Merge("alice", other)
	s.stubborn()
	// Not through the pipeline, whose next read may be the one that fails.
	rec, err := s.records.Get(t.Context(), s.ref(n).Runs()+"/%2E@default")
	if err != nil {
		t.Fatal(err)
	}
	r, err := ledger.DecodeRun(rec)
	if err != nil {
		t.Fatal(err)
	}
	if r.Phase != runs.Planned || r.Plan.Hash[:12] == was || r.Plan.Applies != 1 || r.Plan.Checked == nil || !r.Plan.Checked.Renewed {
		t.Errorf("%v: the run is %+v", f, r)
	}
	s.expect(f.String()+": the status", s.status(n), "has a new plan", "1 to add", "lockstep apply "+r.Plan.Hash[:12])
	s.expect(f.String()+": the check", s.pages("mine"), "action_required", r.Plan.Hash)
	s.expect(f.String()+": the notice", s.answer(n, "check"), "**New plan** for", r.Plan.Hash[:12])
	if got := len(s.repo.Comments(n)); got != 2 {
		t.Errorf("%v: %d comments", f, got)
	}
	s.tidy(f)
}

// TestReopenedAndMerged holds that plans which were made while an applied pull request was closed are made again once it is open
// again, and merged: they would take back its apply.
func TestReopenedAndMerged(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
	s.repo.Close("alice", n)
	s.settle()
	m := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
	s.expect("the plan in between", s.status(m), "1 to add, 0 to change, 1 to destroy")
	s.repo.Reopen("alice", n)
	s.settle()
	s.expect("its apply", s.say("bob", m, "lockstep apply"), "**Not applied** `.`")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the plan since", s.status(m), "1 to add, 0 to change, 0 to destroy")
}

// TestMergedMeanwhile holds that a plan which waits after the merge is checked, too, once the apply in its way is over: its status
// and its check said "wait for #1" for good.
func TestMergedMeanwhile(t *testing.T) {
	t.Parallel()
	s, n, other := two(t)
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the plan after the merge", s.say("bob", n, "lockstep plan"), "**Planned** `.`")
	s.expect("the status", s.status(n), "#2")
	s.expect("the check", s.check("mine"), "action_required")
	was := s.hash(n)
	s.repo.Merge("alice", other)
	s.settle()
	s.expect("the status", s.status(n), "**has a new plan**, to confirm with `lockstep apply "+s.hash(n)+"`")
	s.expect("the check", s.check("mine"), "action_required Has a new plan, to confirm with lockstep apply")
	if was == s.hash(n) {
		t.Error("the plan is the same")
	}
	s.expect("the apply", s.say("bob", n, "lockstep apply "+s.hash(n)), "**Applied** `.`: 1 added")
}

// TestRecheckedTogether holds that equal changes of several projects are shown once after another pull request is merged, too,
// with the reason for each.
func TestRecheckedTogether(t *testing.T) {
	t.Parallel()
	files, one, two := githubtest.Files{}, githubtest.Files{}, githubtest.Files{}
	for _, p := range []string{"a1", "a2", "a3"} {
		files[p+"/main.tf"] = resource("a", "1")
		one[p+"/one.tf"] = "output \"x\" {\n  value = \"1\"\n}\n"
		two[p+"/two.tf"] = resource("two", "1")
	}
	s := newStage(t, files)
	zero := s.pull("alice", "zero", githubtest.Files{"a1/zero.tf": resource("zero", "1"), "a2/zero.tf": resource("zero", "1"), "a3/zero.tf": resource("zero", "1")})
	s.say("alice", zero, "lockstep apply")
	s.repo.Merge("alice", zero)
	s.settle()
	n, m := s.pull("alice", "one", one), s.pull("bob", "two", two)
	shown := func() int { return strings.Count(s.status(m), "terraform_data.two will be created") }
	if n := shown(); n != 1 {
		t.Errorf("shown %d times:\n%s", n, s.status(m))
	}
	s.say("alice", n, "lockstep apply")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the status then", s.status(m), "#### `a1`, `a2`, `a3`", "`a1`: Planned again", "`a2`: Planned again", "`a3/one.tf`")
	if n := shown(); n != 1 {
		t.Errorf("shown %d times:\n%s", n, s.status(m))
	}
}
