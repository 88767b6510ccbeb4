package ledger_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// TestUpdatesOfManyProcesses has 20 processes apply 200 changes each, for 30 minutes, one in each of 20 pull requests of one installation, with
// 5 more in one of them. They share a record, and report every 5 s at moments of their own. Within any minute and any hour, GitHub gets no
// more writes than its limits leave to them; and no pull request goes without.
func TestUpdatesOfManyProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ld := ledger.Ledger{Records: new(memory.Store)}
		start := time.Now()
		var mu sync.Mutex
		var writes []time.Time
		updates := map[int]int{}
		var longest time.Duration // that a reader did not know of
		var all sync.WaitGroup
		for i := range 25 {
			number := min(i+1, 20)
			p := pipeline.Pull{Installation: 7, Repo: github.Repo{ID: int64(number % 3), Owner: "acme", Name: "infra"}, Number: number}
			all.Go(func() {
				time.Sleep(time.Duration(i) * 173 * time.Millisecond)
				began, due := time.Now(), time.Time{}
				last := began
				for range 30 * 60 / 5 {
					time.Sleep(5 * time.Second)
					if time.Now().Before(due) {
						continue
					}
					extent, next, err := ld.AskUpdate(context.Background(), p, ratelimits.Work{Began: began}, time.Now())
					if err != nil {
						t.Error(err)
						return
					}
					said, _, err := ld.NextUpdate(context.Background(), p)
					if err != nil || !said.Equal(next) {
						t.Errorf("the next update of %d is at %s, want %s, %v", number, said, next, err)
					}
					if extent != "" {
						mu.Lock()
						for range map[ratelimits.Extent]int{ratelimits.AnswerOnly: 1, ratelimits.AndComments: 3, ratelimits.AndChecks: 4}[extent] {
							writes = append(writes, time.Now())
						}
						updates[number]++
						if number < 20 {
							longest = max(longest, time.Since(last)-max(due.Sub(last), 0))
						}
						mu.Unlock()
						last = time.Now()
					}
					due = next
				}
			})
		}
		all.Wait()
		most := func(within time.Duration) (n int) {
			for i, x := range writes {
				j, _ := slices.BinarySearchFunc(writes, x.Add(within), time.Time.Compare)
				n = max(n, j-i)
			}
			return n
		}
		fewest := 1000
		for number := range 20 {
			fewest = min(fewest, updates[number+1])
		}
		text := fmt.Sprintf("%d writes in a minute and %d in an hour at most, %d updates of a pull request at least, a reader waits up to %v without knowing; it took %v", most(time.Minute), most(time.Hour), fewest, longest, time.Since(start))
		t.Log(text)
		if most(time.Minute) > 60 || most(time.Hour) > 400 || fewest < 5 || longest > 60*time.Second {
			t.Error(text)
		}
	})
}

// TestPauseUpdates holds that no update is made of any pull request of the installation, not of a new one either, before GitHub accepts one again.
func TestPauseUpdates(t *testing.T) {
	t.Parallel()
	ld := ledger.Ledger{Records: new(memory.Store)}
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	one, two, other := pipeline.Pull{Installation: 7, Number: 1}, pipeline.Pull{Installation: 7, Number: 2}, pipeline.Pull{Installation: 8, Number: 1}
	ask := func(p pipeline.Pull, after time.Duration) (ratelimits.Extent, time.Duration) {
		t.Helper()
		extent, next, err := ld.AskUpdate(t.Context(), p, ratelimits.Work{Began: now}, now.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return extent, next.Sub(now)
	}
	ask(one, 0)
	if err := ld.PauseUpdates(t.Context(), one, now.Add(5*time.Minute)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []pipeline.Pull{one, two} {
		if extent, next := ask(p, time.Minute); extent != "" || next < 5*time.Minute {
			t.Errorf("#%d: %q, then after %v", p.Number, extent, next)
		}
		if extent, _ := ask(p, 6*time.Minute); extent == "" && p == one {
			t.Errorf("#%d gets none after the pause", p.Number)
		}
	}
	if extent, _ := ask(other, time.Minute); extent == "" {
		t.Error("another installation waits, too")
	}
}

// TestOngoing is the progress of an apply as its records tell it: not before 5 s, not of another phase, and with what is under way only as long as
// a process may be working on it.
func TestOngoing(t *testing.T) {
	t.Parallel()
	ld := ledger.Ledger{Records: new(memory.Store)}
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 4}, Number: 7}, Project: "net", Workspace: "default"}, Phase: runs.Applying, Asked: runs.Asked{Try: 1}}
	ongoing := func(r runs.Run, after time.Duration) comment.Ongoing {
		t.Helper()
		o, err := ld.Ongoing(t.Context(), r, time.Now().Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := ongoing(r, time.Minute); !o.Began.IsZero() {
		t.Errorf("before it has begun: %+v", o)
	}
	b, err := ld.Begin(t.Context(), r, ledger.ApplyRecord{HardStop: time.Now().Add(10 * time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	far := comment.Ongoing{Progress: comment.Progress{Done: 3, Of: 9}, More: 2, Ends: time.Now().Add(5 * time.Minute)}
	far.UnderWay = []comment.ChangeUnderWay{{Address: "x.a", Action: comment.Creating, Since: time.Now()}}
	if b, err = ld.RecordProgress(t.Context(), r, b, far); err != nil {
		t.Fatal(err)
	}
	planned := r
	planned.Phase = runs.Planned
	if o := ongoing(r, 4*time.Second); !o.Began.IsZero() {
		t.Errorf("after 4 s: %+v", o)
	}
	if o := ongoing(planned, time.Minute); !o.Began.IsZero() {
		t.Errorf("of a plan: %+v", o)
	}
	if o := ongoing(r, time.Minute); !o.Same(far) || !o.Began.Equal(b.Begun) || !o.Ends.Equal(far.Ends) || time.Until(o.At) < 50*time.Second {
		t.Errorf("after a minute: %+v", o)
	}
	if o := ongoing(r, time.Hour); o.Progress != far.Progress || len(o.UnderWay) != 0 || o.More != 0 || !o.Ends.IsZero() {
		t.Errorf("after the time of its process: %+v", o)
	}
	if b, err = ld.TakeOver(t.Context(), r, b, time.Time{}); err != nil || len(b.UnderWay) != 0 {
		t.Fatal(b.UnderWay, err)
	}
	if o := ongoing(r, time.Minute); o.Progress != far.Progress || len(o.UnderWay) != 0 || o.More != 0 {
		t.Errorf("in the next process: %+v", o)
	}
}

// TestOngoingPlan is the progress of a plan as its record tells it: not before 5 s, not of another plan of the run, and not after the plan; and a
// process whose plan is no longer the last one changes nothing.
func TestOngoingPlan(t *testing.T) {
	t.Parallel()
	ld := ledger.Ledger{Records: new(memory.Store)}
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 4}, Number: 7}, Project: "net", Workspace: "default"}, Phase: runs.Planning, Artifacts: runs.Artifacts{Begun: 3}}
	began := time.Now()
	of := func(begun int) runs.Run { r.Artifacts.Begun = begun; return r }
	for begun, done := range map[int]int{2: 1, 3: 40, 1: 7} {
		if err := ld.RecordPlanProgress(t.Context(), of(begun), comment.Ongoing{Progress: comment.Progress{Done: done, Of: 90}, Began: began}); err != nil {
			t.Fatal(err)
		}
	}
	planned := of(3)
	planned.Phase = runs.Planned
	for name, x := range map[string]struct {
		r     runs.Run
		after time.Duration
		done  int
	}{"at once": {of(3), 4 * time.Second, 0}, "later": {of(3), time.Minute, 40}, "of the next plan": {of(4), time.Minute, 0}, "of an earlier plan": {of(2), time.Minute, 0}, "planned": {planned, time.Minute, 0}} {
		o, err := ld.Ongoing(t.Context(), x.r, began.Add(x.after))
		if err != nil || o.Done != x.done || o.Planning != (x.done > 0) || x.done > 0 && !o.At.Equal(began.Add(x.after)) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

// TestTypical holds that the durations of an apply are known to the next one of the same state, and to no other.
func TestTypical(t *testing.T) {
	t.Parallel()
	ld := ledger.Ledger{Records: new(memory.Store)}
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 4}, Number: 7}, Project: "net", Workspace: "default"}}
	for range 2 {
		if err := ld.RecordDurations(t.Context(), r, estimates.Durations{"x create": {1000, 5000}}); err != nil {
			t.Fatal(err)
		}
	}
	next, other := r, r
	next.Pull.Number, other.Workspace = 8, "prod"
	if got, err := ld.Typical(t.Context(), next); err != nil || len(got) != 1 || got["x create"] != 5*time.Second {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := ld.Typical(t.Context(), other); err != nil || len(got) != 0 {
		t.Errorf("of another state: %v, %v", got, err)
	}
}
