package session

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// ActionInstance returns the action instance that an entry in the actions of a trigger names. s is the scope
// of the resource instance: the entry may use its each.key and count.index. The action is declared in the
// module m.
func ActionInstance(m *config.Module, entry hcl.Expression, s eval.Scope) (addrs.ResourceInstance, diags.Diagnostics) {
	t, ds := Traversal(entry, s, "Invalid action expression")
	if ds.HasErrors() {
		return addrs.ResourceInstance{}, ds
	}
	kind, kindOK := t[1].(hcl.TraverseAttr)
	name, nameOK := t[2].(hcl.TraverseAttr)
	if !kindOK || !nameOK || len(t) > 4 {
		return addrs.ResourceInstance{}, diags.Errorf(entry.Range().Ptr(), "Invalid action expression", "An entry of actions ends with the name of the action, or with an instance key in brackets.")
	}
	out := addrs.ResourceInstance{Resource: addrs.Resource{Mode: addrs.Action, Type: kind.Name, Name: name.Name}}
	known := true
	if len(t) == 4 {
		index, ok := t[3].(hcl.TraverseIndex)
		if !ok {
			return out, diags.Errorf(entry.Range().Ptr(), "Invalid action expression", "An action has no attributes: an entry of actions ends with its name, or with an instance key in brackets.")
		}
		if known = index.Key.IsKnown(); known {
			out.Key, _ = addrs.KeyFromValue(index.Key)
		}
	}
	r := m.Actions[out.Resource]
	_, isInt := out.Key.Int()
	_, isString := out.Key.Str()
	switch {
	case !known:
	case r.Count != nil && !isInt:
		ds = append(ds, diags.Errorf(entry.Range().Ptr(), "Missing index", "%s has count: name one of its instances, such as %[1]s[0].", out.Resource)...)
	case r.ForEach != nil && !isString:
		ds = append(ds, diags.Errorf(entry.Range().Ptr(), "Missing index", "%s has for_each: name one of its instances, such as %[1]s[\"KEY\"].", out.Resource)...)
	case r.Count == nil && r.ForEach == nil && len(t) == 4:
		ds = append(ds, diags.Errorf(entry.Range().Ptr(), "Unexpected index", "%s has neither count nor for_each, so it has no instance keys. Remove the brackets.", out.Resource)...)
	}
	return out, ds
}

// Undeclared returns the count or each of an instance that the configuration no longer declares: only its key
// is known.
func Undeclared(key addrs.InstanceKey) *eval.Instance {
	out := &eval.Instance{Key: key, Value: cty.DynamicVal}
	_, out.HasCount = key.Int()
	_, out.HasEach = key.Str()
	return out
}

// A Verdict is the value of the condition of a trigger.
type Verdict struct {
	Holds, Known bool
	Diags        diags.Diagnostics
}

// TriggerHolds evaluates the condition of a trigger. A trigger without a condition always holds.
func (s *Session) TriggerHolds(t *config.Trigger, scope eval.Scope) Verdict {
	if t.Condition == nil {
		return Verdict{Holds: true, Known: true}
	}
	v, ds := s.Eval.Expr(t.Condition, scope)
	if ds.HasErrors() {
		return Verdict{Diags: ds}
	}
	bad := func(detail string) Verdict {
		return Verdict{Diags: append(ds, diags.Errorf(t.Condition.Range().Ptr(), "Invalid condition of an action trigger", "%s", detail)...)}
	}
	if marks.Has(v, marks.Ephemeral) {
		return bad("The condition depends on an ephemeral value, which may be another one when the plan is applied. Use values that stay the same.")
	}
	plain := marks.Plain(v)
	switch plain, err := convert.Convert(plain, cty.Bool); {
	case err != nil:
		return bad("The condition must be true or false: " + err.Error() + ".")
	case !plain.IsKnown():
		return Verdict{Diags: ds}
	case plain.IsNull():
		return bad("The condition must be true or false, and it is null.")
	default:
		return Verdict{Holds: plain.True(), Known: true, Diags: ds}
	}
}

// An Invocation is an action instance with its open provider.
type Invocation struct {
	Addr   addrs.AbsResourceInstance
	Block  *config.Resource
	Schema *schema.Schema
	Config addrs.AbsProviderConfig
	Client provider.Client
	scope  eval.Scope
}

// OpenAction opens an action with its provider. caller is the value of the resource instance that triggers
// the action, or cty.NilVal. place is the source range for the error that the action instance does not exist,
// or nil.
func (s *Session) OpenAction(ctx context.Context, a addrs.AbsResourceInstance, caller cty.Value, place *hcl.Range) (*Invocation, diags.Diagnostics) {
	m := s.Config.Modules[a.Module.Module()]
	if m == nil || m.Actions[a.Resource.Resource] == nil {
		return nil, diags.Errorf(place, "No such action", "The configuration has no %s.", a)
	}
	x := &Invocation{Addr: a, Block: m.Actions[a.Resource.Resource], scope: eval.Scope{Module: a.Module}}
	// The evaluator must know the module instances before it evaluates anything in them: this call expands the
	// module calls above.
	if _, ds := s.Eval.Modules(m); ds.HasErrors() {
		return nil, ds
	}
	instances, ds := s.Eval.ResourceInstances(a.Module, x.Block)
	if ds.HasErrors() {
		return nil, ds
	}
	for i := range instances {
		if instances[i].Key == a.Resource.Key {
			x.scope.Instance = &instances[i]
		}
	}
	if x.scope.Instance == nil {
		return nil, append(ds, diags.Errorf(place, "No such instance of an action", "The count or for_each of %s makes no instance %s.", a.AbsResource(), a)...)
	}
	use := m.ResourceUse(x.Block)
	x.Config = use.Config
	var more diags.Diagnostics
	if x.Schema, _, more = s.Schema(ctx, use.Config.Provider, x.Block.Addr, x.Block.TypeRange.Ptr()); more.HasErrors() {
		return nil, append(ds, more...)
	}
	ds = append(ds, more...)
	if use.Key != nil {
		if x.Config, more = s.InstanceProvider(use, x.scope); more.HasErrors() {
			return nil, append(ds, more...)
		}
		ds = append(ds, more...)
	}
	if caller != cty.NilVal {
		x.scope.Extra = map[string]cty.Value{"caller": caller}
	}
	x.Client, more = s.Client(ctx, x.Config)
	return x, append(ds, more...)
}

// PlannedAction opens an action with the provider configuration that the plan has recorded for it. It
// evaluates nothing, since the plan also has the action's configuration.
func (s *Session) PlannedAction(ctx context.Context, a addrs.AbsResourceInstance, pc addrs.AbsProviderConfig) (*Invocation, diags.Diagnostics) {
	m := s.Config.Modules[a.Module.Module()]
	if m == nil || m.Actions[a.Resource.Resource] == nil {
		return nil, diags.Errorf(nil, "No such action", "The configuration has no %s.", a)
	}
	x := &Invocation{Addr: a, Block: m.Actions[a.Resource.Resource], Config: pc}
	var ds, more diags.Diagnostics
	if x.Schema, _, ds = s.Schema(ctx, pc.Provider, x.Block.Addr, x.Block.TypeRange.Ptr()); ds.HasErrors() {
		return nil, ds
	}
	x.Client, more = s.Client(ctx, pc)
	return x, append(ds, more...)
}

// ActionConfig evaluates the configuration of an action. The value has marks and conforms to the schema.
func (s *Session) ActionConfig(x *Invocation) (cty.Value, diags.Diagnostics) {
	ctx, ds := s.Eval.ActionContext(x.Block, x.scope)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	defer budget.Of(ctx).Enter(&place{x.Block, x.Addr.Module, x.scope.Instance}).Leave()
	val, more := s.Bound(x.Block, x.Schema).Decode(ctx)
	return val, append(ds, more...)
}

// PlaceAction adds to diagnostics the address of an action and of the resource instance that calls it, if there is one, and
// the place of the action's block.
func (s *Session) PlaceAction(ds diags.Diagnostics, x *Invocation, caller addrs.AbsResourceInstance) diags.Diagnostics {
	address := x.Addr.String()
	if caller != (addrs.AbsResourceInstance{}) {
		address += ", called from " + caller.String()
	}
	for i := range ds {
		if ds[i].Subject == nil && len(ds[i].Attribute) == 0 {
			ds[i].Subject = x.Block.Range.Ptr()
		}
	}
	return s.Place(ds, x.Block, x.Schema, address)
}
