package render

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// UIVersion is the version of the stream of messages that -json asks for.
// Source: https://developer.hashicorp.com/terraform/internals/machine-readable-ui.
const UIVersion = "1.2"

// A Message is one line of that stream. It encodes as JSON.
type Message struct {
	level, text, kind string
	members           map[string]any
}

// MarshalJSON encodes the message with the time of now.
func (m Message) MarshalJSON() ([]byte, error) {
	all := map[string]any{
		"@level": m.level, "@message": m.text, "@module": "terraform.ui",
		"@timestamp": time.Now().Format("2006-01-02T15:04:05.000000Z07:00"), "type": m.kind,
	}
	for k, v := range m.members {
		all[k] = v
	}
	return json.Marshal(all)
}

func message(kind, text string, members map[string]any) Message {
	return Message{level: "info", text: text, kind: kind, members: members}
}

// VersionMessage opens the stream.
func VersionMessage(language, lockstep string) Message {
	return message("version", "Lockstep "+lockstep, map[string]any{"terraform": language, "lockstep": lockstep, "ui": UIVersion})
}

// LogMessage carries text that fits no other kind.
func LogMessage(text string) Message { return message("log", text, nil) }

// DiagnosticMessage carries a diagnostic.
func DiagnosticMessage(d diags.Diagnostic, files map[string]*hcl.File) Message {
	m := message("diagnostic", "Error: "+d.Summary, map[string]any{"diagnostic": NewDiagnosticJSON(d, files)})
	m.level = "error"
	if d.Severity == diags.Warning {
		m.level, m.text = "warn", "Warning: "+d.Summary
	}
	return m
}

// resourceMember describes a resource instance.
func resourceMember(a addrs.AbsResourceInstance) map[string]any {
	var key any
	if n, ok := a.Resource.Key.Int(); ok {
		key = n
	} else if s, ok := a.Resource.Key.Str(); ok {
		key = s
	}
	return map[string]any{
		"addr": a.String(), "module": a.Module.String(), "resource": a.Resource.String(),
		"implied_provider": a.Resource.Resource.ImpliedProvider(),
		"resource_type":    a.Resource.Resource.Type, "resource_name": a.Resource.Resource.Name, "resource_key": key,
	}
}

// uiAction is the stream's word for an action.
func uiAction(a plans.Action) string {
	switch a {
	case plans.NoOp:
		return "noop"
	case plans.DeleteThenCreate, plans.CreateThenDelete:
		return "replace"
	case plans.Forget:
		return "remove"
	}
	return a.String()
}

// uiReasons are the stream's words for reasons.
var uiReasons = map[plans.Reason]string{
	plans.ReasonReplaceBecauseTainted: "tainted", plans.ReasonReplaceByRequest: "requested",
	plans.ReasonReplaceByTriggers: "replace_triggered_by", plans.ReasonReplaceBecauseCannot: "cannot_update",
	plans.ReasonDeleteBecauseNoConfig: "delete_because_no_resource_config", plans.ReasonDeleteBecauseWrongRep: "delete_because_wrong_repetition",
	plans.ReasonDeleteBecauseCountIndex: "delete_because_count_index", plans.ReasonDeleteBecauseEachKey: "delete_because_each_key",
	plans.ReasonDeleteBecauseNoModule: "delete_because_no_module", plans.ReasonDeleteBecauseNoMoveTarget: "delete_because_no_move_target",
	plans.ReasonReadBecauseConfigUnknown: "read_because_config_unknown", plans.ReasonReadBecauseDependency: "read_because_dependency_pending",
	plans.ReasonReadBecauseCheckNested: "read_because_check_nested",
}

func changeMember(c *plans.ResourceChange) map[string]any {
	action := uiAction(c.Action)
	switch {
	case c.Action == plans.NoOp && c.PrevAddr != c.Addr.Instance:
		action = "move"
	case c.Action == plans.NoOp && c.Importing != nil:
		action = "import"
	}
	m := map[string]any{"resource": resourceMember(c.Addr.Instance), "action": action}
	if c.PrevAddr != c.Addr.Instance {
		m["previous_resource"] = resourceMember(c.PrevAddr)
	}
	if r := uiReasons[c.Reason]; r != "" {
		m["reason"] = r
	}
	if c.Importing != nil {
		m["importing"] = map[string]any{"id": c.Importing.ID}
	}
	if c.GeneratedConfig != "" {
		m["generated_config"] = c.GeneratedConfig
	}
	return m
}

// PlannedChangeMessage tells of a planned change; ok is false for what does not change.
func PlannedChangeMessage(c *plans.ResourceChange) (m Message, ok bool) {
	if c.Action == plans.NoOp && c.PrevAddr == c.Addr.Instance && c.Importing == nil {
		return m, false
	}
	member := changeMember(c)
	text := fmt.Sprintf("%s: Plan to %s", c.Addr.Instance, member["action"])
	return message("planned_change", text, map[string]any{"change": member}), true
}

// DriftMessage tells of an object that is not what the state said.
func DriftMessage(c *plans.ResourceChange) Message {
	member := changeMember(c)
	return message("resource_drift", fmt.Sprintf("%s: Drift detected (%s)", c.Addr.Instance, member["action"]), map[string]any{"change": member})
}

// ChangeSummaryMessage tells how much is planned ("plan") or was done ("apply", "destroy").
func ChangeSummaryMessage(operation string, add, change, remove, imported int) Message {
	var text string
	switch operation {
	case "plan":
		text = fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", add, change, remove)
		if imported > 0 {
			text = fmt.Sprintf("Plan: %d to import, %d to add, %d to change, %d to destroy.", imported, add, change, remove)
		}
	case "destroy":
		text = fmt.Sprintf("Destroy complete! Resources: %d destroyed.", remove)
	default:
		text = fmt.Sprintf("Apply complete! Resources: %d added, %d changed, %d destroyed.", add, change, remove)
		if imported > 0 {
			text = fmt.Sprintf("Apply complete! Resources: %d imported, %d added, %d changed, %d destroyed.", imported, add, change, remove)
		}
	}
	return message("change_summary", text, map[string]any{"changes": map[string]any{
		"add": add, "change": change, "import": imported, "remove": remove, "operation": operation,
	}})
}

// PlannedOutputsMessage tells what becomes of root outputs.
func PlannedOutputsMessage(p *plans.Plan) Message {
	outputs := map[string]any{}
	for _, o := range p.Outputs {
		outputs[o.Name] = map[string]any{"sensitive": o.Sensitive, "action": uiAction(o.Action)}
	}
	return message("outputs", fmt.Sprintf("Outputs: %d", len(outputs)), map[string]any{"outputs": outputs})
}

// OutputsMessage tells the root outputs that a state holds; sensitive ones by name.
func OutputsMessage(s *states.State) Message {
	outputs := map[string]any{}
	for name, o := range s.Outputs() {
		m := map[string]any{"sensitive": o.Sensitive}
		if ty, err := ctyjson.MarshalType(o.Value.Type()); err == nil {
			m["type"] = json.RawMessage(ty)
		}
		if !o.Sensitive {
			if v, err := ctyjson.Marshal(o.Value, o.Value.Type()); err == nil && o.Value != cty.NilVal {
				m["value"] = json.RawMessage(v)
			}
		}
		outputs[name] = m
	}
	return message("outputs", fmt.Sprintf("Outputs: %d", len(outputs)), map[string]any{"outputs": outputs})
}

// progress are the stream's words for an action under way and done.
var progress = map[plans.Action][2]string{
	plans.Create: {"Creating", "Creation"}, plans.Update: {"Modifying", "Modifications"},
	plans.Delete: {"Destroying", "Destruction"}, plans.Read: {"Refreshing", "Refresh"},
}

// EventMessage tells of progress; ok is false for events that the stream does not have.
func EventMessage(e events.Event) (m Message, ok bool) {
	hook := map[string]any{"resource": resourceMember(e.Addr.Instance)}
	words := progress[e.Action]
	addr := e.Addr.Instance.String()
	id := ""
	if e.ID != "" {
		hook["id_key"], hook["id_value"] = "id", e.ID
		id = fmt.Sprintf(" [id=%s]", e.ID)
	}
	seconds := math.Round(e.Elapsed.Seconds())
	members := map[string]any{"hook": hook}
	switch e.Kind {
	case events.RefreshStart:
		return message("refresh_start", addr+": Refreshing state..."+id, members), true
	case events.RefreshDone:
		return message("refresh_complete", addr+": Refresh complete"+id, members), true
	}
	hook["action"] = uiAction(e.Action)
	switch e.Kind {
	case events.ApplyStart:
		return message("apply_start", fmt.Sprintf("%s: %s...%s", addr, words[0], id), members), true
	case events.ApplyDone:
		hook["elapsed_seconds"] = seconds
		return message("apply_complete", fmt.Sprintf("%s: %s complete after %.0fs%s", addr, words[1], seconds, id), members), true
	case events.ApplyFailed:
		delete(hook, "id_key")
		delete(hook, "id_value")
		hook["elapsed_seconds"] = seconds
		return message("apply_errored", fmt.Sprintf("%s: %s errored after %.0fs", addr, words[1], seconds), members), true
	case events.ProvisionStart:
		hook = map[string]any{"resource": hook["resource"], "provisioner": e.Text}
		return message("provision_start", fmt.Sprintf("%s: Provisioning with '%s'...", addr, e.Text), map[string]any{"hook": hook}), true
	}
	return m, false
}
