// Package risks finds what is dangerous in a plan: databases that it destroys, ports that it opens to everybody,
// buckets that it makes public, policies that it widens. Each risk is a fact with a name, an object, and words.
//
// Only what a change makes worse than before is a risk of the change. A value that the plan does not show, because
// it is unknown or sensitive, is never taken as safe: the risk then says "may". The package looks at single
// objects by their types. It does not know how objects work together, for example that a closed network protects an
// open port, and it does not compare statements that deny.
//
// The package reads no files and asks nobody. Start at [Find].
package risks

import (
	"cmp"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// A Name is the name of a kind of risk. Settings and policies use it.
type Name string

// The kinds of risks.
const (
	statefulDestroy Name = "stateful-destroy" // an object that keeps data is destroyed
	statefulReplace Name = "stateful-replace" // an object that keeps data is destroyed and created anew
	publicAccess    Name = "public-access"    // everybody can reach a bucket, a database, a queue
	publicIngress   Name = "public-ingress"   // a firewall lets everybody in
	iamWidened      Name = "iam-widened"      // a policy or a role has rights without limits
)

// Names are all names, the worst first.
var Names = []Name{statefulDestroy, statefulReplace, publicAccess, publicIngress, iamWidened}

// A Risk is something dangerous that one change does.
type Risk struct {
	Name   Name
	Object addrs.ResourceInstanceObject
	// Text says what the change does: "opens 22/tcp to 0.0.0.0/0". It is short. Parts of it that come from the
	// configuration are between backquotes, and have no backquotes themselves. It has no sensitive values.
	Text string
	// May is set if the plan does not show all values, so that the risk is not certain. Text says "may".
	May bool
}

// Input is a plan with the configuration that it was made of.
type Input struct {
	Plan   *plans.Plan
	Config *config.Config
	// Stateful reports whether objects of a resource type keep data, in addition to the types of the table; nil
	// means that none do.
	Stateful func(resourceType string) bool

	reads map[addrs.AbsResourceInstance]*plans.ResourceChange // data sources that the apply reads
}

// Find returns the risks of a plan: in the order of [Names], then certain ones first, then in the order of the
// plan. An object has at most one certain and one uncertain risk of each name.
func Find(in Input) []Risk {
	gone := destroyedBuckets(in.Plan)
	in.reads = map[addrs.AbsResourceInstance]*plans.ResourceChange{}
	for _, c := range in.Plan.Changes {
		if c.Action == plans.Read {
			in.reads[c.Addr.Instance] = c
		}
	}
	var out []Risk
	for _, c := range in.Plan.Changes {
		if c.Addr.Instance.Resource.Resource.Mode != addrs.Managed {
			continue
		}
		out = append(out, in.stateful(c)...)
		if c.Action != plans.NoOp && c.Action != plans.Forget && c.Addr.Deposed == addrs.NotDeposed {
			out = append(out, in.opened(c, gone)...)
		}
	}
	slices.SortStableFunc(out, func(a, b Risk) int {
		return cmp.Or(cmp.Compare(slices.Index(Names, a.Name), slices.Index(Names, b.Name)), cmp.Compare(number(a.May), number(b.May)))
	})
	return out
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// stateful returns the risk of a change that destroys an object with data.
func (in Input) stateful(c *plans.ResourceChange) []Risk {
	if !c.Destroys() {
		return nil
	}
	kind := c.Addr.Instance.Resource.Resource.Type
	noun, ours := statefulTypes()[kind]
	if !ours && (in.Stateful == nil || !in.Stateful(kind)) {
		return nil
	}
	if !ours {
		noun = "an object of the type " + quote(kind)
	}
	if c.Action.IsReplace() {
		return []Risk{{Name: statefulReplace, Object: c.Addr, Text: "replaces " + noun}}
	}
	return []Risk{{Name: statefulDestroy, Object: c.Addr, Text: "destroys " + noun}}
}

// opened returns the risks of what a change opens.
func (in Input) opened(c *plans.ResourceChange, gone map[string]bool) (out []Risk) {
	for _, check := range checksOf(c.Addr.Instance.Resource.Resource.Type) {
		before, after, same := in.sides(c, check.reads, check.document)
		if same || check.name == publicAccess && c.Action == plans.Delete && before.among("bucket", gone) {
			continue
		}
		found := check.find(before, after)
		if check.inside != nil && !in.sets(c.Addr.Instance, check.inside...) || slices.Contains(check.made, in.made(c.Addr.Instance, check.reads[0])) {
			found.may = nil
		}
		for _, may := range []bool{false, true} {
			if text := found.text(may); text != "" {
				out = append(out, Risk{Name: check.name, Object: c.Addr, Text: text, May: may})
			}
		}
	}
	return out
}

// sides returns the attributes of an object before and after a change. same is set if none of them changes. A
// sensitive value becomes unknown. A value that the configuration does not set and only the provider can know
// becomes null: the check of a type knows what its provider chooses. If document is set, a policy that is not known
// becomes its sketch.
func (in Input) sides(c *plans.ResourceChange, names []string, document bool) (before, after object, same bool) {
	same = c.Action != plans.Delete
	before, after = object{}, object{}
	for _, n := range names {
		b, a := attribute(c.Before, n), attribute(c.After, n)
		if !b.IsKnown() { // of an object that is imported
			b = cty.NullVal(b.Type())
		}
		if !a.IsKnown() && !marks.Any(a) && !in.sets(c.Addr.Instance, n) {
			a = cty.NullVal(a.Type())
		}
		if document && !a.IsKnown() && !marks.Any(a) {
			if text, ok := in.sketch(c.Addr.Instance, n); ok {
				a = cty.StringVal(text)
			}
		}
		pb, pa := marks.Plain(b), marks.Plain(a)
		same = same && pa.IsWhollyKnown() && (pb.RawEquals(pa) || pb.IsNull() && pa.IsNull())
		before[n], after[n] = concealed(b), concealed(a)
	}
	return before, after, same
}

// sets reports whether the configuration of an object sets an attribute; further names lead into nested blocks. If
// the configuration is not known, it may.
func (in Input) sets(i addrs.AbsResourceInstance, names ...string) bool {
	r := in.block(i)
	return r == nil || refs.Sets(r.Body, names[0], names[1:]...)
}

// made returns "TYPE.ATTRIBUTE" if the configuration sets an attribute of an object to this attribute of another one,
// and to nothing else.
func (in Input) made(i addrs.AbsResourceInstance, name string) string {
	if r := in.block(i); r != nil {
		resource, attribute := refs.Attribute(r.Body, name)
		return resource + "." + attribute
	}
	return ""
}

// block returns the block of an object; nil if it is not known.
func (in Input) block(i addrs.AbsResourceInstance) *config.Resource {
	if in.Config == nil || in.Config.Modules[i.Module.Module()] == nil {
		return nil
	}
	return in.Config.Modules[i.Module.Module()].Resources[i.Resource.Resource]
}

// attribute returns an attribute of an object's value; null if there is none.
func attribute(v cty.Value, name string) cty.Value {
	none := cty.NullVal(cty.DynamicPseudoType)
	if v == cty.NilVal {
		return none
	}
	v, ms := v.Unmark()
	switch {
	case v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute(name):
		return none
	case !v.IsKnown():
		return cty.UnknownVal(v.Type().AttributeType(name)).WithMarks(ms)
	}
	return v.GetAttr(name).WithMarks(ms)
}

// concealed returns a value with unknown values in the place of its sensitive parts, without marks.
func concealed(v cty.Value) cty.Value {
	if !marks.Any(v) {
		return v
	}
	if v.IsMarked() {
		v, _ = v.Unmark()
		if v.IsNull() {
			return v
		}
		return cty.UnknownVal(v.Type())
	}
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsMarked() {
			return v, nil
		}
		v, _ = v.Unmark()
		return cty.UnknownVal(v.Type()), nil
	})
	if err != nil {
		return cty.UnknownVal(v.Type())
	}
	return out
}

// destroyedBuckets returns the names of buckets that a plan destroys. The plan may then also destroy
// the settings of these buckets.
func destroyedBuckets(p *plans.Plan) map[string]bool {
	out := map[string]bool{}
	for _, c := range p.Changes {
		if c.Action != plans.Delete || c.Addr.Instance.Resource.Resource.Type != "aws_s3_bucket" {
			continue
		}
		for _, name := range []string{"bucket", "id"} {
			if s, known := (object{name: concealed(attribute(c.Before, name))}).text(name); known && s != "" {
				out[s] = true
			}
		}
	}
	return out
}
