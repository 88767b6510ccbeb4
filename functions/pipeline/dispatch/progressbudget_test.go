package dispatch_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// lasting is an engine whose applies make 200 changes in 30 minutes.
type lasting struct{ jobs.Engine }

func (lasting) Apply(_ context.Context, j jobs.Job, _ []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if permit(jobs.BeforeApply{}) != jobs.Permitted {
		return jobs.Outcome{Refused: true}, nil
	}
	const each = 9 * time.Second
	for began := time.Now(); time.Since(began) < 200*each; time.Sleep(5 * time.Second) {
		done := int(time.Since(began) / each)
		o := comment.Ongoing{Progress: comment.Progress{Done: done, Of: 200}}
		j.Progress(o.ListUnderWay([]comment.ChangeUnderWay{{Address: fmt.Sprintf("x.a[%d]", done), Action: comment.Creating, Since: began.Add(time.Duration(done) * each)}}))
	}
	return jobs.Outcome{State: runs.StateID{Lineage: j.Project, Serial: 1, Version: "1"}, Counts: counting.Counts{Add: 200}, Progress: comment.Progress{Done: 200, Of: 200}}, nil
}

// A written is a request that changes something on GitHub.
type written struct {
	at   time.Time
	path string
	body string
	of   bool // of an update about the progress
}

// ofProgress is the key of a context in which an update about the progress is written.
type ofProgress struct{}

// TestProgressStaysWithinGitHubsLimits has 20 projects applied at once, with 200 changes and for 30 minutes each: in 20 pull requests, and in
// one. The requests that write the progress stay within 60 a minute and 400 an hour. Together with those for the commands and the results,
// they stay within 500 an hour. A reader sees progress within 60 s, or the comment says when it comes next.
func TestProgressStaysWithinGitHubsLimits(t *testing.T) {
	t.Parallel()
	const many = 20
	for name, pulls := range map[string]int{"20 pull requests": many, "one pull request": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				files := githubtest.Files{}
				for i := range many {
					files[fmt.Sprintf("p%02d/main.tf", i)] = resource("a", "1")
				}
				s := newStage(t, files)
				s.pipeline.Engine = lasting{s.pipeline.Engine}
				changes := make([]githubtest.Files, pulls)
				for i := range many {
					if changes[i%pulls] == nil {
						changes[i%pulls] = githubtest.Files{}
					}
					changes[i%pulls][fmt.Sprintf("p%02d/b.tf", i)] = resource("b", "1")
				}
				answers := map[int]int64{}
				for i, c := range changes {
					answers[s.pull("alice", fmt.Sprintf("b%02d", i), c)] = 0
				}
				time.Sleep(2 * time.Hour) // the plans are not counted
				var mu sync.Mutex
				var all []written
				s.fault = func(_ http.ResponseWriter, r *http.Request) bool {
					if r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "access_tokens") {
						body, err := io.ReadAll(r.Body)
						if err != nil {
							t.Error(err)
						}
						r.Body = io.NopCloser(bytes.NewReader(body))
						mu.Lock()
						all = append(all, written{time.Now(), r.URL.Path, string(body), r.Context().Value(ofProgress{}) != nil})
						mu.Unlock()
					}
					return false
				}
				for n := range answers {
					answers[n] = s.repo.Comment("alice", n, "lockstep apply")
				}
				var applying sync.WaitGroup
				if _, err := s.hub.Deliver(t.Context()); err != nil {
					t.Fatal(err)
				}
				begun := 0
				s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
					if m.Kind != pipeline.ToApply {
						return s.pipeline.Handle(ctx, m)
					}
					begun++
					applying.Go(func() {
						time.Sleep(time.Duration(begun) * 170 * time.Millisecond)
						if err := s.pipeline.Handle(t.Context(), m); err != nil {
							t.Error(err)
						}
					})
					return nil
				})
				if begun != many {
					t.Fatalf("%d applies have begun", begun)
				}
				start := time.Now()
				for time.Since(start) < 31*time.Minute {
					s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
						if m.Progress != "" {
							ctx = context.WithValue(ctx, ofProgress{}, true)
						}
						return s.pipeline.Handle(ctx, m)
					})
					time.Sleep(time.Second)
				}
				applying.Wait()
				s.settle()
				s.fault = nil
				var times, updates []time.Time
				for _, w := range all {
					if times = append(times, w.at); w.of {
						updates = append(updates, w.at)
					}
				}
				minute, hour := most(updates, time.Minute), most(updates, time.Hour)
				calm := most(slices.DeleteFunc(slices.Clone(times), func(at time.Time) bool { return at.Before(start.Add(time.Minute)) }), time.Minute)
				unknown, longest := waits(t, all, start, pulls)
				text := fmt.Sprintf("%d writes about the progress in a minute and %d in an hour at most; of all kinds, %d and %d, and %d in a minute after the first one; a reader of an answer waits up to %v, and up to %v without knowing",
					minute, hour, most(times, time.Minute), most(times, time.Hour), calm, longest, unknown)
				t.Log(text)
				if minute == 0 || minute > 60 || hour > 400 || calm > 80 || most(times, time.Minute) > 140 || most(times, time.Hour) > 500 || unknown > time.Minute+2*time.Second {
					t.Error(text)
				}
				for n, id := range answers {
					s.expect("the answer", s.answerTo(n, id), "**Applied** `p")
				}
			})
		})
	}
}

// most returns the most times within an interval.
func most(times []time.Time, within time.Duration) (n int) {
	for i, x := range times {
		j, _ := slices.BinarySearchFunc(times, x.Add(within), time.Time.Compare)
		n = max(n, j-i)
	}
	return n
}

var announced = regexp.MustCompile(`Next update at about (\d\d:\d\d) UTC`)

// waits returns how long readers of the answers waited at most for the next text: without an announcement of it, or beyond the announced
// minute, and in all.
func waits(t *testing.T, all []written, start time.Time, answers int) (unknown, longest time.Duration) {
	t.Helper()
	last := map[string]written{}
	progressed := map[string]bool{}
	for _, w := range all {
		if !strings.Contains(w.path, "/issues/comments/") || !strings.Contains(w.body, "lockstep:answer") {
			continue
		}
		was, known := last[w.path]
		if !known {
			was.at = start
		}
		until := was.at
		if m := announced.FindStringSubmatch(was.body); m != nil {
			at, err := time.Parse("15:04", m[1])
			if err != nil {
				t.Fatal(err)
			}
			day := was.at.UTC().Truncate(24 * time.Hour)
			until = day.Add(at.Sub(at.Truncate(24*time.Hour)) + time.Minute) // the end of that minute
		}
		longest, unknown = max(longest, w.at.Sub(was.at)), max(unknown, w.at.Sub(until))
		last[w.path] = w
		progressed[w.path] = progressed[w.path] || strings.Contains(w.body, "The apply began at")
	}
	if len(progressed) != answers {
		t.Errorf("%d answers have shown progress, and not %d", len(progressed), answers)
	}
	return unknown, longest
}
