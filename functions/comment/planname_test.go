package comment

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// TestPlanIn holds that the plan which a check names is read from it again, whatever else
// is in the check; and that of two plans none is.
func TestPlanIn(t *testing.T) {
	other := strings.Repeat("0", 64)
	evil := "x\n" + markdown.PlanLine(other) + "y"
	for _, s := range []Standing{Ready, OnMerge, ApplyQueued, Applying} {
		c := Check{ProjectStatus: ProjectStatus{Name: evil, Standing: s, Queueing: Queueing{By: evil}, PlanSummary: PlanSummary{Hash: someHash}, Texts: Texts{Body: evil, Whole: evil, Check: evil}}}
		if got := markdown.PlanIn(c.Summary(65535)); got != someHash {
			t.Errorf("%s: %q in\n%s", s, got, c.Summary(65535))
		}
	}
	c := Check{ProjectStatus: ProjectStatus{Name: "net", Standing: Stale, PlanSummary: PlanSummary{Hash: someHash}}}
	for name, text := range map[string]string{
		"a plan that cannot be applied": c.Summary(65535), "nothing": "", "two": markdown.PlanLine(someHash) + markdown.PlanLine(other), "less than one": markdown.PlanLine(someHash[1:]),
	} {
		if got := markdown.PlanIn(text); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
