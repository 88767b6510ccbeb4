//go:build linux

package subprocess

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// TestAccess asks for credentials as each action's process does: whatever the job says that it was given, a
// plan's session only reads.
func TestAccess(t *testing.T) {
	t.Parallel()
	for a, want := range map[action]jobs.Access{
		plans: jobs.Reads, checks: jobs.Reads, snapshots: jobs.Reads, discovers: jobs.Reads, inputs: jobs.Reads, looks: jobs.Reads,
		unlocks: jobs.Unlocks, applies: jobs.Writes, recovers: jobs.Writes,
	} {
		got := jobs.Access(-1)
		e := &Engine{Credentials: func(_ context.Context, j jobs.Job) (aws.CredentialsProvider, error) {
			got = j.Access
			return credentials.NewStaticCredentialsProvider("id", "secret", ""), nil
		}}
		c := &call{engine: e, order: order{Action: a, Job: jobs.Job{StateGrant: jobs.StateGrant{Access: jobs.Writes}}}}
		if _, err := c.answer(t.Context(), question{Kind: isCredentials}); err != nil || got != want {
			t.Errorf("%s: access %v, want %v; %v", a, got, want, err)
		}
		// Keys are for those that read states.
		got = -1
		if _, err := c.answer(t.Context(), question{Kind: isKeys}); (err == nil) != slices.Contains([]action{plans, checks, snapshots, applies, recovers}, a) || err == nil && got != jobs.Keys {
			t.Errorf("%s: access %v to keys; %v", a, got, err)
		}
	}
}

// TestADyingPlanReleasesNothing holds that the lock of an apply of the same pull request stays: a plan has none
// of its own that could be left.
func TestADyingPlanReleasesNothing(t *testing.T) {
	t.Parallel()
	j := named(t, "exit")
	j.VarFiles = []string{j.Checkout}
	e := newEngine(t)
	e.Limits.Wall = time.Minute
	got, err := e.Plan(t.Context(), j)
	if err != nil || got.Plan != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(j.Checkout, "unlocked")); err == nil {
		t.Error("the lock was released")
	}
}
