package render

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

func object(t *testing.T, s string) addrs.ResourceInstanceObject {
	t.Helper()
	a, err := addrs.ParseAbsResourceInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return addrs.ResourceInstanceObject{Instance: a}
}

// What Terraform 1.11.4 printed while it carried out an apply, as text and as messages;
// "resource" is the resource member, which is the same in all of one object.
func TestEventsAsRecorded(t *testing.T) {
	t.Parallel()
	const (
		a = `{"addr":"lab_thing.a","module":"","resource":"lab_thing.a","implied_provider":"lab","resource_type":"lab_thing","resource_name":"a","resource_key":null}`
		d = `{"addr":"data.lab_thing.d","module":"","resource":"data.lab_thing.d","implied_provider":"lab","resource_type":"lab_thing","resource_name":"d","resource_key":null}`
		b = `{"addr":"module.m[\"x\"].lab_thing.b[0]","module":"module.m[\"x\"]","resource":"lab_thing.b[0]","implied_provider":"lab","resource_type":"lab_thing","resource_name":"b","resource_key":0}`
	)
	deposed := object(t, "lab_thing.a")
	deposed.Deposed = "0a1b2c3d"
	thing, data, inModule := object(t, "lab_thing.a"), object(t, "data.lab_thing.d"), object(t, `module.m["x"].lab_thing.b[0]`)
	for _, x := range []struct {
		event events.Event
		text  string
		json  string
	}{
		{
			events.Event{Kind: events.RefreshStart, Addr: thing, ID: "a-1"},
			"lab_thing.a: Refreshing state... [id=a-1]",
			`{"@message":"lab_thing.a: Refreshing state... [id=a-1]","hook":{"resource":` + a + `,"id_key":"id","id_value":"a-1"},"type":"refresh_start"}`,
		},
		{
			events.Event{Kind: events.RefreshDone, Addr: thing, ID: "a-1", Elapsed: time.Second},
			"",
			`{"@message":"lab_thing.a: Refresh complete [id=a-1]","hook":{"resource":` + a + `,"id_key":"id","id_value":"a-1"},"type":"refresh_complete"}`,
		},
		{
			events.Event{Kind: events.ApplyStart, Addr: inModule, Action: plans.Create},
			`module.m["x"].lab_thing.b[0]: Creating...`,
			`{"@message":"module.m[\"x\"].lab_thing.b[0]: Creating...","hook":{"resource":` + b + `,"action":"create"},"type":"apply_start"}`,
		},
		{
			events.Event{Kind: events.ApplyProgress, Addr: thing, Action: plans.Create, Elapsed: 10*time.Second + 2*time.Millisecond},
			"lab_thing.a: Still creating... [10s elapsed]",
			`{"@message":"lab_thing.a: Still creating... [10s elapsed]","hook":{"resource":` + a + `,"action":"create","elapsed_seconds":10},"type":"apply_progress"}`,
		},
		{
			events.Event{Kind: events.ApplyProgress, Addr: thing, Action: plans.Delete, ID: "a-1", Elapsed: 70 * time.Second},
			"lab_thing.a: Still destroying... [id=a-1, 1m10s elapsed]",
			`{"@message":"lab_thing.a: Still destroying... [1m10s elapsed]","hook":{"resource":` + a + `,"action":"delete","id_key":"id","id_value":"a-1","elapsed_seconds":70},"type":"apply_progress"}`,
		},
		{
			events.Event{Kind: events.ApplyDone, Addr: thing, Action: plans.Create, ID: "a-1", Elapsed: 11 * time.Second},
			"lab_thing.a: Creation complete after 11s [id=a-1]",
			`{"@message":"lab_thing.a: Creation complete after 11s [id=a-1]","hook":{"resource":` + a + `,"action":"create","id_key":"id","id_value":"a-1","elapsed_seconds":11},"type":"apply_complete"}`,
		},
		{
			events.Event{Kind: events.EphemeralStart, Addr: thing, Text: "renew"},
			"lab_thing.a: Renewing...",
			`{"@message":"lab_thing.a: Renewing...","hook":{"resource":` + a + `,"action":"renew"},"type":"ephemeral_op_start"}`,
		},
		{
			events.Event{Kind: events.EphemeralDone, Addr: thing, Text: "renew", Elapsed: 2 * time.Second},
			"lab_thing.a: Renewal complete after 2s",
			`{"@message":"lab_thing.a: Renewal complete after 2s","hook":{"resource":` + a + `,"action":"renew","elapsed_seconds":2},"type":"ephemeral_op_complete"}`,
		},
		{
			events.Event{Kind: events.EphemeralFailed, Addr: thing, Text: "close"},
			"",
			`{"@message":"lab_thing.a: Closing errored after 0s","hook":{"resource":` + a + `,"action":"close","elapsed_seconds":0},"type":"ephemeral_op_errored"}`,
		},
		{
			events.Event{Kind: events.RefreshStart, Addr: deposed, ID: "a-1"},
			"lab_thing.a (deposed object 0a1b2c3d): Refreshing state... [id=a-1]",
			`{"@message":"lab_thing.a: Refreshing state... [id=a-1]","hook":{"resource":` + a + `,"id_key":"id","id_value":"a-1"},"type":"refresh_start"}`,
		},
		{
			events.Event{Kind: events.ApplyStart, Addr: deposed, Action: plans.Delete, ID: "a-1"},
			"lab_thing.a (deposed object 0a1b2c3d): Destroying... [id=a-1]",
			`{"@message":"lab_thing.a: Destroying... [id=a-1]","hook":{"resource":` + a + `,"action":"delete","id_key":"id","id_value":"a-1"},"type":"apply_start"}`,
		},
		{
			events.Event{Kind: events.ApplyFailed, Addr: thing, Action: plans.Update, ID: "a-1"},
			"",
			`{"@message":"lab_thing.a: Modifications errored after 0s","hook":{"resource":` + a + `,"action":"update","elapsed_seconds":0},"type":"apply_errored"}`,
		},
		{
			events.Event{Kind: events.ApplyDone, Addr: thing, Action: plans.Delete},
			"lab_thing.a: Destruction complete after 0s",
			`{"@message":"lab_thing.a: Destruction complete after 0s","hook":{"resource":` + a + `,"action":"delete","elapsed_seconds":0},"type":"apply_complete"}`,
		},
		{
			events.Event{Kind: events.ApplyStart, Addr: data, Action: plans.Read},
			"data.lab_thing.d: Reading...",
			`{"@message":"data.lab_thing.d: Refreshing...","hook":{"resource":` + d + `,"action":"read"},"type":"apply_start"}`,
		},
		{
			events.Event{Kind: events.ApplyDone, Addr: data, Action: plans.Read, ID: "a-1"},
			"data.lab_thing.d: Read complete after 0s [id=a-1]",
			`{"@message":"data.lab_thing.d: Refresh complete after 0s [id=a-1]","hook":{"resource":` + d + `,"action":"read","id_key":"id","id_value":"a-1","elapsed_seconds":0},"type":"apply_complete"}`,
		},
		{
			events.Event{Kind: events.ProvisionStart, Addr: thing, Provisioner: "local-exec"},
			"lab_thing.a: Provisioning with 'local-exec'...",
			`{"@message":"lab_thing.a: Provisioning with 'local-exec'...","hook":{"resource":` + a + `,"provisioner":"local-exec"},"type":"provision_start"}`,
		},
		{
			events.Event{Kind: events.ProvisionOutput, Addr: thing, Provisioner: "local-exec", Text: "hello\x1b[2J"},
			`lab_thing.a (local-exec): hello\u001b[2J`,
			`{"@message":"lab_thing.a: (local-exec): hello\u001b[2J","hook":{"resource":` + a + `,"provisioner":"local-exec","output":"hello\u001b[2J"},"type":"provision_progress"}`,
		},
		{
			events.Event{Kind: events.ProvisionDone, Addr: thing, Provisioner: "local-exec"},
			"",
			`{"@message":"lab_thing.a: (local-exec) Provisioning complete","hook":{"resource":` + a + `,"provisioner":"local-exec"},"type":"provision_complete"}`,
		},
		{
			events.Event{Kind: events.ProvisionFailed, Addr: thing, Provisioner: "local-exec"},
			"",
			`{"@message":"lab_thing.a: (local-exec) Provisioning errored","hook":{"resource":` + a + `,"provisioner":"local-exec"},"type":"provision_errored"}`,
		},
	} {
		if got := (&Printer{}).Event(x.event); got != x.text {
			t.Errorf("got  %s\nwant %s", got, x.text)
		}
		m, ok := EventMessage(x.event)
		if !ok {
			t.Errorf("no message for %q", x.text)
			continue
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(x.json), &want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, said(t, m)); d != "" {
			t.Errorf("%s (- want, + got):\n%s", x.json, d)
		}
	}
	if _, ok := EventMessage(events.Event{Kind: events.ApplyFailed, Addr: data, Action: plans.Read}); ok {
		t.Error("the stream tells of data that cannot be read by the diagnostic alone")
	}
	for want, e := range map[string]events.Event{
		"lab_thing.a: Preparing import... [id=a-1]":                      {Kind: events.ImportStart, Addr: thing, ID: "a-1"},
		"lab_thing.a: Preparing import... [identity=name=far,region=us]": {Kind: events.ImportStart, Addr: thing, Identity: "name=far,region=us"},
	} {
		if got := (&Printer{}).Event(e); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if _, ok := EventMessage(e); ok {
			t.Error("the stream tells of imports by planned_change")
		}
	}
	if _, ok := EventMessage(events.Event{Kind: events.Planned, Addr: thing}); ok {
		t.Error("the stream tells of plans by planned_change")
	}
}
