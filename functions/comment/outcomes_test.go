package comment

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// TestSlack holds the words, and that no text of others mentions, links or emphasizes anything.
func TestSlack(t *testing.T) {
	t.Parallel()
	n := Message{"acme/infra", 7, "https://github.com/acme/infra/pull/7", []Outcome{
		{"net", Ready, "", counting.Counts{Add: 2}, ""}, {"app", NoChanges, "", counting.Counts{}, ""}, {"db", PlanFailed, "", counting.Counts{}, ""},
		{"dns", Applied, "alice", counting.Counts{Change: 1}, ""}, {"mx", ApplyFailed, "bob", counting.Counts{Destroy: 1}, ""}, {"ns", Stopped, "zoe", counting.Counts{}, ""},
		{"cdn", NotApplied, "", counting.Counts{Add: 1}, ""}, {"waf", NotApplied, "", counting.Counts{}, ""},
		{"a<!channel>*b*\n`&", Ready, "<@U1>", counting.Counts{}, ""},
	}}
	const want = `*acme/infra* <https://github.com/acme/infra/pull/7|#7>
• *net*: planned – 2 to add, 0 to change, 0 to destroy
• *app*: up to date
• *db*: *failed to plan*
• *dns*: applied – 0 added, 1 changed, 0 destroyed (alice)
• *mx*: *failed to apply* – 0 added, 0 changed, 1 destroyed (bob)
• *ns*: cancelled (zoe)
• *cdn*: *merged, not applied* – 1 to add, 0 to change, 0 to destroy
• *waf*: *merged, not applied*
• *a&lt;!channel&gt;∗b∗ '&amp;*: planned – no changes to objects (&lt;@U1&gt;)`
	if got := n.Slack(); got != want {
		t.Errorf("it is %s", got)
	}
	for standing, want := range map[Standing]string{Applying: "a*b: applying", ApplyFailed: "a*b: failed to apply – 1 added, 0 changed, 0 destroyed"} {
		if got := (Outcome{"a*b", standing, "", counting.Counts{Add: 1}, ""}).Text(); got != want {
			t.Errorf("the text is %s", got)
		}
	}
	n.Number, n.Outcomes = 0, []Outcome{{Project: "net", Found: DriftFound(1)}, {Project: "net", Found: DriftFound(300)}, {Project: "net", Found: DriftOver}, {Project: "app", Found: OutOfDate(counting.Counts{Change: 2})}}
	if got := n.Slack(); got != "*acme/infra*\n• *net*: *drift* – 1 object changed outside of Lockstep\n• *net*: *drift* – 300 objects changed outside of Lockstep\n• *net*: no drift any more\n• *app*: *out of date* – 0 to add, 2 to change, 0 to destroy" {
		t.Errorf("drift is %s", got)
	}
	n.Outcomes = make([]Outcome, 300)
	if got := n.Slack(); strings.Count(got, "\n") != 31 || !strings.HasSuffix(got, "\n• and 270 more") {
		t.Errorf("many are %s", got)
	}
}
