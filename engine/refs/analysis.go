package refs

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// analysis finds the references in the content of one module.
type analysis struct {
	r       *Refs
	module  *config.Module // a module with this content
	content *config.Content
	uses    map[addrs.Object][]*Reference
	ds      diags.Diagnostics

	ofContent []*Reference
	scoped    map[addrs.Resource]string                // by data source inside a check block: the name of the check
	check     string                                   // the name of the check block being analysed
	providers map[addrs.LocalProviderConfig]*Reference // one reference for all resources with the same provider configuration
}

// all analyses every declaration of the content, in a stable order.
func (a *analysis) all() {
	a.blocks()
	a.imports()
	a.lists()
}

// lists analyses list blocks. Nothing refers to them.
func (a *analysis) lists() {
	for _, l := range a.content.Lists {
		for _, x := range append(l.Expressions(), l.IncludeResource, l.Limit) {
			a.find(x)
		}
		if l.Config != nil {
			ts := bodyVariables(l.Config)
			a.ds = append(a.ds, Scope{Count: l.Count != nil, Each: l.ForEach != nil}.Check(ts)...)
			a.r.blocks[l] = a.resolve(ts, true)
		}
	}
}

// blocks analyses the same declarations as [analysis.all], except import and list blocks.
func (a *analysis) blocks() {
	c := a.content
	for n, x := range c.Checks {
		if x.Data != nil {
			if a.scoped == nil {
				a.scoped = map[addrs.Resource]string{}
			}
			a.scoped[x.Data.Addr] = n
		}
	}
	for _, n := range slices.Sorted(maps.Keys(c.Variables)) {
		a.conditions(a.declare(addrs.Object{Kind: addrs.KindVariable, Name: n}), c.Variables[n].Validations)
	}
	for _, n := range slices.Sorted(maps.Keys(c.Locals)) {
		a.expr(a.declare(addrs.Object{Kind: addrs.KindLocal, Name: n}), c.Locals[n].Expr)
	}
	for _, n := range slices.Sorted(maps.Keys(c.Outputs)) {
		o := a.declare(addrs.Object{Kind: addrs.KindOutput, Name: n})
		a.expr(o, c.Outputs[n].Expr)
		a.conditions(o, c.Outputs[n].Preconditions)
		a.dependsOn(o, c.Outputs[n].DependsOn)
	}
	for _, n := range slices.Sorted(maps.Keys(c.Calls)) {
		a.call(a.declare(addrs.Object{Kind: addrs.KindCall, Name: n}), c.Calls[n])
	}
	for _, r := range slices.SortedFunc(maps.Keys(c.Actions), addrs.Resource.Compare) {
		a.action(c.Actions[r])
	}
	for _, r := range slices.SortedFunc(maps.Keys(c.Resources), addrs.Resource.Compare) {
		a.resource(c.Resources[r])
		a.triggers(c.Resources[r])
	}
	for _, p := range slices.SortedFunc(maps.Values(c.Providers), func(x, y *config.Provider) int {
		return compareStrings(x.Addr.String(), y.Addr.String())
	}) {
		o := a.declare(addrs.Object{Kind: addrs.KindProvider, Name: p.Addr.String()})
		a.expr(o, p.ForEach) // ForEach is evaluated even if nobody uses the provider
		if a.r.unused[p] || p.Mocked || p.Context != nil {
			continue
		}
		a.block(o, p, p.Body, Scope{Each: p.ForEach != nil})
	}
	for _, n := range slices.Sorted(maps.Keys(c.Checks)) {
		o := a.declare(addrs.Object{Kind: addrs.KindCheck, Name: n})
		a.check = n
		a.conditions(o, c.Checks[n].Asserts)
		a.check = ""
		if d := c.Checks[n].Data; d != nil {
			a.use(o, &Reference{Object: addrs.Object{Kind: addrs.KindResource, Res: d.Addr}})
		}
	}
}

// call finds the references of a module call. References in its arguments are not dependencies of o: they are
// dependencies of the variables in the called module.
func (a *analysis) call(o addrs.Object, call *config.Call) {
	for _, x := range call.Repetition.Expressions() {
		a.expr(o, x)
	}
	for _, p := range call.Providers {
		a.expr(o, p.InParentKey)
	}
	a.dependsOn(o, call.DependsOn)
	for _, arg := range slices.Sorted(maps.Keys(call.Args)) {
		a.find(call.Args[arg].Expr)
	}
}

// imports analyses the expressions of import blocks: see [Refs.Imports].
func (a *analysis) imports() {
	for _, im := range a.content.Imports {
		a.find(im.ID)
		a.find(im.Identity)
		a.find(im.ForEach)
	}
}

func compareStrings(x, y string) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func (a *analysis) declare(o addrs.Object) addrs.Object {
	if _, ok := a.uses[o]; !ok {
		a.uses[o] = nil
	}
	return o
}

// resource analyses a resource, data or ephemeral block.
func (a *analysis) resource(r *config.Resource) {
	o := a.declare(addrs.Object{Kind: addrs.KindResource, Res: r.Addr})
	for _, x := range r.Repetition.Expressions() {
		a.expr(o, x)
	}
	a.expr(o, r.ProviderKey)
	a.expr(o, r.PreventDestroyIf)
	scope := Scope{Count: r.Count != nil, Each: r.ForEach != nil}
	a.block(o, r, r.Body, scope)
	a.dependsOn(o, r.DependsOn)
	a.conditions(o, r.Preconditions)
	a.conditions(o, r.Postconditions)
	for _, x := range r.ReplaceTriggeredBy {
		a.trigger(o, x)
	}
	scope.Self = true
	for _, p := range r.Provisioners {
		if p.OnDestroy {
			continue
		}
		a.block(o, p, p.Body, scope)
		a.bodyOnly(o, p.Connection)
	}
	if len(r.Provisioners) > 0 {
		a.bodyOnly(o, r.Connection)
	}
	a.use(o, a.provider(r.Provider))
	a.meta(o, r)
}

// action analyses an action block.
func (a *analysis) action(r *config.Resource) {
	o := a.declare(addrs.Object{Kind: addrs.KindAction, Res: r.Addr})
	for _, x := range r.Repetition.Expressions() {
		a.expr(o, x)
	}
	a.expr(o, r.ProviderKey)
	a.block(o, r, r.Body, Scope{Count: r.Count != nil, Each: r.ForEach != nil, Caller: true})
	a.use(o, a.provider(r.Provider))
	if slices.ContainsFunc(bodyVariables(r.Body), func(t hcl.Traversal) bool { return t.RootName() == "caller" }) {
		a.r.callers[r] = true
	}
}

// triggers adds the references of a resource's action_trigger blocks, and the references of the actions that
// these blocks name. So the resource waits for everything that its actions need. A reference from an action to
// the resource itself is left out, since the action is invoked as a part of the resource's change.
func (a *analysis) triggers(r *config.Resource) {
	o := addrs.Object{Kind: addrs.KindResource, Res: r.Addr}
	for _, t := range r.Triggers {
		a.expr(o, t.Condition)
		for _, x := range t.Actions {
			res, ok := ActionOf(x)
			if action := (addrs.Object{Kind: addrs.KindAction, Res: res}); ok && a.content.Actions[res] != nil {
				for _, ref := range a.uses[action] {
					if ref.Object != o {
						a.use(o, ref)
					}
				}
				continue
			}
			a.ds = append(a.ds, diags.Errorf(x.Range().Ptr(), "action_trigger actions references non-existent action",
				"%s has no action block %q %q.%s", named(a.module.Addr), res.Type, res.Name, suggestAction(res, a.content))...)
		}
	}
}

// suggestAction suggests an action of c that the author may have meant.
func suggestAction(r addrs.Resource, c *config.Content) string {
	return diags.Suggest(r.String(), func(yield func(string) bool) {
		for x := range c.Actions {
			if !yield(x.String()) {
				return
			}
		}
	})
}

// ActionOf returns the action block to which an entry of a trigger's actions refers. The entry may have an
// instance key. The result is false if the entry refers to no action.
func ActionOf(x hcl.Expression) (addrs.Resource, bool) {
	for _, t := range x.Variables() {
		if t.RootName() != "action" || len(t) < 3 {
			continue
		}
		kind, ds := attrName(t, 1, "action")
		name, more := attrName(t, 2, "action."+kind)
		return addrs.Resource{Mode: addrs.Action, Type: kind, Name: name}, !ds.HasErrors() && !more.HasErrors()
	}
	return addrs.Resource{}, false
}

// Names reports whether a trigger names an action.
func Names(t *config.Trigger, action addrs.Resource) bool {
	return slices.ContainsFunc(t.Actions, func(x hcl.Expression) bool {
		a, ok := ActionOf(x)
		return ok && a == action
	})
}

// UsesCaller reports whether an action refers to the resource instance that triggers it.
func (r *Refs) UsesCaller(action *config.Resource) bool { return r.callers[action] }

// meta adds the references of the provider_meta block for a resource.
func (a *analysis) meta(o addrs.Object, r *config.Resource) {
	pm := a.content.MetaFor(r)
	if pm == nil {
		return
	}
	refs, ok := a.r.blocks[pm]
	if !ok {
		refs = a.resolve(bodyVariables(pm.Body), true)
		a.r.blocks[pm] = refs
	}
	for i := range refs {
		a.use(o, &refs[i])
	}
}

// use adds ref to the references of o. The analysis keeps ref: the caller must not change it.
func (a *analysis) use(o addrs.Object, ref *Reference) {
	a.uses[o] = append(a.uses[o], ref)
}

// provider returns the reference that stands for the use of a provider configuration. It makes one reference
// for each configuration.
func (a *analysis) provider(p addrs.LocalProviderConfig) *Reference {
	ref := a.providers[p]
	if ref == nil {
		if a.providers == nil {
			a.providers = map[addrs.LocalProviderConfig]*Reference{}
		}
		ref = &Reference{Object: addrs.Object{Kind: addrs.KindProvider, Name: p.String()}}
		a.providers[p] = ref
	}
	return ref
}

// trigger analyses an element of replace_triggered_by: a reference to a resource, with a key that may be any
// expression.
func (a *analysis) trigger(o addrs.Object, x hcl.Expression) {
	for _, t := range x.Variables() {
		if _, is := ambient[t.RootName()]; is {
			continue
		}
		// Resolve only the resource in the reference, not a key after it. If the resource does not exist,
		// planning reports that.
		n := 2
		if word := t.RootName(); word == "resource" || word == "data" || word == "ephemeral" {
			n = 3
		}
		if ref, ok, _ := Resolve(a.module, t[:min(n, len(t))]); ok {
			a.use(o, &ref)
		}
	}
}

func (a *analysis) conditions(o addrs.Object, cs []*config.Condition) {
	for _, c := range cs {
		a.expr(o, c.Condition)
		a.expr(o, c.ErrorMessage)
	}
}

func (a *analysis) dependsOn(o addrs.Object, ts []hcl.Traversal) {
	a.ds = append(a.ds, Scope{Self: true}.Check(ts)...)
	for _, t := range ts {
		a.traversal(o, t)
	}
}

// expr adds the references in x to the references of o.
func (a *analysis) expr(o addrs.Object, x hcl.Expression) {
	if x == nil {
		return
	}
	refs := a.find(x)
	for i := range refs {
		if o.Kind == addrs.KindVariable && refs[i].Object == o {
			continue // a validation looks at its own variable
		}
		a.use(o, &refs[i])
	}
}

// find returns the resolved references of x. It resolves them at the first call for x.
func (a *analysis) find(x hcl.Expression) []Reference {
	if x == nil {
		return nil
	}
	if refs, ok := a.r.exprs[x]; ok {
		return refs
	}
	refs := a.resolve(x.Variables(), false)
	markCounted(x, refs)
	a.r.exprs[x] = refs
	return refs
}

// block adds the references in a block's body to the references of o. s says which names are defined in the block.
func (a *analysis) block(o addrs.Object, block any, body hcl.Body, s Scope) {
	ts := bodyVariables(body)
	contents := dynamicContents(nil, body)
	a.ds = append(a.ds, a.possible(block, s.Check(ts), contents)...)
	before := len(a.ds)
	refs := a.resolve(ts, true)
	a.ds = append(a.ds[:before], a.possible(block, a.ds[before:], contents)...)
	a.r.blocks[block] = refs
	a.uses[o] = slices.Grow(a.uses[o], len(refs)+1) // one more for the provider
	for i := range refs {
		a.use(o, &refs[i])
	}
}

// possible returns diagnostics about a block. Errors about the content of a dynamic block become warnings, and are kept for
// [Refs.Mistakes]: Terraform does not look at the content either until the dynamic block makes a block.
func (a *analysis) possible(block any, ds diags.Diagnostics, contents []hcl.Range) diags.Diagnostics {
	for i := range ds {
		at := ds[i].Subject
		if at == nil || !slices.ContainsFunc(contents, func(c hcl.Range) bool { return within(*at, c) }) {
			continue
		}
		if a.r.mistakes == nil {
			a.r.mistakes = map[any]diags.Diagnostics{}
		}
		a.r.mistakes[block] = append(a.r.mistakes[block], ds[i])
		ds[i].Severity = diags.Warning
		ds[i].Detail += "\n\nThe plan fails as soon as the dynamic block around it makes a block. Correct the reference."
	}
	return ds
}

// within reports whether the place x is inside of y.
func within(x, y hcl.Range) bool {
	return x.Filename == y.Filename && y.Start.Byte <= x.Start.Byte && x.End.Byte <= y.End.Byte
}

// bodyOnly adds the references in a body to the references of o.
func (a *analysis) bodyOnly(o addrs.Object, body hcl.Body) {
	refs := a.resolve(bodyVariables(body), true)
	for i := range refs {
		a.use(o, &refs[i])
	}
}

func (a *analysis) traversal(o addrs.Object, t hcl.Traversal) {
	ref, ok, ds := Resolve(a.module, t)
	a.ds = append(a.ds, ds...)
	if ok {
		a.uses[o] = append(a.uses[o], &ref)
	}
}

// resolve resolves traversals, and reports errors. With inBody, it reports no errors for traversals of a JSON
// file: in the body of a JSON block, an unknown name may be the iterator of a dynamic block.
func (a *analysis) resolve(ts []hcl.Traversal, inBody bool) []Reference {
	if len(ts) == 0 {
		return nil
	}
	out := make([]Reference, 0, len(ts))
	for _, t := range ts {
		ref, ok, ds := Resolve(a.module, t)
		if inBody && ds.HasErrors() && isJSON(t) {
			continue
		}
		a.ds = append(a.ds, ds...)
		if owner, is := a.scoped[ref.Object.Res]; ok && is && owner != a.check {
			a.ds = append(a.ds, diags.Errorf(ref.Range().Ptr(), "Reference to scoped resource",
				"The data source %s stands in check %q: only that can refer to it.", ref.Object.Res, owner)...)
			continue
		}
		if ok {
			out = append(out, ref)
			if ref.Object.Kind == addrs.KindResource || ref.Object.Kind == addrs.KindCall {
				a.ofContent = append(a.ofContent, &out[len(out)-1])
			}
		}
	}
	return out
}

// isJSON reports whether t was written in a JSON file.
func isJSON(t hcl.Traversal) bool {
	f := t.SourceRange().Filename
	return len(f) > 5 && f[len(f)-5:] == ".json"
}
