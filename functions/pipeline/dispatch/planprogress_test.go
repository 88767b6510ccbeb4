package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// slowPlans is an engine whose plans take a time, and report their progress each 5 s, as an engine does. show is called after each report,
// when everything that came of it is handled.
type slowPlans struct {
	jobs.Engine
	lasts time.Duration
	show  func(j jobs.Job, after time.Duration)
}

func (e *slowPlans) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	began := time.Now()
	for after := time.Duration(0); after <= e.lasts; after += 5 * time.Second {
		o := comment.Ongoing{Planning: true, Progress: comment.Progress{Done: int(after / time.Second), Of: 400}}
		j.Progress(o.ListUnderWay([]comment.ChangeUnderWay{{Address: "aws_db_instance.main[\"<b>@all\"]", Action: comment.Reading, Since: began.Add(after)}}))
		if e.show != nil {
			e.show(j, after)
		}
		if after < e.lasts {
			time.Sleep(5 * time.Second)
		}
	}
	return e.Engine.Plan(ctx, j)
}

// planning opens a pull request, or lets anything else happen of which one plan comes, and has that made while other messages are handled.
func (s *stage) planning(what func()) {
	s.t.Helper()
	what()
	if err := s.pipeline.Handle(s.t.Context(), s.held(pipeline.ToPlan)); err != nil {
		s.t.Error(err)
	}
	s.settle()
}

// TestProgressOfPlans is the story of three plans: of a push, of a command, which know how long the first one took, and of one that ends so
// soon that nobody reads of its progress.
func TestProgressOfPlans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		wrote := s.writes()
		var told, when []string
		last, n, id := 0, 1, int64(0)
		e := &slowPlans{Engine: s.pipeline.Engine, lasts: 3 * time.Minute}
		e.show = func(_ jobs.Job, after time.Duration) {
			s.settle()
			if *wrote > last && after > 0 {
				when = append(when, fmt.Sprintf("%v: %d", after, *wrote-last))
			}
			last = *wrote
			switch {
			case after == 15*time.Second || after == 2*time.Minute+15*time.Second:
				told = append(told, s.status(n), s.check("b"), s.checkOf("b", "lockstep/.").Summary)
				if id != 0 {
					told = append(told, s.answerTo(n, id))
				}
			}
		}
		s.pipeline.Engine = e
		s.planning(func() {
			s.repo.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
			n = s.repo.OpenPull("alice", "Change", "b")
		})
		s.expect("the status", s.status(n), "| ready to apply")
		if got, want := strings.Join(when, ", "), "5s: 2, 15s: 3, 35s: 3, 1m15s: 3, 2m15s: 3"; got != want {
			t.Errorf("requests with changes of a push, by the time:\n%s, want\n%s", got, want)
		}
		when = nil
		s.planning(func() { id = s.repo.Comment("alice", n, "lockstep plan") })
		s.expect("the answer", s.answerTo(n, id), "**Planned** `.`")
		if got, want := strings.Join(when, ", "), "15s: 4, 1m15s: 4, 2m15s: 4"; /* the turn of the pull request after the first plan */ got != want {
			t.Errorf("requests with changes of a command, by the time:\n%s, want\n%s", got, want)
		}
		s.golden("progress-plans", told...)
		when, e.lasts = nil, 4*time.Second
		time.Sleep(time.Hour)
		s.planning(func() { s.repo.Comment("alice", n, "lockstep plan") })
		if len(when) > 0 {
			t.Errorf("requests with changes of a short plan: %s", when)
		}
		s.fault = nil
		s.lateUpdates(n, id)
	})
}

// TestProgressOfAReplacedPlan holds that the report of a plan that a newer push has replaced shows nothing.
func TestProgressOfAReplacedPlan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		e := &slowPlans{Engine: s.pipeline.Engine, lasts: 10 * time.Second}
		n := 0
		var first jobs.Job
		e.show = func(j jobs.Job, after time.Duration) {
			if s.settleKeeping(func(m pipeline.Message) bool { return m.Kind == pipeline.ToPlan }); after == 5*time.Second {
				if s.expect("the status", s.status(n), "planning (5 of about 400)"); first.Progress != nil {
					first.Progress(comment.Ongoing{Progress: comment.Progress{Done: 77, Of: 400}})
					s.settle()
					s.without("the status of the newer plan", s.status(n), "77 of")
				}
			}
			if after == 10*time.Second && first.Progress == nil {
				first = j
			}
		}
		s.pipeline.Engine = e
		s.planning(func() {
			s.repo.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
			n = s.repo.OpenPull("alice", "Change", "b")
		})
		s.planning(func() { s.repo.Push("alice", "b", "More", githubtest.Files{"c.tf": resource("c", "1")}) })
		s.expect("the status", s.status(n), "| ready to apply", "3 to add")
	})
}

// TestPlanWithoutItsProgress holds that a plan is made if nobody can record or read how far it is.
func TestPlanWithoutItsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		s.pipeline.Engine = &slowPlans{Engine: s.pipeline.Engine, lasts: time.Minute}
		failed := 0
		s.gate(memory.Deciding(func(x memory.Effect) (v memory.Verdict) {
			if strings.Contains(x.Call, " planning/") && strings.Contains(x.Call, "put") || strings.Contains(x.Call, " took/") || strings.Contains(x.Call, " pace/updates") {
				v.Undone = errDown
				failed++
			}
			return v
		}))
		n := 0
		s.planning(func() {
			s.repo.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
			n = s.repo.OpenPull("alice", "Change", "b")
		})
		s.expect("the status", s.status(n), "| ready to apply")
		if failed < 3 {
			t.Errorf("%d calls have failed", failed)
		}
	})
}

// TestProgressOfPlansOfMany has a push change 30 projects, of which 10 at a time are planned, for two minutes each: the writes about the progress
// stay within the budget, and each of them is about all of the projects.
func TestProgressOfPlansOfMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const many, atATime = 30, 10
		base, change := githubtest.Files{}, githubtest.Files{}
		for i := range many {
			base[fmt.Sprintf("p%02d/main.tf", i)] = resource("a", "1")
			change[fmt.Sprintf("p%02d/b.tf", i)] = resource("b", "1")
		}
		s := newStage(t, base)
		s.pipeline.Engine = &slowPlans{Engine: s.pipeline.Engine, lasts: 2 * time.Minute}
		s.repo.Push("alice", "b", "Change", change)
		n := s.repo.OpenPull("alice", "Change", "b")
		s.delivered()
		var plans []pipeline.Message
		handle := func(ctx context.Context, m pipeline.Message) error {
			if m.Kind == pipeline.ToPlan {
				plans = append(plans, m)
				return nil
			}
			return s.pipeline.Handle(ctx, m)
		}
		s.drain(t.Context(), handle)
		if len(plans) != many {
			t.Fatalf("%d plans", len(plans))
		}
		var all sync.WaitGroup
		for i := range atATime {
			all.Go(func() {
				for k := i; k < many; k += atATime {
					time.Sleep(time.Duration(i) * 170 * time.Millisecond)
					if err := s.pipeline.Handle(t.Context(), plans[k]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		start, text := time.Now(), ""
		wrote := s.writes()
		var when []string
		for time.Since(start) < 6*time.Minute+30*time.Second {
			was := *wrote
			s.drain(t.Context(), handle)
			if n := *wrote - was; n > 0 {
				when = append(when, fmt.Sprintf("%v: %d", time.Since(start), n))
			}
			if time.Since(start) == time.Minute {
				text = s.status(n)
			}
			time.Sleep(time.Second)
		}
		all.Wait()
		s.settle()
		s.fault = nil
		t.Logf("writes of comments and the head's check, by the time: %s", strings.Join(when, ", "))
		if len(when) > 25 {
			t.Errorf("%d updates", len(when))
		}
		s.expect("the status", text, "`p00`", "`p29`", "10 projects are being planned. The first plan began at", "of about 4000 objects are planned")
		s.expect("the status", s.status(n), "30 projects ready to apply")
	})
}
