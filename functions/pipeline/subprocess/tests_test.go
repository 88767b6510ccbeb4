//go:build linux

package subprocess

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// TestTests holds that the process of tests has nothing of ours in its environment, that what it returns is cut and has no
// secret, and that a report says why it was ended.
func TestTests(t *testing.T) {
	t.Parallel()
	e := stingy(t, newEngine(t))
	e.Redact = func(text string, _ []string) string { return strings.ReplaceAll(text, "hunter2hunter2", "(hidden)") }
	got, err := e.Test(t.Context(), jobs.ForTests(named(t, "environ"), false))
	if err != nil || strings.Contains(got.Report, "AWS_") || strings.Contains(got.Report, "ghs") || strings.Contains(got.Report, "hunter2") || !strings.Contains(got.Report, "https_proxy=p") {
		t.Errorf("%v %s, %v", got.Broken, got.Report, err)
	}
	if n := got.Notes[0]; len(got.Runs) != comment.MaxTestRuns || n.Title != "(hidden)" || !strings.HasPrefix(n.Message, "(hidden)xx") || len(n.Message) > 1100 || n.Line != 1 {
		t.Errorf("%d runs, %+v", len(got.Runs), n)
	}
	e.Limits.Wall = time.Second
	got, err = e.Test(t.Context(), jobs.ForTests(named(t, "deaf"), false))
	if err != nil || !got.Broken || !strings.Contains(got.Report, "**Interrupted: Testing `deaf`.**") || !strings.Contains(got.Report, "It took longer than 1s") {
		t.Errorf("%v %s, %v", got.Broken, got.Report, err)
	}
}
