package testfiles

import (
	"cmp"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

// An Override replaces an object, or all objects of a module, while tests run.
type Override struct {
	Target addrs.Target
	Values cty.Value // attributes or outputs, an object; cty.NilVal: made up
	During During
	Range  hcl.Range

	target *hcl.Attribute
	shared bool // from a file of mocks, which several configurations may use
}

// During is the first step of a run in which the values of an override or a mock are known: plan or apply.
type During byte

const (
	unset During = iota // as in the enclosing block, otherwise during an apply
	apply
	plan
)

// Planned reports whether the values are known in a plan. outer is the setting of the enclosing block. It is
// used if the block itself has no setting.
func (d During) Planned(outer During) bool { return cmp.Or(d, outer) == plan }

// Hits reports whether the override is for a resource and includes the instance x. Where the target has no
// key, every key matches.
func (o *Override) Hits(x addrs.AbsResourceInstance) bool {
	if o.Target.IsModule() || o.Target.Resource != x.Resource.Resource || !o.Target.Key.IsNone() && o.Target.Key != x.Resource.Key {
		return false
	}
	steps, own := x.Module.Steps(), o.Target.Module.Steps()
	if len(steps) != len(own) {
		return false
	}
	for i, s := range own {
		if s.Name != steps[i].Name || !s.Key.IsNone() && s.Key != steps[i].Key {
			return false
		}
	}
	return true
}

const (
	overrideResource = "override_resource"
	overrideData     = "override_data"
	overrideModule   = "override_module"
)

// overrideSchemas has the arguments of each kind of override block. overrideWords describes the object that
// each kind replaces.
var overrideSchemas = map[string]*hcl.BodySchema{
	overrideResource: {Attributes: []hcl.AttributeSchema{{Name: "target"}, {Name: "values"}, {Name: "override_during"}}},
	overrideData:     {Attributes: []hcl.AttributeSchema{{Name: "target"}, {Name: "values"}, {Name: "override_during"}}},
	overrideModule:   {Attributes: []hcl.AttributeSchema{{Name: "target"}, {Name: "outputs"}, {Name: "override_during"}}},
}

var overrideWords = map[string]string{
	overrideResource: "resource, such as aws_instance.web",
	overrideData:     "data source, such as data.aws_ami.linux",
	overrideModule:   "module, such as module.network",
}

// override reads an override block of any kind. The result is nil if it has no valid target.
func (r *reader) override(b *hcl.Block) *Override {
	content := r.content(b.Body, overrideSchemas[b.Type])
	values := content.Attributes["values"]
	if b.Type == overrideModule {
		values = content.Attributes["outputs"]
	}
	o := &Override{
		Values: r.object(values, b.Type), During: r.during(content.Attributes["override_during"]),
		Range: b.DefRange, target: content.Attributes["target"],
	}
	if o.target == nil {
		r.errorf(&b.DefRange, "Missing target attribute", "The argument target of %s names the %s.", b.Type, overrideWords[b.Type])
		return nil
	}
	t, ds := hcl.AbsTraversalForExpr(o.target.Expr)
	if r.add(ds); ds.HasErrors() {
		return nil
	}
	o.Target, ds = traversals.Target(t)
	if r.add(ds); ds.HasErrors() {
		return nil
	}
	if kindOf(o.Target) != b.Type {
		r.errorf(&o.target.Range, "Invalid override target", "%s takes the place of a %s; %s is no such object.", b.Type, overrideWords[b.Type], o.Target)
		return nil
	}
	return o
}

// kindOf returns the type of block that can override a target; "" if no block can.
func kindOf(t addrs.Target) string {
	switch {
	case t.IsModule():
		return overrideModule
	case t.Resource.Mode == addrs.Managed:
		return overrideResource
	case t.Resource.Mode == addrs.Data:
		return overrideData
	}
	return ""
}

// during reads the argument override_during.
func (r *reader) during(a *hcl.Attribute) During {
	if a == nil {
		return unset
	}
	switch hcl.ExprAsKeyword(a.Expr) {
	case "plan":
		return plan
	case "apply":
		return apply
	}
	r.errorf(&a.Range, "Invalid override_during value", "The argument override_during is the word plan or the word apply, without quotes.")
	return unset
}

// overridden has the range of the first override of each target.
type overridden map[string]hcl.Range

// first reports whether o is the first override of its target, and otherwise adds an error. o may be nil.
func (seen overridden) first(r *reader, o *Override, b *hcl.Block) bool {
	if o == nil {
		return false
	}
	key := b.Type + " " + o.Target.String()
	if old, twice := seen[key]; twice {
		r.errorf(&o.Range, "Duplicate "+b.Type+" block", "%s is overridden at %s already.", o.Target, old)
		return false
	}
	seen[key] = o.Range
	return true
}
