package planning

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// A triggerList is replace_triggered_by of one resource instance. It decides whether planned changes of the
// listed resources force a replacement of the instance.
type triggerList struct {
	Entries []hcl.Expression
	// Module is the module of the instance. Scope is the scope of the instance: keys in the entries may refer
	// to each.key and count.index.
	Module *config.Module
	Scope  eval.Scope
	// Changes are the changes planned so far.
	Changes triggerChanges
}

// triggerChanges are planned changes, no-ops included.
type triggerChanges interface {
	Of(addrs.AbsResourceInstance) []*plans.ResourceChange
	// OfAll returns the changes of all instances of a resource.
	OfAll(addrs.AbsResource) []*plans.ResourceChange
}

// fires reports whether an entry forces a replacement: the plan updates or replaces the resource or instance
// that the entry names. If the entry names an attribute, the value of this attribute must change, too. A
// creation or deletion triggers nothing. It is an error if the entry's resource has no planned change at all,
// not even a no-op. Source: Terraform 1.11.4.
func (l triggerList) fires() (bool, diags.Diagnostics) {
	for _, expr := range l.Entries {
		t, ds := session.Traversal(expr, l.Scope, badTrigger)
		if ds.HasErrors() {
			return false, ds
		}
		target, rest, ds := l.target(t)
		if ds.HasErrors() {
			return false, ds
		}
		changes := target.changes(l.Changes)
		if len(changes) == 0 {
			return false, diags.Errorf(nil, fmt.Sprintf("no change found for %s in %s", target, triggerPlace(l.Scope.Module)),
				"The plan has no change for this reference of replace_triggered_by: there is no such instance, it is this resource itself, or a data resource that was read already.")
		}
		if triggerChanged(changes, rest) {
			return true, nil
		}
	}
	return false, nil
}

// trigger is an entry of replace_triggered_by: a resource, or one of its instances.
type trigger struct {
	resource addrs.AbsResource
	key      addrs.InstanceKey
	hasKey   bool
}

func (t trigger) String() string {
	if t.hasKey {
		return t.resource.Instance(t.key).Resource.String()
	}
	return t.resource.Resource.String()
}

// triggerPlace returns the name of a module instance for messages.
func triggerPlace(m addrs.ModuleInstance) string {
	if m.IsRoot() {
		return "the root module"
	}
	return m.String()
}

// target splits a traversal into a resource, or one of its instances, and the path of an attribute, which may
// be empty. The resource is in the same module.
func (l triggerList) target(t hcl.Traversal) (trigger, hcl.Traversal, diags.Diagnostics) {
	bad := func() (trigger, hcl.Traversal, diags.Diagnostics) {
		return trigger{}, nil, diags.Errorf(t.SourceRange().Ptr(), badTrigger,
			"Only resources, resource instances and their attributes can be used in replace_triggered_by.")
	}
	r := addrs.Resource{Mode: addrs.Managed}
	if word := t.RootName(); len(t) > 1 && (word == "resource" || word == "data" || word == "ephemeral") {
		t = append(hcl.Traversal{hcl.TraverseRoot{Name: triggerStepName(t[1]), SrcRange: t[1].SourceRange()}}, t[2:]...)
		r.Mode = map[string]addrs.ResourceMode{"resource": addrs.Managed, "data": addrs.Data, "ephemeral": addrs.Ephemeral}[word]
	}
	if len(t) < 2 || triggerStepName(t[1]) == "" {
		return bad()
	}
	r.Type, r.Name = t.RootName(), triggerStepName(t[1])
	if l.Module.Resources[r] == nil {
		_, _, ds := refs.Resolve(l.Module, t)
		return trigger{}, nil, ds
	}
	out := trigger{resource: addrs.AbsResource{Module: l.Scope.Module, Resource: r}}
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

func triggerStepName(s hcl.Traverser) string {
	if a, ok := s.(hcl.TraverseAttr); ok {
		return a.Name
	}
	return ""
}

// badTrigger is the summary of the error about an invalid entry.
const badTrigger = "Invalid replace_triggered_by expression"

// triggerChanged reports whether one of the changes is an update or a replacement. If rest is the path of an
// attribute, the value of the attribute must change, too. An unknown planned value counts as a change, and so
// does an attribute that exists on one side only. Creations and deletions do not trigger: they have no value
// before or after to compare.
// Source: https://developer.hashicorp.com/terraform/language/meta-arguments/lifecycle#replace_triggered_by
func triggerChanged(changes []*plans.ResourceChange, rest hcl.Traversal) bool {
	for _, c := range changes {
		if c.Action != plans.Update && !c.Action.IsReplace() {
			continue
		}
		if len(rest) == 0 {
			return true
		}
		path, err := refs.Path(rest)
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

// changes returns the planned changes of the resource or instance.
func (t trigger) changes(s triggerChanges) []*plans.ResourceChange {
	if t.hasKey {
		return s.Of(t.resource.Instance(t.key))
	}
	return s.OfAll(t.resource)
}
