package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// reports has the apply report progress each 5 s, as an engine does, until it was in progress for a time. show is called after each
// report, when everything that came of it is handled.
func (s *stage) reports(p *parts, ctx context.Context, lasts time.Duration, show func(after time.Duration)) {
	began := time.Now()
	for after := time.Duration(0); after <= lasts; after += 5 * time.Second {
		o := comment.Ongoing{Progress: comment.Progress{Done: min(int(after/time.Minute), p.of-1), Of: p.of}}
		p.jobs[len(p.jobs)-1].Progress(o.ListUnderWay([]comment.ChangeUnderWay{
			{Address: "aws_db_instance.main", Action: comment.Creating, Since: began}, {Address: "aws_s3_bucket.logs[\"<b>@all\"]", Action: comment.Destroying, Since: began.Add(after)},
		}))
		s.settle()
		if show != nil {
			show(after)
		}
		time.Sleep(5 * time.Second)
	}
}

// writes counts the requests with which the pipeline changes something on GitHub.
func (s *stage) writes() *int {
	n := 0
	s.fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "access_tokens") {
			n++
		}
		return false
	}
	return &n
}

// TestProgress is the story of an apply of 10 minutes: when what is written about it, in how many requests, and that its result ends it.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p, n := inParts(t, 20, 20)
		m, id := s.toApply("alice", n)
		s.settle()
		wrote := s.writes()
		var told, when []string
		last := 0
		p.during = func(ctx context.Context, _ int) error {
			*wrote, last = 0, 0
			s.reports(p, ctx, 10*time.Minute, func(after time.Duration) {
				if *wrote > last {
					when = append(when, fmt.Sprintf("%v: %d", after, *wrote-last))
				}
				if after == 5*time.Second {
					s.expect("the answer", s.answerTo(n, id), "`.` is being applied. The apply began at", ", 0 of 20 changes are done. Under way: `aws_db_instance.main` (creating for 5 s), `aws_s3_bucket.logs[\"<b>@all\"]` (destroying for 0 s).")
				}
				if after == 15*time.Second || after == 3*time.Minute+15*time.Second {
					told = append(told, s.answerTo(n, id), s.status(n), s.check("b"), s.checkOf("b", "lockstep/.").Summary)
				}
				last = *wrote
			})
			return nil
		}
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		s.settle()
		s.fault = nil
		want := "5s: 1, 15s: 4, 35s: 2, 1m15s: 3, 2m15s: 3, 3m15s: 3, 4m15s: 3, 5m15s: 3, 6m15s: 3, 7m15s: 3, 8m15s: 3, 9m15s: 3"
		if got := strings.Join(when, ", "); got != want {
			t.Errorf("requests with changes, by the time:\n%s, want\n%s", got, want)
		}
		s.golden("progress", told...)
		s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 20 added")
		s.expect("the status", s.status(n), "applied by `alice` |")
		s.expect("the check", s.check("b"), "success Applied – 20 added")
		s.lateUpdates(n, id)
	})
}

// lateUpdates has updates about the progress come after the result, and holds that they change nothing.
func (s *stage) lateUpdates(n int, id int64) {
	s.t.Helper()
	was := s.answerTo(n, id) + s.status(n) + s.check("b") + s.checkOf("b", "lockstep/.").Summary
	for i, extent := range []string{"answer", "comments", "checks"} {
		err := pipeline.Send(s.t.Context(), s.pipeline.Queue, s.ref(n), pipeline.Message{Kind: pipeline.SyncComments, Progress: extent, Target: s.runOf(n).Target()}, "late", i)
		if err != nil {
			s.t.Fatal(err)
		}
		s.settle()
		if now := s.answerTo(n, id) + s.status(n) + s.check("b") + s.checkOf("b", "lockstep/.").Summary; now != was {
			s.t.Errorf("after a late update of %s:\n%s\nbefore it:\n%s", extent, now, was)
		}
	}
}

// TestProgressOfAShortApply holds that an apply of less than 5 s writes nothing but its result.
func TestProgressOfAShortApply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p, n := inParts(t, 2, 2)
		m, _ := s.toApply("alice", n)
		s.settle()
		wrote := s.writes()
		p.during = func(ctx context.Context, _ int) error {
			was := *wrote
			p.jobs[0].Progress(comment.Ongoing{Progress: comment.Progress{Done: 0, Of: 2}})
			time.Sleep(4 * time.Second)
			p.jobs[0].Progress(comment.Ongoing{Progress: comment.Progress{Done: 1, Of: 2}})
			s.settle()
			if *wrote != was {
				t.Errorf("%d requests", *wrote-was)
			}
			return nil
		}
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		s.settle()
		s.fault = nil
		s.expect("the status", s.status(n), "applied by")
	})
}

// TestProgressWithoutGitHub holds that an apply goes on, and its result is written, if GitHub refuses what is written of its progress: by an
// outage, or by a limit, which stops further updates for its time.
func TestProgressWithoutGitHub(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault githubtest.Failure
		tries int // at most
	}{
		"outage": {githubtest.Outage, 60},
		"limit":  {githubtest.SecondaryLimit(600), 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, p, n := inParts(t, 20, 20)
				m, id := s.toApply("alice", n)
				s.settle()
				tries := 0
				p.during = func(ctx context.Context, _ int) error {
					s.strict = true
					s.fault = func(w http.ResponseWriter, r *http.Request) bool {
						if r.Method == http.MethodGet {
							return false
						}
						tries++
						test.fault(w)
						return true
					}
					s.reports(p, ctx, 9*time.Minute, nil)
					s.fault, s.strict = nil, false
					return nil
				}
				if err := s.pipeline.Handle(t.Context(), m); err != nil {
					t.Fatal(err)
				}
				s.settle()
				if tries == 0 || tries > test.tries {
					t.Errorf("%d requests were refused", tries)
				}
				s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 20 added")
				s.expect("the status", s.status(n), "applied by `alice` |")
				s.expect("the check", s.check("b"), "success Applied – 20 added")
			})
		})
	}
}

// TestProgressOfADeposedProcess holds that a process whose apply another one has taken over writes no progress: not into records, and so
// not for people.
func TestProgressOfADeposedProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p, n := inParts(t, 3, 1)
		m, id := s.toApply("alice", n)
		var over pipeline.Version
		p.during = func(ctx context.Context, part int) error {
			if part > 1 {
				return nil
			}
			own := p.jobs[0]
			if turns, err := s.handleUntil(ctx, m, 9); turns != 2 || err != nil {
				t.Errorf("the second process: %d turns, %v", turns, err)
			}
			s.settle()
			over = s.begun(s.runOf(n)).Version
			time.Sleep(time.Minute)
			own.Progress(comment.Ongoing{Progress: comment.Progress{Done: 2, Of: 3}})
			s.settle()
			if context.Cause(ctx) == nil || !errors.Is(context.Cause(ctx), pipeline.ErrConflict) {
				t.Errorf("the apply goes on: %v", context.Cause(ctx))
			}
			if s.begun(s.runOf(n)).Version != over {
				t.Error("the process has written its progress")
			}
			s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 3 added")
			s.expect("the check", s.check("b"), "success Applied – 3 added")
			return nil
		}
		if err := s.pipeline.Handle(t.Context(), m); !errors.Is(err, pipeline.ErrConflict) {
			t.Errorf("the first process: %v", err)
		}
		s.settle()
		s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 3 added")
	})
}

// TestEstimateFromFormerApplies holds that an apply knows how long the changes of former applies of its state took, also those of processes
// that handed it over, and that it is made all the same if nobody can read or write that.
func TestEstimateFromFormerApplies(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]bool{"known": false, "down": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p, n := inParts(t, 2, 1)
			p.took = estimates.Durations{"x create": {1000, 3000}, "y update": {60_000}}
			var failed atomic.Int64
			if down {
				s.gate(memory.Deciding(func(x memory.Effect) (v memory.Verdict) {
					if strings.Contains(x.Call, " took/") {
						v.Undone = errDown
						failed.Add(1)
					}
					return v
				}))
			}
			m, id := s.toApply("alice", n)
			if turns, err := s.handleUntil(t.Context(), m, 9); turns != 2 || err != nil {
				t.Errorf("%d turns, %v", turns, err)
			}
			s.settle()
			s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 2 added")
			first, second := p.jobs[0].Typical, p.jobs[1].Typical
			if len(first) != 0 || !down && (second["x create"] != 3*time.Second || second["y update"] != time.Minute) || down && len(second) != 0 {
				t.Errorf("the first process knows of %v, and the second of %v", first, second)
			}
			if n := failed.Load(); down && n < 4 { // a read and a write of each process
				t.Errorf("%d calls have failed", n)
			}
			if e := s.begun(s.runOf(n)); e.Outcome == nil || e.Outcome.Took != nil {
				t.Errorf("the record of the apply has the durations, too: %+v", e.Outcome)
			}
		})
	}
}

// TestProgressWrittenAfterTheResult has GitHub get the progress of a check run, or of a comment, just after the apply has ended in another
// process and written its result: in the end, people see the result.
func TestProgressWrittenAfterTheResult(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]func(*stage) string{
		"check":  func(s *stage) string { return fmt.Sprintf("/check-runs/%d", s.checkOf("b", "lockstep/.").ID) },
		"answer": func(*stage) string { return "/issues/comments/" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, p, n := inParts(t, 2, 2)
				m, id := s.toApply("alice", n)
				s.settle()
				progressed, finish, ended := make(chan bool), make(chan bool), make(chan error)
				p.during = func(context.Context, int) error {
					time.Sleep(6 * time.Second)
					p.jobs[0].Progress(comment.Ongoing{Progress: comment.Progress{Done: 1, Of: 2}})
					close(progressed)
					<-finish
					return nil
				}
				go func() { ended <- s.pipeline.Handle(t.Context(), m) }()
				<-progressed
				err := pipeline.Send(t.Context(), s.pipeline.Queue, s.ref(n), pipeline.Message{Kind: pipeline.SyncComments, Progress: "checks", Target: s.runOf(n).Target()}, "late")
				if err != nil {
					t.Fatal(err)
				}
				var once atomic.Bool
				path := late(s)
				s.fault = func(_ http.ResponseWriter, r *http.Request) bool {
					if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, path) && once.CompareAndSwap(false, true) {
						close(finish)
						if err := <-ended; err != nil {
							t.Error(err)
						}
						s.expect("the check meanwhile", s.check("b"), "success Applied – 2 added")
					}
					return false
				}
				s.settle()
				s.fault = nil
				if !once.Load() {
					t.Fatal("no progress was written")
				}
				s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 2 added")
				s.expect("the status", s.status(n), "applied by `alice` |")
				s.expect("the check", s.check("b"), "lockstep/.: success Applied – 2 added")
			})
		})
	}
}

// TestProgressAfterADeath holds that a check run shows the result, if the process that has written the progress to it died before it found
// that the apply had ended: the message of that process comes again.
func TestProgressAfterADeath(t *testing.T) {
	t.Parallel()
	s, _, n := inParts(t, 2, 2)
	m, _ := s.toApply("alice", n)
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	hub, err := s.pipeline.Connect(s.ref(n))
	if err != nil {
		t.Fatal(err)
	}
	own := s.checkOf("b", "lockstep/.")
	like := github.Check{Name: own.Name, ExternalID: own.ExternalID, SHA: s.repo.Head("b"), Status: github.CheckInProgress, Title: "Applying (1 of 2)", Summary: "It is applied."}
	if _, err := hub.PutCheck(t.Context(), own.ID, like); err != nil {
		t.Fatal(err)
	}
	s.expect("the check meanwhile", s.check("b"), "lockstep/.: in_progress Applying (1 of 2)")
	err = pipeline.Send(t.Context(), s.pipeline.Queue, s.ref(n), pipeline.Message{Kind: pipeline.SyncComments, Progress: "checks", Target: s.runOf(n).Target()}, "again")
	if err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("the check", s.check("b"), "lockstep/.: success Applied – 2 added")
}
