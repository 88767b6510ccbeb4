package render

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

// TestAffected says of plans what they have not read, as text, in comments and as JSON.
func TestAffected(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 30, 3, 5, 0, 0, time.FixedZone("", 3600))
	const last = " not read. The plan uses their values in the state. Lockstep last read everything on 2026-11-30 02:05 UTC. To read everything now, "
	for _, c := range []struct {
		name           string
		affected       *plans.Affected
		text, markdown string
		json           string
	}{
		{"a plan that reads everything", nil, "", "", ""},
		{"everything is affected", &plans.Affected{Since: since}, "", "", `{"unread":0,"unread_data":0,"since":"2026-11-30T02:05:00Z"}`},
		{"one object", &plans.Affected{Unread: 1, Since: since}, "1 object was" + last + "plan with -refresh=true.", "1 object was" + last + "comment `lockstep plan -refresh=true`.", `{"unread":1,"unread_data":0,"since":"2026-11-30T02:05:00Z"}`},
		{"many objects and data sources", &plans.Affected{Unread: 9999, UnreadData: 30, Since: since}, "9999 objects and 30 data sources were" + last + "plan with -refresh=true.", "9999 objects and 30 data sources were" + last + "comment `lockstep plan -refresh=true`.", ""},
		{"no digests", &plans.Affected{Everything: "the state was last written without -refresh=affected, or by another tool"},
			"All objects were read, because the state was last written without -refresh=affected, or by another tool.", "All objects were read, because the state was last written without -refresh=affected, or by another tool.",
			`{"unread":0,"unread_data":0,"everything_because":"the state was last written without -refresh=affected, or by another tool"}`},
		{"a hostile name", &plans.Affected{Everything: "of the workspace \"`@all` <img> [x](y)\""},
			"All objects were read, because of the workspace \"`@all` <img> [x](y)\".", "All objects were read, because ``of the workspace \"`@all` <img> [x](y)\"``.", ""},
	} {
		plan := &plans.Plan{Mode: plans.NormalMode, Affected: c.affected}
		var b strings.Builder
		(&Printer{}).Plan(&b, plan, nil, nil)
		text := strings.Join(strings.Fields(b.String()), " ")
		if !strings.HasSuffix(text, c.text) || c.text == "" && strings.Contains(text, "read") {
			t.Errorf("%s: %s", c.name, text)
		}
		if unread := c.affected != nil && c.affected.Unread > 0; unread == strings.Contains(text, "Your infrastructure matches") {
			t.Errorf("%s: %s", c.name, text)
		}
		if got := PlanMarkdown(plan, nil); !strings.Contains(got, c.markdown) || c.markdown == "" && strings.Contains(got, "read") {
			t.Errorf("%s: %s", c.name, got)
		}
		m := PlanSummaryMessage(plan)
		if !strings.HasSuffix(m.Text, c.text) {
			t.Errorf("%s: %s", c.name, m.Text)
		}
		whole, err := formats.Plan(plan, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Affected json.RawMessage `json:"refresh_affected"`
		}
		if err := json.Unmarshal(whole, &document); err != nil || c.json != "" && string(document.Affected) != c.json || (document.Affected == nil) != (c.affected == nil) {
			t.Errorf("%s: %s, %v", c.name, document.Affected, err)
		}
	}
}
