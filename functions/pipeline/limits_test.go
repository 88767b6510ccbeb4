package pipeline_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

func TestRedelivery(t *testing.T) {
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	down := errors.New("GitHub is down")
	limited := func(d time.Duration) error {
		return fmt.Errorf("read pull request: %w", &github.RateLimitedError{Until: now.Add(d)})
	}
	for _, test := range []struct {
		name     string
		receives int
		err      error
		want     time.Duration
	}{
		{"the first time", 1, down, 30 * time.Second},
		{"the second time", 2, down, 5 * time.Minute},
		{"a late time", 9, down, 5 * time.Minute},
		{"an unknown time", 0, down, 30 * time.Second},
		{"a limit", 1, limited(40 * time.Minute), 40*time.Minute + time.Second},
		{"a short limit", 2, limited(time.Second), 2 * time.Second},
		{"a limit that is over", 1, limited(-time.Minute), 30 * time.Second},
		{"a limit for ever", 1, limited(48 * time.Hour), 12 * time.Hour},
	} {
		if got := pipeline.Redelivery(test.receives, test.err, now); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
