package decoding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

var actionSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "count"}, {Name: "for_each"}, {Name: "provider"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "config"}},
}

// action reads an action block. Its config block has the provider's own arguments; without a config block,
// all of them are absent.
//
// Source: Terraform 1.14, https://developer.hashicorp.com/terraform/language/block/action
func (d *Decoder) action(b *hcl.Block) {
	x := &resource{reader: &d.reader, Resource: &config.Resource{
		Addr:      addrs.Resource{Mode: addrs.Action, Type: b.Labels[0], Name: b.Labels[1]},
		Range:     b.DefRange,
		TypeRange: b.LabelRanges[0],
	}}
	d.name(b, 0, "Invalid action type name")
	d.name(b, 1, "Invalid action name")
	content := d.contentOf(b.Body, actionSchema)
	x.metaArguments(content)
	var own *hcl.Block
	for _, n := range content.Blocks {
		if d.once(&own, n, "Duplicate config block", "An action block may have only one config block.") {
			x.Body = n.Body
		}
	}
	old := d.content.Actions[x.Addr]
	switch {
	case d.override && old == nil:
		d.missingBase(x.Range, "Missing action to override", x.Addr.String())
	case d.override:
		x.replaceAction(old)
	case old != nil:
		d.duplicate(x.Range, fmt.Sprintf("Duplicate action %q configuration", x.Addr.Type), x.Addr.String(), old.Range)
	default:
		if x.Body == nil {
			x.Body = &hclsyntax.Body{SrcRange: b.DefRange, EndRange: b.DefRange}
		}
		d.content.Actions[x.Addr] = x.Resource
	}
}

// replaceAction copies the arguments of x into the action block old. An argument that x lacks stays as it is.
func (x *resource) replaceAction(old *config.Resource) {
	overrideRepetition(&old.Repetition, x.Repetition)
	if x.ProviderRange != nil {
		old.Provider, old.ProviderKey, old.ProviderRange = x.Provider, x.ProviderKey, x.ProviderRange
	}
	if x.Body != nil {
		old.Body = overriddenBody(old.Body, x.Body)
	}
}

var triggerSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "events", Required: true}, {Name: "condition"}, {Name: "actions", Required: true}, {Name: "on_failure"}},
}

// A namedEvent is an event of an action_trigger block, such as BeforeCreate, with its name in a configuration:
// before_create.
type namedEvent struct {
	name  string
	event config.Event
}

var events = []namedEvent{
	{"before_create", config.BeforeCreate}, {"after_create", config.AfterCreate},
	{"before_update", config.BeforeUpdate}, {"after_update", config.AfterUpdate},
	{"before_destroy", config.BeforeDestroy}, {"after_destroy", config.AfterDestroy},
}

// trigger reads an action_trigger block. The summaries of its diagnostics are Terraform's.
func (x *resource) trigger(b *hcl.Block) {
	if x.Addr.Mode != addrs.Managed {
		x.errorf(&b.DefRange, "Invalid "+modeWords[x.Addr.Mode]+" resource lifecycle argument",
			"The lifecycle block %q is for resource blocks only, not for %s blocks.", b.Type, modeWords[x.Addr.Mode])
		return
	}
	content := x.contentOf(b.Body, triggerSchema)
	attrs := content.Attributes
	t := &config.Trigger{Condition: expr(attrs["condition"]), OnFailure: config.Halt, Range: b.DefRange}
	if a := attrs["events"]; a != nil {
		t.Events = x.events(a.Expr)
	}
	named := 0
	if a := attrs["actions"]; a != nil {
		t.Actions, named = x.actions(a.Expr)
	}
	if a := attrs["on_failure"]; a != nil {
		t.OnFailure = config.OnFailure(hcl.ExprAsKeyword(a.Expr))
		if !slices.Contains([]config.OnFailure{config.Halt, config.Taint, config.Continue}, t.OnFailure) {
			x.errorf(a.Expr.Range().Ptr(), `Invalid "on_failure" keyword`, "The argument on_failure is one of these words: halt, taint, continue.")
		}
	}
	if named == 0 {
		x.errorf(&b.DefRange, "No actions specified", "An action_trigger block names at least one action, such as actions = [action.TYPE.NAME].")
	}
	if len(t.Events) == 0 {
		x.errorf(&b.DefRange, "No events specified", "An action_trigger block names at least one event, such as events = [after_create].")
	}
	for _, e := range t.Events {
		if e.Destroys() && t.Condition != nil {
			x.lateErrorf(t.Condition.Range().Ptr(), "Condition on destroy action",
				"The actions of a destruction have no condition. Write a block of its own for the events before_destroy and after_destroy, without one.")
			break
		}
	}
	x.Triggers = append(x.Triggers, t)
}

// events reads the list of events of a trigger. Each event may occur only once in the list.
func (x *resource) events(e hcl.Expression) []config.Event {
	list, ds := hcl.ExprList(e)
	x.add(ds)
	var out []config.Event
	for _, item := range list {
		word := hcl.ExprAsKeyword(item)
		i := slices.IndexFunc(events, func(e namedEvent) bool { return e.name == word })
		switch {
		case i < 0:
			x.errorf(item.Range().Ptr(), strings.TrimSpace(`Invalid "event" value `+word),
				"An event is one of these words: before_create, after_create, before_update, after_update, before_destroy, after_destroy.")
		case slices.Contains(out, events[i].event):
			x.errorf(item.Range().Ptr(), fmt.Sprintf("Duplicate %q event", word), "The event is in this action_trigger block already. Remove one of them.")
		default:
			out = append(out, events[i].event)
		}
	}
	return out
}

// actions reads the argument actions of a trigger. out has the valid entries, all is the number of all entries.
// Whether the actions exist is not checked here.
func (x *resource) actions(e hcl.Expression) (out []hcl.Expression, all int) {
	list, ds := hcl.ExprList(e)
	x.add(ds)
	for _, item := range list {
		item, ds := traversals.Native(item)
		x.add(ds)
		if !ds.HasErrors() && x.checkAction(item) {
			out = append(out, item)
		}
	}
	return out, len(list)
}

// checkAction reports whether an entry of actions refers to exactly one action, and to nothing else but each.key and
// count.index.
func (x *resource) checkAction(e hcl.Expression) bool {
	found := 0
	for _, t := range e.Variables() {
		word, next := traversals.RootName(t)
		switch {
		case word == "action" && len(t) > 2:
			found++
		case word == "each" && next == "key" || word == "count" && next == "index":
		case word == "module":
			x.errorf(e.Range().Ptr(), "Invalid reference to action outside this module", "A trigger can name the actions of its own module only.")
			return false
		default:
			x.errorf(e.Range().Ptr(), "Invalid action argument inside action_triggers",
				"An entry of actions is an action of this module, such as action.TYPE.NAME. A key in brackets may be made of count.index and each.key.")
			return false
		}
	}
	if found != 1 {
		x.errorf(e.Range().Ptr(), "Invalid action expression", "Each entry must refer to exactly one action, this one refers to %d.", found)
		return false
	}
	return true
}
