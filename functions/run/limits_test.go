package run_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/github"
)

func TestRedelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		limited := func(d time.Duration) error {
			return fmt.Errorf("read: %w", &github.RateLimitedError{Until: time.Now().Add(d)})
		}
		for _, test := range []struct {
			receives int
			err      error
			want     time.Duration
		}{
			{1, broken, 20 * time.Second},
			{2, broken, 2 * time.Minute},
			{9, broken, 2 * time.Minute},
			{1, limited(10 * time.Minute), 10 * time.Minute},
			{1, limited(time.Second), 20 * time.Second},
			{1, limited(-time.Minute), 20 * time.Second},
			{2, limited(5 * time.Hour), time.Hour},
		} {
			if got := run.Redelivery(test.receives, test.err); got != test.want {
				t.Errorf("after %d, %v: %v, want %v", test.receives, test.err, got, test.want)
			}
		}
	})
}
