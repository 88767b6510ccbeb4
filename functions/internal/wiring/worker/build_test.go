package worker

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// TestAfter is a table of how a build's one message went, and of what its process does then.
func TestAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	for name, x := range map[string]struct {
		err  error
		wait time.Duration
		code int
	}{
		"handled":                      {nil, 0, 0},
		"handed over":                  {&pipeline.HandOver{}, 0, 0},
		"another process, for long":    {&pipeline.BusyError{Until: in(5 * time.Hour)}, 0, 0},
		"another process, soon":        {&pipeline.BusyError{Until: in(5 * time.Minute)}, 5*time.Minute + time.Second, 0},
		"another process, over":        {&pipeline.BusyError{Until: in(-time.Minute)}, time.Second, 0},
		"GitHub's limit":               {&github.RateLimitedError{Until: in(50 * time.Minute)}, 50*time.Minute + time.Second, 0},
		"GitHub's limit, for too long": {&github.RateLimitedError{Until: in(9 * time.Hour)}, 0, 1},
		"failed":                       {errors.New("no"), 0, 1},
	} {
		err := x.err
		if err != nil {
			err = fmt.Errorf("handle it: %w", err)
		}
		if wait, code := after(err, now, in(8*time.Hour)); wait != x.wait || code != x.code {
			t.Errorf("%s: waits %s, ends with %d", name, wait, code)
		}
	}
}

// TestBuildEnd holds the time of a build, and of a run in one.
func TestBuildEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	env := map[string]string{minutesVariable: "480", "CODEBUILD_START_TIME": fmt.Sprint(now.Add(-time.Minute).UnixMilli())}
	getenv := func(name string) string { return env[name] }
	if got := buildEnd(getenv, now); !got.Equal(now.Add(479 * time.Minute)) {
		t.Errorf("it ends at %s", got)
	}
	if l := limits(getenv); l.Wall != 8*time.Hour || l.CPU != 8*time.Hour || l.Memory < leastMemory {
		t.Errorf("limits %+v", l)
	}
	env["CODEBUILD_START_TIME"] = fmt.Sprint(now.Add(time.Hour).UnixMilli()) // a clock that is wrong
	if got := buildEnd(getenv, now); !got.Equal(now.Add(8 * time.Hour)) {
		t.Errorf("it ends at %s", got)
	}
}
