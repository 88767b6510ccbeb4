package planfile

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A decoder turns wire types into a plan. It keeps the first error; the results after an error do not matter,
// as long as nothing panics.
type decoder struct {
	in   *wirePlan
	opts Options
	plan *plans.Plan
	err  error

	types     []valueType
	configs   []addrs.AbsProviderConfig
	modules   []addrs.ModuleInstance
	resources []addrs.AbsResource
	blocks    []addrs.ConfigResource
	lists     [][]addrs.ConfigResource
	stored    []*states.Dependencies // dependencies by number of their list; made when first needed
	paths     [][]cty.Path
	schemas   map[schemaKey]*schema.Schema
}

// A valueType is a type and the function that reads its values.
type valueType struct {
	ty   cty.Type
	json *jsonvalues.Codec
}

type schemaKey struct {
	provider addrs.Provider
	mode     addrs.ResourceMode
	name     string
}

// decodePlan decodes the member "plan" and the states.
func decodePlan(m *members, o Options) (*File, error) {
	d := &decoder{in: &wirePlan{}, opts: o, plan: &plans.Plan{}, schemas: map[schemaKey]*schema.Schema{}}
	c := &coder{buf: m.files[planName], reading: true}
	d.in.code(c)
	if c.err == nil && len(c.buf) > 0 {
		c.err = errors.New("it is longer than it should be")
	}
	if c.err != nil {
		return nil, fmt.Errorf("%s: %w", planName, c.err)
	}
	in, p := d.in, d.plan
	d.readTables()
	d.states(m.files)
	if d.err != nil {
		return nil, d.err
	}
	p.Mode, p.Errored, p.Applyable, p.Complete = in.Mode, in.Errored, in.Applyable, in.Complete
	p.Checks, p.EphemeralVariables = in.Checks, in.Ephemerals
	p.Changes, p.Drift = d.changes(in.Changes), d.changes(in.Drift)
	for i := range in.Invocations {
		p.Invocations = append(p.Invocations, d.invocation(&in.Invocations[i]))
	}
	for _, o := range in.Outputs {
		p.Outputs = append(p.Outputs, d.output(o))
	}
	for _, r := range in.Relevant {
		p.Relevant = append(p.Relevant, plans.RelevantAttribute{Resource: d.instance(r.Resource), Attribute: d.path(r.Attribute)})
	}
	if len(in.Variables) > 0 {
		p.Variables = map[string]cty.Value{}
	}
	for _, v := range in.Variables {
		p.Variables[v.Name] = d.value(v.Value, nil, cty.NilVal)
	}
	p.Targets, p.Excludes, p.Waiting = d.targets(in.Targets), d.targets(in.Excludes), d.targets(in.Waiting)
	p.Invoke = d.maybeInstance(in.Invoke)
	for _, r := range in.Replace {
		p.ForceReplace = append(p.ForceReplace, d.instance(r))
	}
	p.Instances = d.instances()
	p.Affected = d.affected(in.Affected)
	if err := p.Timestamp.UnmarshalBinary(in.Timestamp); err != nil {
		d.fail("timestamp: %w", err)
	}
	p.Backend = plans.Backend{Type: in.Backend.Type, Config: d.value(in.Backend.Config, nil, cty.NilVal), Workspace: in.Backend.Workspace}
	spoken, err := language.Parse(string(in.Language))
	if err != nil {
		d.fail("language: %w", err)
	}
	return &File{Language: spoken, Plan: p, Providers: d.providers()}, d.err
}

func (d *decoder) affected(w *wireAffected) *plans.Affected {
	if w == nil {
		return nil
	}
	out := &plans.Affected{Unread: w.Unread, UnreadData: w.UnreadData, Data: w.Data, Everything: w.Everything}
	var err error
	if out.Digests, err = digests.Decode(w.Digests); err != nil {
		d.fail("digests: %w", err)
	}
	if err := out.Since.UnmarshalBinary(w.Since); err != nil {
		d.fail("time of the last full read: %w", err)
	}
	return out
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// at returns element n of a table, counting from 1. Another n is an error.
func at[V any](d *decoder, table []V, n uint32) V {
	if n == 0 || int(n) > len(table) {
		d.fail("a reference leads nowhere")
		var zero V
		return zero
	}
	return table[n-1]
}

func (d *decoder) readTables() {
	for _, s := range d.in.Types {
		ty, err := ctyjson.UnmarshalType([]byte(s))
		if err != nil {
			d.fail("a type: %w", err)
			ty = cty.DynamicPseudoType
		}
		d.types = append(d.types, valueType{ty: ty})
	}
	for _, s := range d.in.Configs {
		d.configs = append(d.configs, parsed(d, s, addrs.ParseAbsProviderConfig))
	}
	for _, s := range d.in.Modules {
		d.modules = append(d.modules, parsed(d, s, addrs.ParseModuleInstance))
	}
	for _, r := range d.in.Resources {
		d.resources = append(d.resources, addrs.AbsResource{
			Module:   at(d, d.modules, r.Module),
			Resource: addrs.Resource{Mode: addrs.ResourceMode(r.Mode), Type: r.Type, Name: r.Name},
		})
	}
	for _, s := range d.in.Blocks {
		d.blocks = append(d.blocks, parsed(d, s, addrs.ParseConfigResource))
	}
	for _, numbers := range d.in.BlockLists {
		list := make([]addrs.ConfigResource, len(numbers))
		for i, n := range numbers {
			list[i] = at(d, d.blocks, n)
		}
		d.lists = append(d.lists, list)
	}
	d.stored = make([]*states.Dependencies, len(d.lists))
	for _, list := range d.in.PathLists {
		var paths []cty.Path
		for _, p := range list {
			paths = append(paths, d.path(p))
		}
		d.paths = append(d.paths, paths)
	}
}

func parsed[V any](d *decoder, s string, parse func(string) (V, error)) V {
	v, err := parse(s)
	if err != nil {
		d.fail("%w", err)
	}
	return v
}

func (d *decoder) path(p wirePath) cty.Path {
	out := make(cty.Path, len(p))
	for i, step := range p {
		if step.Key == nil {
			out[i] = cty.GetAttrStep{Name: step.Name}
			continue
		}
		out[i] = cty.IndexStep{Key: d.data(step.Key, cty.DynamicPseudoType)}
	}
	return out
}

// data is msgpack.Unmarshal for input that may be damaged. (msgpack.Unmarshal may panic on such input.)
func (d *decoder) data(src []byte, ty cty.Type) (v cty.Value) {
	defer func() {
		if p := recover(); p != nil {
			d.fail("a value: %v", p)
			v = cty.DynamicVal
		}
	}()
	if !fits(src) {
		d.fail("a value: %w", errCutOff)
		return cty.DynamicVal
	}
	v, err := msgpack.Unmarshal(src, ty)
	if err != nil {
		d.fail("a value: %w", err)
		return cty.DynamicVal
	}
	return v
}

func (d *decoder) resource(n uint32) addrs.AbsResource { return at(d, d.resources, n) }

func (d *decoder) key(k wireKey) addrs.InstanceKey {
	switch k.Kind {
	case 0:
		return addrs.NoKey
	case 1:
		return addrs.IntKey(k.Num)
	case 2:
		return addrs.StringKey(k.Str)
	}
	d.fail("an instance key of unknown kind")
	return addrs.NoKey
}

func (d *decoder) keys(list []wireKey) []addrs.InstanceKey {
	out := make([]addrs.InstanceKey, len(list))
	for i, k := range list {
		out[i] = d.key(k)
	}
	return out
}

func (d *decoder) instance(w wireInstance) addrs.AbsResourceInstance {
	return d.resource(w.Resource).Instance(d.key(w.Key))
}

func (d *decoder) targets(list []wireTarget) []addrs.Target {
	var out []addrs.Target
	for _, w := range list {
		out = append(out, addrs.Target{
			Module:   at(d, d.modules, w.Module),
			Resource: addrs.Resource{Mode: addrs.ResourceMode(w.Mode), Type: w.Type, Name: w.Name},
			Key:      d.key(w.Key),
		})
	}
	return out
}

func (d *decoder) instances() plans.Instances {
	out := plans.Instances{
		Calls:     make(map[plans.CallInstance][]addrs.InstanceKey, len(d.in.Calls)),
		Resources: make(map[addrs.AbsResource][]addrs.InstanceKey, len(d.in.Expanded)),
	}
	for _, c := range d.in.Calls {
		out.Calls[plans.CallInstance{Module: at(d, d.modules, c.Module), Call: c.Call}] = d.keys(c.Keys)
	}
	for _, r := range d.in.Expanded {
		out.Resources[d.resource(r.Resource)] = d.keys(r.Keys)
	}
	return out
}

func (d *decoder) providers() map[addrs.Provider]Selection {
	out := map[addrs.Provider]Selection{}
	for _, w := range d.in.Providers {
		out[parsed(d, w.Provider, addrs.ParseProvider)] = Selection{Version: w.Version, Hashes: w.Hashes}
	}
	return out
}

func (d *decoder) changes(list []wireChange) []*plans.ResourceChange {
	if list == nil {
		return nil
	}
	out := make([]*plans.ResourceChange, len(list))
	for i := range list {
		out[i] = d.change(&list[i])
	}
	return out
}

func (d *decoder) change(w *wireChange) *plans.ResourceChange {
	c := &plans.ResourceChange{
		Addr:   addrs.ResourceInstanceObject{Instance: d.instance(w.Addr), Deposed: addrs.DeposedKey(w.Deposed)},
		Reason: w.Reason, Private: w.Private, CreateBeforeDestroy: w.Cbd, KeepsOld: w.KeepsOld,
		Change: plans.Change{Action: w.Action, Importing: d.importing(w.Importing), GeneratedConfig: w.Generated},
	}
	c.PrevAddr = c.Addr.Instance
	if w.PrevAddr != nil {
		c.PrevAddr = d.instance(*w.PrevAddr)
	}
	if w.Provider != 0 {
		c.Provider = at(d, d.configs, w.Provider)
	}
	c.Schema = d.schema(c.Provider.Provider, c.Addr.Instance.Resource.Resource)
	object := d.object(d.plan.PriorState, c.Addr)
	c.Before = d.value(w.Before, object, cty.NilVal)
	c.After = d.value(w.After, object, c.Before)
	c.BeforeIdentity = d.value(w.BeforeIdentity, nil, cty.NilVal)
	c.AfterIdentity = d.value(w.AfterIdentity, nil, c.BeforeIdentity)
	if w.Replace != 0 {
		c.RequiredReplace = at(d, d.paths, w.Replace)
	}
	if w.ConfigDeps != 0 {
		c.ConfigDeps = at(d, d.lists, w.ConfigDeps)
	}
	c.StoredDeps = d.storedDeps(w, c, object)
	return c
}

func (d *decoder) invocation(w *wireInvocation) *plans.Invocation {
	x := &plans.Invocation{
		Addr: d.instance(w.Addr), Provider: at(d, d.configs, w.Provider), Config: d.value(w.Config, nil, cty.NilVal),
		Caller: d.maybeInstance(w.Caller), Event: w.Event, Trigger: w.Trigger, Index: w.Index, OnFailure: w.OnFailure, Pending: w.Pending,
	}
	x.Schema = d.schema(x.Provider.Provider, x.Addr.Resource.Resource)
	return x
}

func (d *decoder) maybeInstance(w *wireInstance) addrs.AbsResourceInstance {
	if w == nil {
		return addrs.AbsResourceInstance{}
	}
	return d.instance(*w)
}

func (d *decoder) object(s *states.State, a addrs.ResourceInstanceObject) *states.Object {
	if s == nil {
		return nil
	}
	return s.Object(a)
}

// schema returns the schema of a resource type. It asks the caller of [Decode] only once for each type.
func (d *decoder) schema(p addrs.Provider, r addrs.Resource) *schema.Schema {
	if d.opts.Schema == nil {
		return nil
	}
	k := schemaKey{p, r.Mode, r.Type}
	s, ok := d.schemas[k]
	if !ok {
		s = d.opts.Schema(k.provider, r.Mode.String(), r.Type)
		d.schemas[k] = s
	}
	return s
}

func (d *decoder) storedDeps(w *wireChange, c *plans.ResourceChange, prior *states.Object) *states.Dependencies {
	switch w.StoredWhere {
	case depsNone:
		return nil
	case depsPrior:
		if prior != nil {
			return prior.Dependencies
		}
	case depsPrev:
		if o := d.object(d.plan.PrevRunState, addrs.ResourceInstanceObject{Instance: c.PrevAddr, Deposed: c.Addr.Deposed}); o != nil {
			return o.Dependencies
		}
	case depsListed:
		list := at(d, d.lists, w.StoredDeps)
		if d.err == nil && d.stored[w.StoredDeps-1] == nil {
			d.stored[w.StoredDeps-1] = states.ListedDependencies(func() []addrs.ConfigResource { return list })
		}
		if d.err == nil {
			return d.stored[w.StoredDeps-1]
		}
	}
	d.fail("dependencies of %s are missing", c.Addr)
	return nil
}

func (d *decoder) importing(w *wireImporting) *plans.Importing {
	if w == nil {
		return nil
	}
	return &plans.Importing{ID: w.ID, Identity: d.value(w.Identity, nil, cty.NilVal), Unknown: w.Unknown}
}

func (d *decoder) output(w wireOutput) *plans.OutputChange {
	o := &plans.OutputChange{Name: w.Name, Sensitive: w.Sensitive}
	o.Action, o.Importing, o.GeneratedConfig = w.Action, d.importing(w.Importing), w.Generated
	o.Before = d.value(w.Before, nil, cty.NilVal)
	o.After = d.value(w.After, nil, o.Before)
	return o
}

// value returns the value that w describes. The file may have the value in w itself. Otherwise it is the value
// of the object prior in the prior state, or before, the value that the change has before the action.
func (d *decoder) value(w wireValue, prior *states.Object, before cty.Value) cty.Value {
	var v cty.Value
	switch w.Where {
	case valueAbsent:
		return cty.NilVal
	case valueBefore:
		if before == cty.NilVal {
			d.fail("a value is missing")
		}
		return before
	case valueHere:
		v = d.data(w.Data, at(d, d.types, w.Type).ty)
	case valuePrior:
		v = d.attributes(w, prior)
	default:
		d.fail("a value at an unknown place")
	}
	if d.err != nil {
		return cty.DynamicVal
	}
	if w.Sensitive != 0 {
		v = marks.At(v, marks.Sensitive, at(d, d.paths, w.Sensitive))
	}
	return v
}

func (d *decoder) attributes(w wireValue, o *states.Object) cty.Value {
	if at(d, d.types, w.Type); d.err != nil {
		return cty.DynamicVal
	}
	t := &d.types[w.Type-1]
	if o == nil || t.ty == cty.DynamicPseudoType {
		d.fail("an object is missing in the prior state")
		return cty.DynamicVal
	}
	if t.json == nil {
		t.json = jsonvalues.NewCodec(t.ty)
	}
	v, err := t.json.Parse(o.AttrsJSON)
	if err != nil {
		d.fail("attributes: %w", err)
		return cty.DynamicVal
	}
	if o.Value == cty.NilVal {
		o.Value = marks.At(v, marks.Sensitive, o.Sensitive) // may be changed here: nobody else has the object yet
	}
	return v
}
