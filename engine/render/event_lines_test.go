package render_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render"
)

// TestEventIsOneLine: an ID or an identity with line feeds begins no line of its own.
func TestEventIsOneLine(t *testing.T) {
	t.Parallel()
	for _, e := range []events.Event{
		{Kind: events.RefreshStart, ID: "a\n::error::b"}, {Kind: events.ImportStart, ID: "a\n::error::b"}, {Kind: events.ImportStart, Identity: "a\n::error::b"},
		{Kind: events.ApplyStart, Action: plans.Update, ID: "a\n::error::b"}, {Kind: events.ApplyProgress, Action: plans.Update, ID: "a\n::error::b"},
		{Kind: events.ApplyDone, Action: plans.Update, ID: "a\n::error::b"},
	} {
		if got := (&render.Printer{}).Event(e); strings.Contains(got, "\n") || !strings.Contains(got, `a\n::error::b`) {
			t.Errorf("%q", got)
		}
	}
}
