package planfile

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A maker makes random plans.
type maker struct {
	*rand.Rand
	schemas map[string]*schema.Schema // by resource type
	deps    []*states.Dependencies
}

func newMaker(seed uint64) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), schemas: map[string]*schema.Schema{}}
	for _, name := range []string{"t_one", "t_two", "t_three"} {
		b := &schema.Block{Attributes: map[string]*schema.Attribute{
			"id": {Type: cty.String, Computed: true},
		}}
		for i := range 1 + m.IntN(5) {
			b.Attributes[fmt.Sprintf("a%d", i)] = &schema.Attribute{Type: m.typ(2), Optional: true}
		}
		m.schemas[name] = &schema.Schema{Version: int64(m.IntN(3)), Block: b}
	}
	return m
}

func (m *maker) schema(_ addrs.Provider, mode, name string) *schema.Schema {
	return m.schemas[name]
}

func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

func (m *maker) typ(depth int) cty.Type {
	n := 4
	if depth > 0 {
		n = 9
	}
	switch m.IntN(n) {
	case 0:
		return cty.Number
	case 1:
		return cty.Bool
	case 2:
		return cty.DynamicPseudoType
	case 3:
		return cty.String
	case 4:
		return cty.List(m.concrete(depth - 1))
	case 5:
		return cty.Set(m.concrete(depth - 1))
	case 6:
		return cty.Map(m.concrete(depth - 1))
	case 7:
		return cty.Tuple([]cty.Type{m.typ(depth - 1), m.typ(depth - 1)})
	}
	return cty.Object(map[string]cty.Type{"x": m.typ(depth - 1), "y": m.typ(depth - 1)})
}

// concrete is for elements of collections, which have to be of one type.
func (m *maker) concrete(depth int) cty.Type {
	for {
		if ty := m.typ(depth); !ty.HasDynamicTypes() {
			return ty
		}
	}
}

// value returns a value of type ty; with parts that are not known if unknown is set.
func (m *maker) value(ty cty.Type, unknown bool) cty.Value {
	switch {
	case ty == cty.DynamicPseudoType:
		if unknown && m.chance(10) {
			return cty.DynamicVal
		}
		return m.value(m.concrete(1), unknown)
	case unknown && m.chance(15):
		return m.refined(cty.UnknownVal(ty))
	case m.chance(10):
		return cty.NullVal(ty)
	}
	var list []cty.Value
	if ty.IsCollectionType() {
		for range m.IntN(3) {
			list = append(list, m.value(ty.ElementType(), unknown))
		}
	}
	switch {
	case ty == cty.String:
		return cty.StringVal([]string{"", "a", "<é\u2028>", "line\nline", "x${y}"}[m.IntN(5)])
	case ty == cty.Number:
		return []cty.Value{cty.NumberIntVal(m.Int64()), cty.NumberFloatVal(m.Float64()), cty.MustParseNumberVal("123456789012345678901234567890.5"), cty.Zero}[m.IntN(4)]
	case ty == cty.Bool:
		return cty.BoolVal(m.chance(50))
	case ty.IsCollectionType() && len(list) == 0:
		return map[bool]cty.Value{ty.IsListType(): cty.ListValEmpty(ty.ElementType()), ty.IsSetType(): cty.SetValEmpty(ty.ElementType()), ty.IsMapType(): cty.MapValEmpty(ty.ElementType())}[true]
	case ty.IsListType():
		return cty.ListVal(list)
	case ty.IsSetType():
		return cty.SetVal(list)
	case ty.IsMapType():
		all := map[string]cty.Value{}
		for i, v := range list {
			all[fmt.Sprint("k", i)] = v
		}
		return cty.MapVal(all)
	case ty.IsTupleType():
		for _, ety := range ty.TupleElementTypes() {
			list = append(list, m.value(ety, unknown))
		}
		return cty.TupleVal(list)
	}
	all := map[string]cty.Value{}
	atys := ty.AttributeTypes()
	for _, name := range slices.Sorted(maps.Keys(atys)) {
		all[name] = m.value(atys[name], unknown)
	}
	return cty.ObjectVal(all)
}

func (m *maker) refined(v cty.Value) cty.Value {
	ty := v.Type()
	switch {
	case m.chance(50):
		return v
	case ty == cty.String:
		return v.Refine().NotNull().StringPrefixFull("ami-").NewValue()
	case ty == cty.Number:
		return v.Refine().NumberRangeLowerBound(cty.Zero, true).NewValue()
	case ty.IsCollectionType():
		return v.Refine().NotNull().CollectionLengthUpperBound(4).NewValue()
	}
	return v.RefineNotNull()
}

// marked marks parts of v as sensitive.
func (m *maker) marked(v cty.Value) cty.Value {
	if m.chance(50) {
		return v
	}
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if m.chance(10) {
			return v.Mark(marks.Sensitive), nil
		}
		return v, nil
	})
	if err != nil {
		panic(err)
	}
	return out
}

func (m *maker) key() addrs.InstanceKey {
	switch m.IntN(3) {
	case 0:
		return addrs.NoKey
	case 1:
		return addrs.IntKey(m.IntN(12))
	}
	return addrs.StringKey([]string{"a", "ü\"\\", "a.b[0]", "${x}", "\n"}[m.IntN(5)])
}

func (m *maker) module() addrs.ModuleInstance {
	out := addrs.RootModuleInstance
	for range m.IntN(3) {
		out = out.Child([]string{"net", "app"}[m.IntN(2)], m.key())
	}
	return out
}

func (m *maker) resource() addrs.AbsResource {
	names := slices.Sorted(maps.Keys(m.schemas))
	mode := addrs.Managed
	if m.chance(20) {
		mode = addrs.Data
	}
	return addrs.AbsResource{Module: m.module(), Resource: addrs.Resource{Mode: mode, Type: names[m.IntN(len(names))], Name: fmt.Sprint("n", m.IntN(4))}}
}

func (m *maker) path() cty.Path {
	p := cty.GetAttrPath("a0")
	for range m.IntN(3) {
		switch m.IntN(4) {
		case 0:
			p = p.GetAttr("x")
		case 1:
			p = p.IndexInt(m.IntN(3))
		case 2:
			p = p.IndexString("k")
		case 3:
			p = p.Index(m.value(cty.Object(map[string]cty.Type{"x": cty.String}), false))
		}
	}
	return p
}

func (m *maker) object(s *schema.Schema, private string) *states.Object {
	v := m.value(s.Block.ImpliedType(), false)
	for v.IsNull() {
		v = m.value(s.Block.ImpliedType(), false)
	}
	src, err := jsonvalues.Append(nil, v, s.Block.ImpliedType())
	if err != nil {
		panic(err)
	}
	value := m.marked(v)
	_, paths := marks.Paths(value, marks.Sensitive)
	o := &states.Object{Status: states.Ready, SchemaVersion: s.Version, AttrsJSON: src, Sensitive: states.SortPaths(paths), Private: []byte(private), Dependencies: m.someDeps()}
	if m.chance(50) {
		o.Identity = states.Identity{Version: int64(m.IntN(3)), JSON: []byte(`{"name":"n"}`)}
	}
	if m.chance(70) {
		o.Value = value
	}
	if m.chance(10) {
		o.Status = states.Tainted
	}
	return o
}

func (m *maker) someDeps() *states.Dependencies {
	var d *states.Dependencies
	switch {
	case len(m.deps) == 0 || m.chance(20):
		return nil
	case m.chance(20):
		d = states.MergeDependencies(m.deps[m.IntN(len(m.deps))], m.deps[m.IntN(len(m.deps))])
	default:
		d = states.DirectDependencies([]states.Dependency{{Resource: m.resource().Config(), Further: m.deps[m.IntN(len(m.deps))]}})
	}
	return d
}

func (m *maker) states() (prev, prior *states.State) {
	e := states.Empty().With("a lineage", m.Uint64()>>1).Edit()
	m.deps = []*states.Dependencies{nil}
	for range m.IntN(12) {
		a := addrs.ResourceInstanceObject{Instance: m.resource().Instance(m.key())}
		if m.chance(10) {
			a.Deposed = "0123abcd"
		}
		o := m.object(m.schemas[a.Instance.Resource.Resource.Type], "private")
		m.deps = append(m.deps, o.Dependencies)
		e.SetObject(a, m.provider(), o)
	}
	e.SetOutput("known", states.Output{Value: m.value(cty.DynamicPseudoType, false), Sensitive: m.chance(50)})
	prev = e.State()
	prev.TerraformVersion = "1.9.0"
	if m.chance(20) {
		return prev, prev
	}
	e = prev.Edit()
	for _, a := range objects(prev) {
		p := prev.Resource(a.Instance.AbsResource()).Provider
		switch m.IntN(4) {
		case 0:
			e.SetObject(a, p, nil)
		case 1:
			e.SetObject(a, p, m.object(m.schemas[a.Instance.Resource.Resource.Type], "refreshed"))
		case 2: // made anew, but the same
			o := *prev.Object(a)
			e.SetObject(a, p, &o)
		}
	}
	e.SetOutput("more", states.Output{Value: cty.True})
	e.SetChecks([]states.CheckResult{{Kind: "check", ConfigAddr: "check.c", Status: "pass"}})
	return prev, e.State()
}

// objects lists what a state holds, sorted.
func objects(s *states.State) []addrs.ResourceInstanceObject {
	var all []addrs.ResourceInstanceObject
	for a, r := range s.Resources() {
		for k, in := range r.Instances {
			if in.Current != nil {
				all = append(all, addrs.ResourceInstanceObject{Instance: a.Instance(k)})
			}
			for d := range in.Deposed {
				all = append(all, addrs.ResourceInstanceObject{Instance: a.Instance(k), Deposed: d})
			}
		}
	}
	slices.SortFunc(all, func(a, b addrs.ResourceInstanceObject) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

func (m *maker) provider() addrs.AbsProviderConfig {
	pc := addrs.AbsProviderConfig{Module: m.module().Module(), Provider: addrs.DefaultProvider("t"), Alias: []string{"", "west"}[m.IntN(2)]}
	if pc.Alias != "" && m.chance(30) {
		pc.Key = addrs.StringKey([]string{"eu", "a\"]."}[m.IntN(2)])
	}
	return pc
}

// identity returns an identity, or none.
func (m *maker) identity(unknown bool) cty.Value {
	switch {
	case m.chance(30):
		return cty.NilVal
	case unknown && m.chance(30):
		return cty.ObjectVal(map[string]cty.Value{"name": cty.UnknownVal(cty.String), "zone": cty.NullVal(cty.Number)})
	}
	return cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("n"), "zone": cty.NumberIntVal(int64(m.IntN(3)))})
}

func (m *maker) change(a addrs.ResourceInstanceObject, prev, prior *states.State) *plans.ResourceChange {
	s := m.schemas[a.Instance.Resource.Resource.Type]
	ty := s.Block.ImpliedType()
	c := &plans.ResourceChange{Addr: a, PrevAddr: a.Instance, Provider: m.provider(), Schema: s, CreateBeforeDestroy: m.chance(50), KeepsOld: m.chance(10)}
	c.Before, c.After = cty.NullVal(ty), cty.NullVal(ty)
	if o := prior.Object(a); o != nil {
		c.StoredDeps = o.Dependencies
		c.Before = m.marked(m.value(ty, false))
		if o.Value != cty.NilVal && m.chance(80) {
			c.Before = o.Value
		}
	} else if o := prev.Object(a); o != nil {
		c.StoredDeps = o.Dependencies
	} else {
		c.StoredDeps = m.someDeps()
	}
	switch m.IntN(5) {
	case 0:
		c.Action, c.After = plans.NoOp, c.Before
		c.BeforeIdentity = m.identity(false)
		c.AfterIdentity = c.BeforeIdentity
	case 1:
		c.BeforeIdentity = m.identity(false)
		c.Action = plans.Delete
	case 2:
		c.Action, c.Before = plans.Create, cty.NullVal(ty)
		c.After = m.marked(m.value(ty, true))
		c.Importing = &plans.Importing{ID: "i-1", Unknown: m.chance(50)}
		if m.chance(50) {
			c.Importing = &plans.Importing{Identity: m.identity(false)}
		}
		c.AfterIdentity = m.identity(true)
		c.GeneratedConfig = "resource {}\n"
	case 3:
		c.Action, c.Reason, c.Private = plans.CreateThenDelete, plans.ReasonReplaceBecauseCannot, []byte{0, 255}
		c.After = m.marked(m.value(ty, true))
		c.RequiredReplace = []cty.Path{m.path(), m.path()}
		c.PrevAddr = m.resource().Instance(m.key())
	case 4: // a type that the provider no longer knows
		c.Schema = nil
		c.After = m.marked(m.value(cty.DynamicPseudoType, true))
		c.ConfigDeps = []addrs.ConfigResource{}
	}
	for range m.IntN(3) {
		c.ConfigDeps = append(c.ConfigDeps, m.resource().Config())
	}
	return c
}

// invocation makes one by a trigger, or by the option -invoke.
func (m *maker) invocation() *plans.Invocation {
	r := m.resource()
	s := m.schemas[r.Resource.Type]
	x := &plans.Invocation{
		Addr:     addrs.AbsResource{Module: r.Module, Resource: addrs.Resource{Mode: addrs.Action, Type: r.Resource.Type, Name: "n"}}.Instance(m.key()),
		Provider: addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, Schema: s, Config: m.marked(m.value(s.Block.ImpliedType(), true)),
	}
	if m.chance(70) {
		x.Caller, x.Event, x.Trigger, x.Index = r.Instance(m.key()), config.AfterUpdate, m.IntN(3), m.IntN(3)
		x.OnFailure, x.Pending = config.Continue, m.chance(50)
	}
	return x
}

func (m *maker) plan() *plans.Plan {
	prev, prior := m.states()
	p := &plans.Plan{
		Mode: plans.RefreshOnlyMode, Errored: m.chance(50), Applyable: m.chance(50), Complete: m.chance(50),
		PrevRunState: prev, PriorState: prior,
		Checks:             []states.CheckResult{{Kind: "resource", ConfigAddr: "t.a", Status: "fail", Objects: []states.CheckObject{{Addr: "t.a[0]", Status: "fail", Failures: []string{"<no>"}}}}},
		Variables:          map[string]cty.Value{"v": m.value(cty.DynamicPseudoType, false), "w": cty.NullVal(cty.String)},
		EphemeralVariables: []string{"token"},
		Targets:            []addrs.Target{{Module: m.module(), Resource: m.resource().Resource, Key: m.key()}, {Module: addrs.RootModuleInstance.Child("m", m.key())}},
		Excludes:           []addrs.Target{{Resource: m.resource().Resource}},
		Waiting:            []addrs.Target{{Resource: m.resource().Resource}},
		ForceReplace:       []addrs.AbsResourceInstance{m.resource().Instance(m.key())},
		Relevant:           []plans.RelevantAttribute{{Resource: m.resource().Instance(m.key()), Attribute: m.path()}},
		Instances:          plans.Instances{Calls: map[plans.CallInstance][]addrs.InstanceKey{}, Resources: map[addrs.AbsResource][]addrs.InstanceKey{}},
		Timestamp:          time.Date(2026, 11, 2, 3, 4, 5, m.IntN(1e9), time.UTC),
		Backend:            plans.Backend{Type: "s3", Config: cty.ObjectVal(map[string]cty.Value{"bucket": cty.StringVal("b"), "key": cty.NullVal(cty.String)}), Workspace: "default"},
	}
	for range m.IntN(4) {
		p.Invocations = append(p.Invocations, m.invocation())
	}
	if m.chance(50) {
		p.Invoke = m.invocation().Addr
	}
	for range m.IntN(8) {
		p.Changes = append(p.Changes, m.change(addrs.ResourceInstanceObject{Instance: m.resource().Instance(m.key())}, prev, prior))
		p.Instances.Calls[plans.CallInstance{Module: m.module(), Call: "net"}] = []addrs.InstanceKey{m.key(), m.key()}
		p.Instances.Resources[m.resource()] = []addrs.InstanceKey{}
	}
	for _, s := range []*states.State{prev, prior} {
		for _, a := range objects(s) {
			if a.Deposed != addrs.NotDeposed {
				p.Changes = append(p.Changes, m.change(a, prev, prior))
			} else {
				p.Drift = append(p.Drift, m.change(a, prev, prior))
			}
		}
	}
	for _, name := range []string{"a", "b"} {
		v := m.marked(m.value(cty.DynamicPseudoType, true))
		p.Outputs = append(p.Outputs, &plans.OutputChange{Name: name, Sensitive: m.chance(50), Change: plans.Change{Action: plans.Update, Before: cty.NullVal(cty.DynamicPseudoType), After: v}})
	}
	p.Outputs = append(p.Outputs, &plans.OutputChange{Name: "same", Change: plans.Change{Action: plans.NoOp, Before: cty.True, After: cty.True}})
	return p
}
