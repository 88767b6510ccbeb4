package dispatch_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// stateAt is a backend block.
func stateAt(key string) string {
	return fmt.Sprintf("terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key    = %q\n    region = \"eu-west-1\"\n  }\n}\n", key)
}

// copied copies a state, as a person does who moves it.
func (b buckets) copied(t *testing.T, from, to string) {
	t.Helper()
	source, _ := b[from].Open(statebackend.DefaultWorkspace)
	state, err := source.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b[to] == nil {
		b[to] = &statebackendtest.Fake{}
	}
	target, _ := b[to].Open(statebackend.DefaultWorkspace)
	was, err := target.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := target.Put(t.Context(), state.Bytes, was.Version); err != nil {
		t.Fatal(err)
	}
}

// moving is a stage with an applied state, a pull request that adds q to it, and one that moves it and adds m, with a copy of it.
func moving(t *testing.T) (s *stage, b buckets, q, mover int) {
	t.Helper()
	s, b = newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": named("net", "") + anyState})
	z := s.pull("alice", "z", githubtest.Files{"net/z.tf": resource("z", "1")})
	s.say("alice", z, "lockstep apply")
	s.merge("alice", z)
	q = s.pull("bob", "q", githubtest.Files{"net/q.tf": resource("q", "1")})
	mover = s.pull("alice", "mover", githubtest.Files{"net/backend.tf": stateAt("net2"), "net/m.tf": resource("m", "1")})
	return s, b, q, mover
}

const here, there = "s3://states/net", "s3://states/net2"

// TestMovedState holds that a pull request which moves a state, and others of the same state, keep each other from applies as if it
// stayed where it is: the objects are the same.
func TestMovedState(t *testing.T) {
	t.Parallel()
	t.Run("another one is applied", func(t *testing.T) {
		t.Parallel()
		s, b, q, mover := moving(t)
		s.expect("the apply of q", s.say("bob", q, "lockstep apply"), "**Applied** `net`")
		b.copied(t, here, there)
		s.say("alice", mover, "lockstep plan")
		s.expect("the plan of the move", s.status(mover), "**This pull request moves the state**", "**blocked**", "#2 was applied to `net`")
		s.expect("its apply", s.say("alice", mover, "lockstep apply"), "**Not applied** `net`", "#2 was applied to the same state")
		if got := b.objects(t, there); got != "a q z" {
			t.Errorf("the state has %s", got)
		}
		s.merge("bob", q)
		s.expect("the plan of the move, made again", s.status(mover), "**has a new plan**", "1 to add, 0 to change, 0 to destroy")
	})
	t.Run("it is applied first", func(t *testing.T) {
		t.Parallel()
		s, b, q, mover := moving(t)
		b.copied(t, here, there)
		s.say("alice", mover, "lockstep plan")
		s.expect("the move", s.say("alice", mover, "lockstep apply"), "**Applied** `net`: 1 added")
		s.expect("the apply of q", s.say("bob", q, "lockstep apply"), "**Not applied** `net`", "#3 was applied to the same state")
		if got := b.objects(t, here); got != "a z" {
			t.Errorf("the state that was left has %s", got)
		}
		s.merge("alice", mover)
		s.expect("the plan of q", s.status(q), "**has a new plan**", "the state has moved to `"+there+"`", "1 to add, 0 to change, 0 to destroy")
		s.expect("its apply", s.say("bob", q, "lockstep apply "+s.hash(q)), "**Applied** `net`: 1 added")
		if got := b.objects(t, there); got != "a m q z" {
			t.Errorf("the state has %s", got)
		}
	})
	t.Run("it is closed", func(t *testing.T) {
		t.Parallel()
		s, b, q, mover := moving(t)
		b.copied(t, here, there)
		s.say("alice", mover, "lockstep plan")
		s.say("alice", mover, "lockstep apply")
		s.expect("q", s.status(q), "**blocked**")
		s.repo.Close("alice", mover)
		s.settle()
		s.without("q, once the move is given up", s.status(q), "**blocked**")
		s.expect("its apply", s.say("bob", q, "lockstep apply"), "**Applied** `net`: 1 added")
	})
	t.Run("another one has the lock", func(t *testing.T) {
		t.Parallel()
		s, b, q, mover := moving(t)
		s.expect("the lock", s.say("bob", q, `lockstep lock --reason "mine"`), "**Locked** `net`")
		b.copied(t, here, there)
		s.say("alice", mover, "lockstep plan")
		s.expect("the move", s.status(mover), "**locked by #2**", "Locked by #2: `bob` has locked the state")
		s.expect("its apply", s.say("alice", mover, "lockstep apply"), "**Not applied** `net`", "Locked by #2: `bob` has locked the state")
		s.expect("another lock", s.say("alice", mover, `lockstep lock --reason "ours"`), "**Not locked** `net`")
		s.merge("alice", mover)
		for _, name := range []string{"p", "r"} { // the first plan at the new address, and the second
			p := s.pull("alice", name, githubtest.Files{"net/" + name + ".tf": resource(name, "1")})
			s.expect("a plan at the new address", s.status(p), "**locked by #2**", "Locked by #2: `bob` has locked the state")
		}
		s.expect("the unlock", s.say("bob", q, "lockstep unlock"), "**Unlocked** `net`")
		for p := 4; p <= 5; p++ {
			s.without("a plan at the new address, without the lock", s.status(p), "**blocked**")
		}
	})
	t.Run("it has the lock", func(t *testing.T) {
		t.Parallel()
		s, _, q, mover := moving(t)
		s.expect("the lock", s.say("alice", mover, `lockstep lock --reason "moving"`), "**Locked** `net`")
		s.expect("the apply of q", s.say("bob", q, "lockstep apply"), "**Not applied** `net`", "Locked by #3: `alice` has locked the state")
		s.expect("the unlock", s.say("alice", mover, "lockstep unlock"), "**Unlocked** `net`")
		s.without("q", s.status(q), "**blocked**")
		s.expect("the apply of q, without the lock", s.say("bob", q, "lockstep apply"), "**Applied** `net`: 1 added")
	})
	t.Run("it is merged while another one is applied", func(t *testing.T) {
		t.Parallel()
		s, b, q, mover := moving(t)
		s.say("bob", q, "lockstep apply")
		b.copied(t, here, there)
		s.merge("alice", mover)
		p := s.pull("alice", "p", githubtest.Files{"net/p.tf": resource("p", "1")})
		s.expect("a plan at the new address", s.status(p), "**blocked**", "#2 was applied to `net`", "1 to destroy")
		s.merge("bob", q)
		s.expect("the plan, made again", s.status(p), "**has a new plan**", "2 to add, 0 to change, 0 to destroy")
	})
}

// TestMovedTwice holds that a pull request which moves a state again, or moves it while the base branch does, is kept from its apply by
// applies and locks at the address before, as if it stayed there.
func TestMovedTwice(t *testing.T) {
	t.Parallel()
	const third = "s3://states/net3"
	again := func(s *stage, b buckets) int {
		b.copied(t, there, third)
		return s.pull("alice", "again", githubtest.Files{"net/backend.tf": stateAt("net3"), "net/n.tf": resource("n", "1")})
	}
	t.Run("another one is applied", func(t *testing.T) {
		t.Parallel()
		s, b, q, mover := moving(t)
		s.expect("the apply of q", s.say("bob", q, "lockstep apply"), "**Applied** `net`")
		b.copied(t, here, there)
		s.merge("alice", mover)
		p := again(s, b)
		s.expect("the second move", s.status(p), "**blocked**", "#2 was applied to `net`")
		s.expect("its apply", s.say("alice", p, "lockstep apply"), "**Not applied** `net`", "#2 was applied to the same state")
		s.merge("bob", q)
		s.without("the second move, once q is merged", s.status(p), "**blocked**")
	})
	t.Run("another one has the lock", func(t *testing.T) {
		t.Parallel()
		s, b, q, mover := moving(t)
		s.expect("the lock", s.say("bob", q, `lockstep lock --reason "mine"`), "**Locked** `net`")
		b.copied(t, here, there)
		s.merge("alice", mover)
		s.pull("alice", "between", githubtest.Files{"net/between.tf": resource("x", "1")})
		p := again(s, b)
		s.expect("the second move", s.status(p), "**locked by #2**", "Locked by #2: `bob` has locked the state")
		s.expect("its apply", s.say("alice", p, "lockstep apply"), "**Not applied** `net`", "Locked by #2: `bob` has locked the state")
		s.merge("alice", p)
		r := s.pull("alice", "r", githubtest.Files{"net/r.tf": resource("r", "1")})
		s.expect("a plan after two moves", s.status(r), "**locked by #2**", "Locked by #2: `bob` has locked the state")
		s.expect("the unlock", s.say("bob", q, "lockstep unlock"), "**Unlocked** `net`")
		s.without("a plan after two moves, without the lock", s.status(r), "**blocked**")
	})
	t.Run("the base branch moves it, too", func(t *testing.T) {
		t.Parallel()
		s, b, _, mover := moving(t)
		p := s.pull("alice", "again", githubtest.Files{"net/other_override.tf": stateAt("net3"), "net/n.tf": resource("n", "1")})
		s.expect("the move", s.status(p), "from `"+here+"` to `"+third+"`")
		b.copied(t, here, there)
		s.merge("alice", mover)
		r := s.pull("bob", "r", githubtest.Files{"net/r.tf": resource("r", "1")})
		s.expect("the apply of r", s.say("bob", r, "lockstep apply"), "**Applied** `net`")
		b.copied(t, there, third)
		s.say("alice", p, "lockstep plan")
		s.expect("the move, planned again", s.status(p), "**blocked**", "#5 was applied to `net`")
		s.expect("its apply", s.say("alice", p, "lockstep apply"), "**Not applied** `net`", "#5 was applied to the same state")
	})
	t.Run("the base branch moves it, too, and it is not planned again", func(t *testing.T) {
		t.Parallel()
		s, b, _, _ := moving(t)
		b.copied(t, here, third)
		p := s.pull("alice", "again", githubtest.Files{"net/other_override.tf": stateAt("net3"), "net/n.tf": resource("n", "1")})
		s.expect("the move", s.status(p), "from `"+here+"` to `"+third+"`")
		b.copied(t, here, there)
		s.repo.Push("bob", "main", "Move", githubtest.Files{"net/backend.tf": stateAt("net2")})
		s.settle()
		r := s.pull("bob", "r", githubtest.Files{"net/r.tf": resource("r", "1")})
		s.expect("the apply of r", s.say("bob", r, "lockstep apply"), "**Applied** `net`")
		s.expect("the apply of the move", s.say("alice", p, "lockstep apply"), "**Not applied** `net`", "#5 was applied to the same state")
	})
	t.Run("the base branch moves it, too, during the apply", func(t *testing.T) {
		t.Parallel()
		s, b, _, _ := moving(t)
		b.copied(t, here, third)
		p := s.pull("alice", "again", githubtest.Files{"net/backend.tf": stateAt("net3"), "net/n.tf": resource("n", "1")})
		s.pipeline.Engine = &executor.Engine{Version: "test", Backend: func(ctx context.Context, j jobs.Job, w *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
			s.repo.Push("bob", "main", "Move", githubtest.Files{"net/backend.tf": stateAt("net2")})
			return b.open(ctx, j, w)
		}}
		s.expect("the apply of the move", s.say("alice", p, "lockstep apply"), "**Not applied** `net`", "The base branch has just changed")
	})
}

// TestAnotherAtTheFormerAddress holds that a project which comes to the address that another one has left is not in the way of that.
func TestAnotherAtTheFormerAddress(t *testing.T) {
	t.Parallel()
	s, b, q, mover := moving(t)
	s.say("bob", q, `lockstep lock --reason "mine"`)
	b.copied(t, here, there)
	s.merge("alice", mover)
	p := s.pull("bob", "p", githubtest.Files{"net/p.tf": resource("p", "1")})
	s.expect("a plan at the new address", s.status(p), "**locked by #2**")
	s.say("bob", q, "lockstep unlock")
	s.repo.Close("bob", q)
	s.settle()
	delete(b, here)
	other := s.pull("alice", "other", githubtest.Files{
		"web/main.tf": resource("w", "1"), "web/backend.tf": stateAt("net"), "lockstep.hcl": named("net", "") + "project \"web\" {\n  dir = \"web\"\n}\n" + anyState,
	})
	s.expect("its apply", s.say("alice", other, "lockstep apply -p web"), "**Applied** `web`")
	s.expect("its lock", s.say("alice", other, `lockstep lock -p web --reason "ours"`), "**Locked** `web`")
	s.say("bob", p, "lockstep plan")
	s.without("a plan at the new address", s.status(p), "**blocked**")
	s.expect("its apply", s.say("bob", p, "lockstep apply"), "**Applied** `net`")
}

// TestMovedBeforeTheMerge holds that the merge of a pull request which was applied to a state tells that the base branch has moved the
// state since: a copy that is older lacks what was applied.
func TestMovedBeforeTheMerge(t *testing.T) {
	t.Parallel()
	s, b, q, mover := moving(t)
	b.copied(t, here, there)
	s.expect("the apply", s.say("bob", q, "lockstep apply"), "**Applied** `net`")
	s.merge("alice", mover)
	s.merge("bob", q)
	s.expect("the merge", s.answer(q, "merge"), "**Applied, state moved**: `net`", "The base branch now has the state at `"+there+"`", "To see what the next apply does, comment `lockstep plan -p net`")
	s.expect("the plan", s.say("bob", q, "lockstep plan -p net"), "**Planned** `net`: 2 to add")
	s.expect("its apply", s.say("bob", q, "lockstep apply"), "**Applied** `net`: 2 added")
	r := s.pull("bob", "r", githubtest.Files{"net/r.tf": resource("r", "1")})
	s.say("bob", r, "lockstep apply")
	s.merge("bob", r)
	s.lacks("the merge of another one", s.said(r), "has moved")
}

// TestMovedWithoutACopy holds that plans at the new address of a state tell that there is none, and where it was.
func TestMovedWithoutACopy(t *testing.T) {
	t.Parallel()
	s, b, q, mover := moving(t)
	s.merge("alice", mover)
	none := "**There is no state** of `net` at `" + there + "`. It was at `" + here + "` before."
	s.expect("a plan", s.say("bob", q, "lockstep plan"), "**Planned** `net`: 4 to add")
	s.expect("the plan", s.status(q), none)
	for _, name := range []string{"p", "r"} {
		s.expect("the plan of "+name, s.status(s.pull("alice", name, githubtest.Files{"net/" + name + ".tf": resource(name, "1")})), none)
	}
	b.copied(t, here, there)
	s.say("bob", q, "lockstep plan")
	s.lacks("the plan, once it is copied", s.status(q), "There is no state")
}

// retargeted is a stage with two base branches, whose states of net are not the same, and an open pull request into main.
func retargeted(t *testing.T) (s *stage, b buckets, n int) {
	t.Helper()
	const settings = "allow {\n  branches = [\"release\"]\n  states = [\"s3://states/**\"]\n}\n"
	s, b = newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": named("net", "") + settings})
	s.repo.Push("alice", "release", "Cut", githubtest.Files{"net/backend.tf": stateAt("release")})
	s.settle()
	return s, b, s.pull("alice", "n", githubtest.Files{"net/n.tf": resource("n", "1")})
}

// TestRetargetedState holds that an apply to the state of one base branch, and a lock of it, end with the pull request, though that goes
// into another branch by then, which has the project's state elsewhere.
func TestRetargetedState(t *testing.T) {
	t.Parallel()
	retarget := func(s *stage, n int) {
		s.repo.Retarget("alice", n, "release")
		s.settle()
	}
	t.Run("unlock", func(t *testing.T) {
		t.Parallel()
		s, _, n := retargeted(t)
		s.say("alice", n, `lockstep lock --reason "mine"`)
		o := s.pull("bob", "o", githubtest.Files{"net/o.tf": resource("o", "1")})
		retarget(s, n)
		s.expect("the other one", s.say("bob", o, "lockstep apply"), "**Not applied** `net`", "To release the lock, comment `lockstep unlock` on #1, or merge or close that pull request.")
		s.expect("the unlock", s.say("alice", n, "lockstep unlock"), "**Unlocked** `net`")
		s.without("the other one, without the lock", s.status(o), "**blocked**")
	})
	for end, do := range map[string]func(s *stage, n int){
		"close": func(s *stage, n int) { s.repo.Close("alice", n); s.settle() },
		"merge": func(s *stage, n int) { s.merge("alice", n) },
		"apply, and merge": func(s *stage, n int) {
			s.expect("the apply into release", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
			s.merge("alice", n)
		},
	} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			s, b, n := retargeted(t)
			s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
			o := s.pull("bob", "o", githubtest.Files{"net/o.tf": resource("o", "1")})
			retarget(s, n)
			s.expect("the other one", s.say("bob", o, "lockstep apply"), "**Not applied** `net`", "#1 was applied to the same state")
			do(s, n)
			if end == "close" {
				s.expect("the end", s.answer(n, "close"), "**Applied, not merged**")
			} else {
				s.expect("the end", s.answer(n, "merge"), "**Applied, merged elsewhere**", ". The branch `main` lacks the changes, so the next apply of this project would undo them. To keep them, merge them into `main`, too.")
			}
			s.without("the other one", s.status(o), "**blocked**")
			if got := b.objects(t, here); got != "a n" {
				t.Errorf("the state has %s", got)
			}
		})
	}
}

// TestStatesOfTwoBases holds that an apply to the state of one base branch, or a lock of it, is in nobody's way who goes into another
// branch that has the state elsewhere.
func TestStatesOfTwoBases(t *testing.T) {
	t.Parallel()
	for command, state := range map[string]string{"lockstep apply": "**blocked** by #1", `lockstep lock --reason "mine"`: "**locked by #1**"} {
		s, _, n := retargeted(t)
		s.say("alice", n, command)
		for _, branch := range []string{"first", "second"} {
			s.repo.Push("bob", branch, "R", githubtest.Files{"net/r.tf": resource("r", "1")})
			r := s.repo.OpenPull("bob", "R", branch)
			s.repo.Retarget("bob", r, "release")
			s.settle()
			s.say("bob", r, "lockstep plan")
			s.without("a plan into release after "+command, s.status(r), "**blocked**", "**locked by")
		}
		m := s.pull("bob", "m", githubtest.Files{"net/m.tf": resource("m", "1")})
		s.expect("a plan into main after "+command, s.status(m), state)
	}
}

// TestRetargetedDuringAnApply holds that a pull request which goes into another base branch while its apply is queued, or under way, is
// planned for that branch once the apply is at its end.
func TestRetargetedDuringAnApply(t *testing.T) {
	t.Parallel()
	t.Run("queued", func(t *testing.T) {
		t.Parallel()
		s, b, n := retargeted(t)
		m, id := s.toApply("alice", n)
		s.repo.Retarget("alice", n, "release")
		s.settle()
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		s.settle()
		s.expect("the apply", s.answerTo(n, id), "**Not applied** `net`")
		s.expect("the plan", s.status(n), "ready to apply")
		s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
		if got := b.objects(t, here) + "; " + b.objects(t, "s3://states/release"); got != "; a n" {
			t.Errorf("the states have %s", got)
		}
	})
	t.Run("under way", func(t *testing.T) {
		t.Parallel()
		s, b, n := retargeted(t)
		engine := s.pipeline.Engine
		s.pipeline.Engine = during{engine, func(jobs.BeforeApply) {
			s.pipeline.Engine = engine
			s.repo.Retarget("alice", n, "release")
		}}
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "pplied** `net`")
		s.expect("the plan", s.status(n), "ready to apply")
		if got := b.objects(t, here); got != "a n" {
			t.Errorf("the state has %s", got)
		}
	})
}
