package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// said returns what a message says, without what is in every one.
func said(t *testing.T, m Message) map[string]any {
	t.Helper()
	src, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(src, &out); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"@level", "@module", "@timestamp"} {
		if out[key] == nil {
			t.Errorf("%s has no %s", src, key)
		}
		delete(out, key)
	}
	return out
}

// TestPlanMessagesAsRecorded compares the stream of a plan with the one that Terraform 1.11.4 wrote. Three differences are
// meant: the order, the number of actions (version 1.3 of the stream), and the number of forgotten objects (OpenTofu).
func TestPlanMessagesAsRecorded(t *testing.T) {
	t.Parallel()
	schemas := rendertest.Schemas(t)
	for _, r := range rendertest.Recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			p := r.Plan(t, schemas)
			var want, got []map[string]any
			for line := range bytes.Lines(r.Files["messages.jsonl"]) {
				var m map[string]any
				if err := json.Unmarshal(line, &m); err != nil {
					t.Fatal(err)
				}
				if changes, ok := m["changes"].(map[string]any); ok {
					changes["action_invocation"], changes["action_fail"] = 0., 0.
					if n := p.Counts().Forget; n > 0 {
						changes["forget"] = float64(n)
					}
				}
				want = append(want, m)
			}
			for _, c := range p.Drift {
				got = append(got, said(t, DriftMessage(c)))
			}
			for _, c := range p.Changes {
				if m, ok := PlannedChangeMessage(c); ok {
					got = append(got, said(t, m))
				}
			}
			got = append(got, said(t, ChangeSummaryMessage("plan", p.Counts())))
			if len(p.Outputs) > 0 {
				got = append(got, said(t, PlannedOutputsMessage(p)))
			}
			for _, list := range [][]map[string]any{want, got} {
				slices.SortFunc(list, func(a, b map[string]any) int {
					return cmp.Or(cmp.Compare(a["type"].(string), b["type"].(string)), cmp.Compare(a["@message"].(string), b["@message"].(string)))
				})
			}
			if d := gocmp.Diff(want, got); d != "" {
				t.Errorf("messages (- recorded, + written):\n%s", d)
			}
		})
	}
}

func TestOtherMessages(t *testing.T) {
	t.Parallel()
	s := states.Of(map[string]states.Output{
		"a": {Value: cty.TupleVal([]cty.Value{cty.Zero})},
		"b": {Value: cty.StringVal("hunter2"), Sensitive: true},
	}, nil)
	for _, x := range []struct {
		m    Message
		want string
	}{
		{VersionMessage("1.11.4", "0.1.0"), `{"@message":"Lockstep 0.1.0","terraform":"1.11.4","lockstep":"0.1.0","type":"version","ui":"1.3"}`},
		{LogMessage("hello"), `{"@message":"hello","type":"log"}`},
		{
			DiagnosticMessage(diags.Diagnostic{Severity: diags.Warning, Summary: "S", Detail: "D"}, nil),
			`{"@message":"Warning: S","diagnostic":{"severity":"warning","summary":"S","detail":"D"},"type":"diagnostic"}`,
		},
		{
			ChangeSummaryMessage("apply", counting.Counts{Add: 1, Change: 2, Destroy: 3, Import: 4, Invoke: 2, InvokeFailed: 1}),
			`{"@message":"Apply complete! Resources: 4 imported, 1 added, 2 changed, 3 destroyed. Actions: 2 invoked, 1 failed.","changes":{"add":1,"change":2,"import":4,"remove":3,"action_invocation":2,"action_fail":1,"operation":"apply"},"type":"change_summary"}`,
		},
		{
			ChangeSummaryMessage("destroy", counting.Counts{Destroy: 3, Invoke: 1}),
			`{"@message":"Destroy complete! Resources: 3 destroyed. Actions: 1 invoked.","changes":{"add":0,"change":0,"import":0,"remove":3,"action_invocation":1,"action_fail":0,"operation":"destroy"},"type":"change_summary"}`,
		},
		{
			ChangeSummaryMessage("destroy", counting.Counts{Destroy: 3, Forget: 1}),
			`{"@message":"Destroy complete! Resources: 3 destroyed.","changes":{"add":0,"change":0,"import":0,"remove":3,"forget":1,"action_invocation":0,"action_fail":0,"operation":"destroy"},"type":"change_summary"}`,
		},
		{
			OutputsMessage(s),
			`{"@message":"Outputs: 2","outputs":{"a":{"sensitive":false,"type":["tuple",["number"]],"value":[0]},"b":{"sensitive":true,"type":"string"}},"type":"outputs"}`,
		},
	} {
		var want map[string]any
		if err := json.Unmarshal([]byte(x.want), &want); err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(want, said(t, x.m)); d != "" {
			t.Errorf("%s (- want, + got):\n%s", x.want, d)
		}
	}
}
