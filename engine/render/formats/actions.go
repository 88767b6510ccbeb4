package formats

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// invocations writes the actions to invoke, unless there are none. deferred_action_invocations of the format is never written:
// no change is deferred. Source: Terraform 1.16.
func (t *jsonText) invocations(list []*plans.Invocation) {
	if len(list) == 0 {
		return
	}
	t.key("action_invocations")
	t.openArray()
	for _, x := range list {
		t.invocation(x)
	}
	t.closeArray()
}

func (t *jsonText) invocation(x *plans.Invocation) {
	r := x.Addr.Resource.Resource
	t.openObject()
	t.member("address", x.Addr.String())
	t.member("type", r.Type)
	t.member("name", r.Name)
	t.key("config_values")
	whole := t.attributes(x.Config, x.Schema)
	t.key("config_sensitive")
	t.sensitiveAttributes(x.Config, x.Schema)
	t.key("config_unknown")
	if whole {
		t.rawString("{}")
	} else {
		t.unknown(x.Config)
	}
	t.member("provider_name", x.Provider.Provider.String())
	if x.Event == "" {
		t.key("invoke_action_trigger")
		t.openObject()
		if x.Caller != (addrs.AbsResourceInstance{}) {
			t.member("calling_resource_address", x.Caller.String())
		}
		t.closeObject()
	} else {
		t.lifecycleTrigger(x)
	}
	t.closeObject()
}

func (t *jsonText) lifecycleTrigger(x *plans.Invocation) {
	t.key("lifecycle_action_trigger")
	t.openObject()
	t.member("triggering_resource_address", x.Caller.String())
	t.member("action_trigger_event", string(x.Event))
	t.key("action_trigger_block_index")
	t.int(int64(x.Trigger))
	t.key("actions_list_index")
	t.int(int64(x.Index))
	t.member("on_failure", string(x.OnFailure))
	if x.Pending {
		t.flag("pending", true) // ours
	}
	t.closeObject()
}

type actionJSON struct {
	Address     string          `json:"address,omitempty"`
	Type        string          `json:"type,omitempty"`
	Name        string          `json:"name,omitempty"`
	ProviderKey string          `json:"provider_config_key,omitempty"`
	Count       *expressionJSON `json:"count_expression,omitempty"`
	ForEach     *expressionJSON `json:"for_each_expression,omitempty"`
}

// actions describes the action blocks of a module.
func (w configWriter) actions(m *config.Module) []actionJSON {
	var out []actionJSON
	for _, a := range slices.SortedFunc(maps.Keys(m.Actions), func(a, b addrs.Resource) int { return cmp.Compare(a.String(), b.String()) }) {
		r := m.Actions[a]
		out = append(out, actionJSON{
			Address: a.String(), Type: a.Type, Name: a.Name,
			ProviderKey: w.providers.source(providerKey(m.Addr, r.Provider)), Count: repetition(r.Count), ForEach: repetition(r.ForEach),
		})
	}
	return out
}
