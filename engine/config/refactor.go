package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

var movedSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "from", Required: true}, {Name: "to", Required: true}}}

// moved reads a moved block.
func (r *reader) moved(b *hcl.Block) {
	if r.override {
		r.errorf(&b.DefRange, `Cannot override 'moved' blocks`, "Records of moved objects can stand in normal files only, not in override files.")
		return
	}
	content := r.content(b.Body, movedSchema)
	m := &Moved{Range: b.DefRange}
	from, to := content.Attributes["from"], content.Attributes["to"]
	ok := from != nil && to != nil
	if from != nil {
		var good bool
		m.From, good = r.endpoint(from.Expr)
		m.FromRange, ok = from.Expr.Range(), ok && good
	}
	if to != nil {
		var good bool
		m.To, good = r.endpoint(to.Expr)
		m.ToRange, ok = to.Expr.Range(), ok && good
	}
	if !ok {
		return
	}
	if m.From.IsModule() != m.To.IsModule() {
		r.errorf(&m.Range, `Invalid "moved" addresses`,
			`The "from" and "to" addresses must either both name modules or both name resources.`)
		return
	}
	r.c.Moved = append(r.c.Moved, m)
}

// endpoint reads an address relative to the module, with or without keys.
func (r *reader) endpoint(e hcl.Expression) (addrs.Target, bool) {
	t, ds := hcl.AbsTraversalForExpr(e)
	r.diags = append(r.diags, ds...)
	if ds.HasErrors() {
		return addrs.Target{}, false
	}
	out, ds := targetFromTraversal(t)
	r.diags = append(r.diags, ds...)
	return out, !ds.HasErrors()
}

// targetFromTraversal reads module.a[0].type.name["k"].
func targetFromTraversal(t hcl.Traversal) (addrs.Target, hcl.Diagnostics) {
	var out addrs.Target
	bad := func(rng hcl.Range, detail string) (addrs.Target, hcl.Diagnostics) {
		return addrs.Target{}, hcl.Diagnostics{problem(&rng, "Invalid address", "%s", detail)}
	}
	badModule := func(rng hcl.Range, detail string) (addrs.Target, hcl.Diagnostics) {
		return addrs.Target{}, hcl.Diagnostics{problem(&rng, "Invalid address operator", "%s", detail)}
	}
	i := 0
	for i < len(t) {
		word, ok := stepName(t[i])
		if !ok || word != "module" {
			break
		}
		if i+1 == len(t) {
			return badModule(t[i].SourceRange(), `The prefix "module." must be followed by a module's name.`)
		}
		name, ok := stepName(t[i+1])
		if !ok {
			return badModule(t[i+1].SourceRange(), `The prefix "module." must be followed by a module's name.`)
		}
		i += 2
		key := addrs.NoKey
		if i < len(t) {
			if x, ok := t[i].(hcl.TraverseIndex); ok {
				if key, ok = instanceKey(x.Key); !ok {
					return badModule(x.SrcRange, badKey)
				}
				i++
			}
		}
		out.Module = out.Module.Child(name, key)
	}
	if i == len(t) {
		return out, nil
	}
	return resourceTarget(out, t[i:], bad)
}

const badKey = "An instance key must be a string or a whole number that is not negative."

func resourceTarget(out addrs.Target, t hcl.Traversal, bad func(hcl.Range, string) (addrs.Target, hcl.Diagnostics)) (addrs.Target, hcl.Diagnostics) {
	whole := t.SourceRange()
	out.Resource.Mode = addrs.Managed
	switch word, _ := stepName(t[0]); word {
	case "data":
		out.Resource.Mode, t = addrs.Data, t[1:]
	case "ephemeral":
		out.Resource.Mode, t = addrs.Ephemeral, t[1:]
	case "resource":
		t = t[1:]
	default:
		if isKeyword(word) {
			return bad(whole, fmt.Sprintf("%q means something else than a resource type here. If it is one, write resource.%s.", word, word))
		}
	}
	if len(t) < 2 {
		return bad(whole, "A resource's type must be followed by its name.")
	}
	var ok1, ok2 bool
	out.Resource.Type, ok1 = stepName(t[0])
	out.Resource.Name, ok2 = stepName(t[1])
	if !ok1 || !ok2 {
		return bad(whole, "A resource type and a resource name, joined by a dot, are required.")
	}
	if len(t) == 2 {
		return out, nil
	}
	x, ok := t[2].(hcl.TraverseIndex)
	if !ok || len(t) > 3 {
		return bad(t[len(t)-1].SourceRange(), "A resource's address ends with its name or an instance key in brackets.")
	}
	if out.Key, ok = instanceKey(x.Key); !ok {
		return bad(x.SrcRange, badKey)
	}
	return out, nil
}

// stepName returns the name of an attribute step or of the root.
func stepName(t hcl.Traverser) (string, bool) {
	switch x := t.(type) {
	case hcl.TraverseRoot:
		return x.Name, true
	case hcl.TraverseAttr:
		return x.Name, true
	}
	return "", false
}

func instanceKey(v cty.Value) (addrs.InstanceKey, bool) {
	if v.IsNull() || !v.IsKnown() {
		return addrs.NoKey, false
	}
	switch v.Type() {
	case cty.String:
		return addrs.StringKey(v.AsString()), true
	case cty.Number:
		f := v.AsBigFloat()
		n, acc := f.Int64()
		if acc != 0 || n < 0 {
			return addrs.NoKey, false
		}
		return addrs.IntKey(int(n)), true
	}
	return addrs.NoKey, false
}

var removedSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "from", Required: true}},
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "lifecycle"}, {Type: "connection"}, {Type: "provisioner", LabelNames: []string{"type"}},
	},
}

var removedLifecycleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "destroy"}}}

// removed reads a removed block.
func (r *reader) removed(b *hcl.Block) {
	if r.override {
		r.errorf(&b.DefRange, `Cannot override 'removed' blocks`, "Records of removed objects can stand in normal files only, not in override files.")
		return
	}
	content := r.content(b.Body, removedSchema)
	m := &Removed{Destroy: true, Range: b.DefRange}
	ok := false
	if a := content.Attributes["from"]; a != nil {
		m.FromRange = a.Expr.Range()
		m.From, ok = r.endpoint(a.Expr)
		ok = ok && r.removedAddress(m)
	}
	var connection *hcl.Block
	for _, n := range content.Blocks {
		switch n.Type {
		case "lifecycle":
			lc := r.content(n.Body, removedLifecycleSchema)
			r.literal(lc.Attributes["destroy"], &m.Destroy)
		case "connection":
			if r.once(&connection, n, "Duplicate connection block", "A removed block may have only one connection block.") {
				m.Connection = n.Body
			}
		case "provisioner":
			if p := r.provisioner(n); p != nil {
				if !p.OnDestroy {
					r.errorf(&n.DefRange, "Invalid provisioner block", "A removed block can have provisioners for the destruction only: write when = destroy.")
					continue
				}
				m.Provisioners = append(m.Provisioners, p)
			}
		}
	}
	if ok && len(m.Provisioners) > 0 && m.From.IsModule() {
		r.errorf(&m.Provisioners[0].Range, "Invalid provisioner block", "Provisioners can be given for a removed resource, but not for a removed module.")
	}
	if ok {
		r.c.Removed = append(r.c.Removed, m)
	}
}

// removedAddress checks that a removed block speaks of whole resources or modules.
func (r *reader) removedAddress(m *Removed) bool {
	if !m.From.Key.IsNone() {
		r.errorf(&m.FromRange, "Resource instance keys not allowed", "A removed block speaks of all instances of a resource: leave out the key.")
		return false
	}
	for _, s := range m.From.Module.Steps() {
		if !s.Key.IsNone() {
			r.errorf(&m.FromRange, "Module instance keys not allowed", "A removed block speaks of all instances of a module: leave out the key.")
			return false
		}
	}
	if !m.From.IsModule() && m.From.Resource.Mode != addrs.Managed {
		r.errorf(&m.FromRange, "Data source address not allowed", "Only what resource blocks manage can be removed: nothing remains of other objects when their blocks go.")
		return false
	}
	return true
}

// ParseTarget reads the address that a traversal of literals spells out, such as
// module.a[0].type.name["k"].
func ParseTarget(t hcl.Traversal) (addrs.Target, diags.Diagnostics) {
	out, ds := targetFromTraversal(t)
	return out, diags.FromHCL(ds)
}

// Static returns the configuration address that a removed block in a module speaks of: a
// resource, or with no resource a module.
func (m *Removed) Static(in addrs.Module) (addrs.Module, addrs.Resource) {
	for _, s := range m.From.Module.Steps() {
		in = in.Child(s.Name)
	}
	return in, m.From.Resource
}
