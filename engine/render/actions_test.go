package render

import (
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

func action(t *testing.T, s string) addrs.AbsResourceInstance {
	t.Helper()
	a, err := addrs.ParseAction(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var notifySchema = &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{
	"name": {Type: cty.String, Required: true}, "note": {Type: cty.String, Optional: true}, "secret": {Type: cty.String, Optional: true},
}}}

// notifying is a plan with actions of every kind.
func notifying(t *testing.T) *plans.Plan {
	value := func(name string, note cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(name), "note": note, "secret": cty.StringVal("hush").Mark(marks.Sensitive)})
	}
	null := cty.NullVal(cty.String)
	thing := &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{"name": {Type: cty.String, Required: true}}}}
	made := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("a")})
	a, same := object(t, "lab_thing.a"), object(t, `module.m["k"].lab_thing.same[0]`)
	before := &plans.Invocation{Addr: action(t, "action.lab_notify.before"), Caller: a.Instance, Event: config.BeforeCreate, OnFailure: config.Halt, Config: value("before", null), Schema: notifySchema}
	after := &plans.Invocation{Addr: action(t, `action.lab_notify.after["k"]`), Caller: a.Instance, Event: config.AfterCreate, Trigger: 1, OnFailure: config.Continue, Config: value("after", cty.UnknownVal(cty.String)), Schema: notifySchema}
	pending := &plans.Invocation{Addr: action(t, `module.m["k"].action.lab_notify.n`), Caller: same.Instance, Event: config.AfterUpdate, OnFailure: config.Taint, Config: value("pending", null), Schema: notifySchema, Pending: true}
	return &plans.Plan{
		Mode: plans.NormalMode, Applyable: true, Complete: true, Invocations: []*plans.Invocation{before, after, pending},
		Changes: []*plans.ResourceChange{
			{Addr: a, PrevAddr: a.Instance, Schema: thing, Change: plans.Change{Action: plans.Create, Before: cty.NullVal(made.Type()), After: made}},
			{Addr: same, PrevAddr: same.Instance, Schema: thing, Change: plans.Change{Action: plans.NoOp, Before: made, After: made}},
		},
	}
}

// TestActionsInPlans: actions stand with the change that triggers them, pending ones of an object that stays and those of the
// option -invoke by themselves. Sensitive values are hidden.
func TestActionsInPlans(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	(&Printer{}).Plan(&b, notifying(t), nil, nil)
	compare(t, "actions.plan.txt", b.String())
	compare(t, "actions.md", PlanMarkdown(notifying(t), nil))
	b.Reset()
	invoked := &plans.Plan{Mode: plans.RefreshOnlyMode, Applyable: true, Complete: true, Invocations: []*plans.Invocation{
		{Addr: action(t, "action.lab_notify.now"), Config: notifying(t).Invocations[0].Config, Schema: notifySchema},
		{Addr: action(t, "action.lab_notify.now"), Caller: object(t, "lab_thing.a").Instance, Config: notifying(t).Invocations[0].Config, Schema: notifySchema},
	}}
	(&Printer{}).Plan(&b, invoked, nil, nil)
	compare(t, "invoke.plan.txt", b.String())
	for _, text := range []string{b.String(), PlanMarkdown(notifying(t), nil)} {
		if strings.Contains(text, "hush") {
			t.Errorf("a secret is shown:\n%s", text)
		}
	}
}

// TestInvocationEvents: the messages are those of Terraform 1.16. A provider's message cannot change the terminal, or look
// like a line of somebody else.
func TestInvocationEvents(t *testing.T) {
	t.Parallel()
	const (
		a = `{"addr":"module.m[\"k\"].action.lab_notify.n","module":"module.m[\"k\"]","action":"action.lab_notify.n","implied_provider":"lab","action_type":"lab_notify","action_name":"n","action_key":null}`
		r = `{"addr":"module.m[\"k\"].lab_thing.same[0]","module":"module.m[\"k\"]","resource":"lab_thing.same[0]","implied_provider":"lab","resource_type":"lab_thing","resource_name":"same","resource_key":0}`
		l = `"lifecycle":{"resource":` + r + `,"trigger_index":0,"actions_index":0,"trigger_event":"AfterUpdate","on_failure":"taint"}`
	)
	x := notifying(t).Invocations[2]
	now := &plans.Invocation{Addr: x.Addr}
	for _, c := range []struct {
		event events.Event
		text  string
		json  string
	}{
		{events.Event{Kind: events.InvokeStart, Invocation: x}, `Action started: module.m["k"].action.lab_notify.n (triggered by AfterUpdate of module.m["k"].lab_thing.same[0])`,
			`{"@message":"module.m[\"k\"].lab_thing.same[0].trigger[0]: Action started: module.m[\"k\"].action.lab_notify.n","hook":{"action":` + a + `,` + l + `},"type":"action_start"}`},
		{events.Event{Kind: events.InvokeProgress, Invocation: now, Text: "half\r\n\x1b[2Jdone\n"}, `Action module.m["k"].action.lab_notify.n: half\r\n\u001b[2Jdone\n`,
			`{"@message":"module.m[\"k\"].action.lab_notify.n - half\r\n\u001b[2Jdone\n","hook":{"action":` + a + `,"message":"half\r\n\u001b[2Jdone\n","invoke":{}},"type":"action_progress"}`},
		{events.Event{Kind: events.InvokeDone, Invocation: x}, `Action complete: module.m["k"].action.lab_notify.n (triggered by AfterUpdate of module.m["k"].lab_thing.same[0])`,
			`{"@message":"module.m[\"k\"].lab_thing.same[0] (0): Action complete: module.m[\"k\"].action.lab_notify.n","hook":{"action":` + a + `,` + l + `},"type":"action_complete"}`},
		{events.Event{Kind: events.InvokeFailed, Invocation: now, Text: "no\n\nreally"}, `Action failed: module.m["k"].action.lab_notify.n - no`,
			`{"@message":"Action errored: module.m[\"k\"].action.lab_notify.n - no\n\nreally","hook":{"action":` + a + `,"error":"no\n\nreally","invoke":{}},"type":"action_errored"}`},
	} {
		if got := (&Printer{}).Event(c.event); got != c.text {
			t.Errorf("got  %q\nwant %q", got, c.text)
		}
		m, ok := EventMessage(c.event)
		var want map[string]any
		if err := json.Unmarshal([]byte(c.json), &want); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, said(t, m)); diff != "" || !ok {
			t.Errorf("%s", diff)
		}
	}
}

// TestPlannedInvocationMessages: the messages are those of Terraform 1.16; "pending" is Lockstep's own.
func TestPlannedInvocationMessages(t *testing.T) {
	t.Parallel()
	x := notifying(t).Invocations[2]
	src, err := json.Marshal(said(t, PlannedInvocationMessage(x))["invocation"].(map[string]any)["lifecycle_trigger"])
	const want = `{"action_trigger_block_index":0,"actions_list_index":0,"on_failure":"taint","pending":true,"triggering_event":"AfterUpdate","triggering_resource":`
	if err != nil || !strings.HasPrefix(string(src), want) {
		t.Errorf("got %s, want %s", src, want)
	}
	if m := said(t, PlannedInvocationMessage(&plans.Invocation{Addr: x.Addr})); m["invocation"].(map[string]any)["action_trigger"] == nil {
		t.Errorf("%v", m)
	}
}
