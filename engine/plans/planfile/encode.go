package planfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// An encoder turns a plan into wire types.
type encoder struct {
	*tables
	plan *plans.Plan
	out  *wirePlan
	err  error // the first error
}

// encodePlan returns the member "plan" and the state files beside it.
func encodePlan(f *File) ([]byte, []stateMember, error) {
	p := f.Plan
	out := &wirePlan{
		Language: f.Language, Mode: p.Mode, Errored: p.Errored, Applyable: p.Applyable, Complete: p.Complete,
		Checks: p.Checks, Ephemerals: p.EphemeralVariables,
	}
	e := &encoder{tables: newTables(out), plan: p, out: out}
	files, err := e.states()
	if err != nil {
		return nil, nil, err
	}
	out.Changes, out.Drift = e.changes(p.Changes), e.changes(p.Drift)
	for _, x := range p.Invocations {
		out.Invocations = append(out.Invocations, e.invocation(x))
	}
	for _, o := range p.Outputs {
		out.Outputs = append(out.Outputs, e.output(o))
	}
	for _, r := range p.Relevant {
		attr, err := path(r.Attribute)
		e.fail(err, "relevant attribute of %s", r.Resource)
		out.Relevant = append(out.Relevant, wireRelevant{Resource: e.instance(r.Resource), Attribute: attr})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		v := e.anyValue(p.Variables[name], "variable "+name)
		out.Variables = append(out.Variables, wireNamed{Name: name, Value: v})
	}
	out.Targets, out.Excludes, out.Waiting = e.targets(p.Targets), e.targets(p.Excludes), e.targets(p.Waiting)
	out.Invoke = e.maybeInstance(p.Invoke)
	for _, a := range p.ForceReplace {
		out.Replace = append(out.Replace, e.instance(a))
	}
	e.instances(p.Instances)
	if a := p.Affected; a != nil {
		out.Affected = &wireAffected{Unread: a.Unread, UnreadData: a.UnreadData, Data: a.Data, Everything: a.Everything, Digests: a.Digests.Encode()}
		out.Affected.Since, err = a.Since.MarshalBinary()
		e.fail(err, "time of the last full read")
	}
	out.Timestamp, err = p.Timestamp.MarshalBinary()
	e.fail(err, "timestamp")
	out.Backend = wireBackend{Type: p.Backend.Type, Config: e.anyValue(p.Backend.Config, "backend"), Workspace: p.Backend.Workspace}
	for _, a := range slices.SortedFunc(maps.Keys(f.Providers), addrs.Provider.Compare) {
		s := f.Providers[a]
		out.Providers = append(out.Providers, wireSelection{Provider: a.String(), Version: s.Version, Hashes: s.Hashes})
	}
	if e.err != nil {
		return nil, nil, e.err
	}
	c := &coder{}
	out.code(c)
	return c.buf, files, nil
}

func (e *encoder) fail(err error, format string, args ...any) {
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("encode plan: %s: %w", fmt.Sprintf(format, args...), err)
	}
}

func (e *encoder) changes(list []*plans.ResourceChange) []wireChange {
	if list == nil {
		return nil
	}
	out := make([]wireChange, len(list))
	for i, c := range list {
		out[i] = e.change(c)
	}
	return out
}

func (e *encoder) change(c *plans.ResourceChange) wireChange {
	c = c.Decoded()
	t, err := e.schema(c.Schema)
	e.fail(err, "%s", c.Addr)
	w := wireChange{
		Addr:      e.instance(c.Addr.Instance),
		Deposed:   string(c.Addr.Deposed),
		Provider:  e.config(c.Provider),
		Action:    c.Action,
		Importing: e.importing(c.Importing),
		Generated: c.GeneratedConfig,
		Reason:    c.Reason,
		Private:   c.Private,
		Cbd:       c.CreateBeforeDestroy,
		KeepsOld:  c.KeepsOld,

		ConfigDeps: e.blockList(c.ConfigDeps),
	}
	if c.PrevAddr != c.Addr.Instance {
		prev := e.instance(c.PrevAddr)
		w.PrevAddr = &prev
	}
	prior := cty.NilVal
	if s := e.plan.PriorState; s != nil {
		if o := s.Object(c.Addr); o != nil && o.AttrsJSON != nil && c.Schema != nil {
			if prior = o.Value; prior == cty.NilVal && o.SchemaVersion == c.Schema.Version {
				prior, _ = c.Schema.Stored(o.AttrsJSON, o.Sensitive) // after an error, the value is in the file twice
			}
		}
	}
	w.Before = e.value(c.Before, t, prior, valuePrior, c.Addr)
	switch {
	case c.Before != cty.NilVal && c.After != cty.NilVal && c.Before.RawEquals(c.After):
		w.After.Where = valueBefore
	default:
		w.After = e.value(c.After, t, prior, valuePrior, c.Addr)
	}
	if w.BeforeIdentity = e.identity(c.BeforeIdentity); c.BeforeIdentity != cty.NilVal && c.AfterIdentity != cty.NilVal && c.BeforeIdentity.RawEquals(c.AfterIdentity) {
		w.AfterIdentity.Where = valueBefore
	} else {
		w.AfterIdentity = e.identity(c.AfterIdentity)
	}
	w.Replace, err = e.pathList(c.RequiredReplace)
	e.fail(err, "%s", c.Addr)
	w.StoredWhere, w.StoredDeps = e.storedDeps(c)
	return w
}

// storedDeps encodes the stored dependencies of c. The first result says where the file has them:
//
//   - depsNone: c has none.
//   - depsPrior, depsPrev: at the same object in the prior state, or in the state before; this is usual.
//   - depsListed: in the table of lists. The second result is the number of the list.
func (e *encoder) storedDeps(c *plans.ResourceChange) (byte, uint32) {
	if c.StoredDeps == nil {
		return depsNone, 0
	}
	if s := e.plan.PriorState; s != nil {
		if o := s.Object(c.Addr); o != nil && o.Dependencies == c.StoredDeps {
			return depsPrior, 0
		}
	}
	if s := e.plan.PrevRunState; s != nil {
		if o := s.Object(addrs.ResourceInstanceObject{Instance: c.PrevAddr, Deposed: c.Addr.Deposed}); o != nil && o.Dependencies == c.StoredDeps {
			return depsPrev, 0
		}
	}
	return depsListed, e.blockList(c.StoredDeps.All())
}

func (e *encoder) invocation(x *plans.Invocation) wireInvocation {
	t, err := e.schema(x.Schema)
	e.fail(err, "%s", x.Addr)
	return wireInvocation{
		Addr: e.instance(x.Addr), Provider: e.config(x.Provider), Config: e.value(x.Config, t, cty.NilVal, valueAbsent, x.Addr),
		Caller: e.maybeInstance(x.Caller), Event: x.Event, Trigger: x.Trigger, Index: x.Index, OnFailure: x.OnFailure, Pending: x.Pending,
	}
}

// maybeInstance encodes an instance. It returns nil for the zero value, which means no instance.
func (e *encoder) maybeInstance(a addrs.AbsResourceInstance) *wireInstance {
	if a == (addrs.AbsResourceInstance{}) {
		return nil
	}
	w := e.instance(a)
	return &w
}

func (e *encoder) importing(i *plans.Importing) *wireImporting {
	if i == nil {
		return nil
	}
	return &wireImporting{ID: i.ID, Identity: e.identity(i.Identity), Unknown: i.Unknown}
}

func (e *encoder) output(o *plans.OutputChange) wireOutput {
	w := wireOutput{
		Name: o.Name, Action: o.Action, Sensitive: o.Sensitive,
		Importing: e.importing(o.Importing), Generated: o.GeneratedConfig,
		Before: e.anyValue(o.Before, "output "+o.Name),
	}
	if o.Before != cty.NilVal && o.After != cty.NilVal && o.Before.RawEquals(o.After) {
		w.After.Where = valueBefore
	} else {
		w.After = e.anyValue(o.After, "output "+o.Name)
	}
	return w
}

// identity encodes an identity. The type of the identity is in the table of types, which the identities of
// other objects share.
func (e *encoder) identity(v cty.Value) wireValue {
	if v == cty.NilVal {
		return wireValue{}
	}
	index, err := e.typ(v.Type())
	e.fail(err, "identity")
	return e.value(v, typeEntry{index: index, ty: v.Type()}, cty.NilVal, valueAbsent, "identity")
}

func (e *encoder) anyValue(v cty.Value, what string) wireValue {
	t, err := e.schema(nil)
	e.fail(err, "%s", what)
	return e.value(v, t, cty.NilVal, valueAbsent, what)
}

// value encodes v. Often v equals another value in the file, earlier. Then value encodes only where, a constant
// that says where the file has earlier. t is the usual type of v. The parameter what names the value in errors.
func (e *encoder) value(v cty.Value, t typeEntry, earlier cty.Value, where byte, what any) wireValue {
	if v == cty.NilVal {
		return wireValue{}
	}
	w := wireValue{Where: valueHere, Type: t.index}
	plain := v
	if hasMarks(v) {
		if marks.Contains(v, marks.Ephemeral) {
			panic(fmt.Sprintf("planfile: an ephemeral value of %s is in the plan", what))
		}
		var paths []cty.Path
		var err error
		plain, paths = marks.Paths(v, marks.Sensitive)
		w.Sensitive, err = e.pathList(states.SortPaths(paths))
		e.fail(err, "%s", what)
	}
	if earlier != cty.NilVal && v.RawEquals(earlier) {
		w.Where = where
		return w
	}
	var err error
	if ty := plain.Type(); !ty.Equals(t.ty) {
		t, err = e.holding(t, ty)
		e.fail(err, "%s", what)
		w.Type = t.index
	}
	w.Data, err = msgpack.Marshal(plain, t.ty)
	e.fail(err, "%s", what)
	return w
}

// hasMarks reports the same as v.ContainsMarked, but faster: it does not sort sets and maps.
func hasMarks(v cty.Value) bool {
	ty := v.Type()
	switch {
	case v.IsMarked():
		return true
	case !v.IsKnown() || v.IsNull() || ty.IsPrimitiveType() || ty.IsSetType(): // a set itself carries the marks of its elements
		return false
	case ty.IsObjectType():
		for name := range ty.AttributeTypes() {
			if hasMarks(v.GetAttr(name)) {
				return true
			}
		}
		return false
	case ty.IsCollectionType() || ty.IsTupleType():
		for _, x := range v.Elements() {
			if hasMarks(x) {
				return true
			}
		}
		return false
	}
	return marks.Any(v)
}

// instances writes the maps in sorted order, so that equal plans give equal bytes.
func (e *encoder) instances(x plans.Instances) {
	calls := slices.SortedFunc(maps.Keys(x.Calls), func(a, b plans.CallInstance) int {
		return cmp.Or(cmp.Compare(a.Module.String(), b.Module.String()), cmp.Compare(a.Call, b.Call))
	})
	for _, c := range calls {
		e.out.Calls = append(e.out.Calls, wireCall{Module: e.module(c.Module), Call: c.Call, Keys: keys(x.Calls[c])})
	}
	for _, a := range slices.SortedFunc(maps.Keys(x.Resources), byText) {
		e.out.Expanded = append(e.out.Expanded, wireExpanded{Resource: e.resource(a), Keys: keys(x.Resources[a])})
	}
}

func byText(a, b addrs.AbsResource) int {
	return cmp.Or(cmp.Compare(a.Module.String(), b.Module.String()), a.Resource.Compare(b.Resource))
}
