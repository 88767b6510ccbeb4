package planning

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// triggered reports whether replace_triggered_by asks for a replacement: a
// resource or instance named there is updated or replaced, or an attribute of one
// changes by that. What is created or deleted triggers nothing, as in Terraform.
func (x *instance) triggered() (bool, diags.Diagnostics) {
	for _, expr := range x.r.ReplaceTriggeredBy {
		t, ds := traversalIn(expr, x.scope)
		if ds.HasErrors() {
			return false, ds
		}
		target, rest, ds := x.triggerTarget(t)
		if ds.HasErrors() {
			return false, ds
		}
		if x.p.changedAt(target, rest) {
			return true, nil
		}
	}
	return false, nil
}

// trigger is what an element of replace_triggered_by names.
type trigger struct {
	resource addrs.AbsResource
	key      addrs.InstanceKey
	hasKey   bool
}

// triggerTarget resolves a traversal to a resource or an instance, and the rest.
func (x *instance) triggerTarget(t hcl.Traversal) (trigger, hcl.Traversal, diags.Diagnostics) {
	bad := func() (trigger, hcl.Traversal, diags.Diagnostics) {
		return trigger{}, nil, diags.Errorf(t.SourceRange().Ptr(), "Invalid replace_triggered_by expression",
			"Only resources, resource instances and their attributes can be used in replace_triggered_by.")
	}
	if len(t) > 0 && t.RootName() == "resource" {
		t = append(hcl.Traversal{hcl.TraverseRoot{Name: stepName(t[1]), SrcRange: t[1].SourceRange()}}, t[2:]...)
	}
	if len(t) < 2 || stepName(t[1]) == "" {
		return bad()
	}
	r := addrs.Resource{Mode: addrs.Managed, Type: t.RootName(), Name: stepName(t[1])}
	if x.m.Resources[r] == nil {
		_, _, ds := refs.Resolve(x.m.Content, t)
		return trigger{}, nil, ds
	}
	out := trigger{resource: addrs.AbsResource{Module: x.addr.Module, Resource: r}}
	rest := t[2:]
	if len(rest) > 0 {
		if i, ok := rest[0].(hcl.TraverseIndex); ok {
			if out.key, out.hasKey = addrs.KeyFromValue(i.Key); out.hasKey {
				rest = rest[1:]
			}
		}
	}
	return out, rest, nil
}

func stepName(s hcl.Traverser) string {
	if a, ok := s.(hcl.TraverseAttr); ok {
		return a.Name
	}
	return ""
}

// traversalIn returns an expression as a traversal; a key in it may be
// each.key or count.index.
func traversalIn(expr hcl.Expression, s eval.Scope) (hcl.Traversal, diags.Diagnostics) {
	if t, hs := hcl.AbsTraversalForExpr(expr); !hs.HasErrors() {
		return t, nil
	}
	switch e := expr.(type) {
	case *hclsyntax.RelativeTraversalExpr:
		base, ds := traversalIn(e.Source, s)
		return append(base[:len(base):len(base)], e.Traversal...), ds
	case *hclsyntax.IndexExpr:
		base, ds := traversalIn(e.Collection, s)
		if ds.HasErrors() {
			return nil, ds
		}
		ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}}
		if s.Instance != nil {
			ctx.Variables = s.Instance.Variables()
		}
		k, hs := e.Key.Value(ctx)
		if hs.HasErrors() {
			return nil, diags.FromHCL(hs)
		}
		return append(base[:len(base):len(base)], hcl.TraverseIndex{Key: k, SrcRange: e.Key.Range()}), nil
	}
	return nil, diags.Errorf(expr.Range().Ptr(), "Invalid reference",
		"A reference to a resource, a resource instance or an attribute of one is required.")
}

// changedAt reports whether what a trigger names is about to change.
func (p *planner) changedAt(t trigger, rest hcl.Traversal) bool {
	p.mu.Lock()
	var changes []*plans.ResourceChange
	for _, c := range p.changes {
		if c.Addr.Deposed != addrs.NotDeposed || c.Addr.Instance.AbsResource() != t.resource || t.hasKey && c.Addr.Instance.Resource.Key != t.key {
			continue
		}
		changes = append(changes, c)
	}
	p.mu.Unlock()
	for _, c := range changes {
		if c.Action != plans.Update && !c.Action.IsReplace() {
			continue
		}
		if len(rest) == 0 {
			return true
		}
		path, err := session.TraversalPath(rest)
		if err != nil {
			return true
		}
		before := marks.Plain(c.Before)
		after := marks.Plain(c.After)
		a, errA := path.Apply(before)
		b, errB := path.Apply(after)
		if (errA == nil) != (errB == nil) || errA == nil && !a.RawEquals(b) {
			return true
		}
	}
	return false
}
