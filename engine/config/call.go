package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

var callSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "source", Required: true}, {Name: "version"}, {Name: "count"},
		{Name: "for_each"}, {Name: "depends_on"}, {Name: "providers"},
	},
	// Reserved for the language, but for lifecycle.
	Blocks: []hcl.BlockHeaderSchema{{Type: "_"}, {Type: "lifecycle"}, {Type: "locals"}, {Type: "provider", LabelNames: []string{"type"}}},
}

// call reads a module block.
func (r *reader) call(b *hcl.Block) {
	content, remain := r.partial(b.Body, callSchema)
	c := &Call{Name: b.Labels[0], Range: b.DefRange}
	r.name(b, 0, "Invalid module instance name")
	attrs := content.Attributes
	c.given = r.givenArgs(content)
	if a := attrs["source"]; a != nil {
		r.callSource(c, a, attrs["version"] != nil)
	}
	if a := attrs["version"]; a != nil {
		r.callVersion(c, a)
	}
	c.Repetition = r.repetition(attrs)
	blocks := r.callLifecycle(c, content.Blocks)
	c.DependsOn = r.dependsOn(attrs["depends_on"])
	if a := attrs["providers"]; a != nil {
		c.Providers = r.passedProviders(a.Expr)
	}
	c.body = r.escaped(blocks, remain, "module")
	// Nested blocks are reported when the arguments are compared with the variables.
	c.Args, _ = c.body.JustAttributes()
	old := r.c.Calls[c.Name]
	switch {
	case r.override && old == nil:
		r.missingBase(c.Range, "Missing module call to override", "module."+c.Name)
	case r.override:
		r.overrideCall(old, c)
	case old != nil:
		r.duplicate(c.Range, "Duplicate module call", "module."+c.Name, old.Range)
	default:
		r.c.Calls[c.Name] = c
	}
}

var callLifecycleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "enabled"}}}

// callLifecycle reads the lifecycle block of a call, and returns the other blocks.
func (r *reader) callLifecycle(c *Call, blocks hcl.Blocks) hcl.Blocks {
	var lifecycle *hcl.Block
	for _, b := range blocks.OfType("lifecycle") {
		if r.once(&lifecycle, b, "Duplicate lifecycle block", "A module block may have only one lifecycle block.") {
			if some, _, _ := b.Body.PartialContent(callLifecycleSchema); some.Attributes["enabled"] == nil {
				r.errorf(&b.TypeRange, "Reserved block type name in module block", reservedName, b.Type)
				continue
			}
			r.enabled(&c.Repetition, r.content(b.Body, callLifecycleSchema).Attributes["enabled"])
		}
	}
	return slices.DeleteFunc(slices.Clone(blocks), func(b *hcl.Block) bool { return b.Type == "lifecycle" })
}

// checkInputs compares a call's arguments with the variables of the module it calls.
func (c *Call) checkInputs(child *Content) hcl.Diagnostics {
	schema := &hcl.BodySchema{}
	for _, name := range slices.Sorted(maps.Keys(child.Variables)) {
		v := child.Variables[name]
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name, Required: v.Default == cty.NilVal})
	}
	_, ds := c.body.Content(schema)
	for _, d := range ds {
		diags.MarkLate(d)
	}
	return ds
}

func (r *reader) callSource(c *Call, a *hcl.Attribute, versioned bool) {
	c.SourceRange = a.Expr.Range()
	if r.early && !isLiteral(a.Expr) {
		c.evaluated().source, c.early.versioned = a.Expr, versioned
		return
	}
	if r.literal(a, &c.Source) {
		r.diags = append(r.diags, c.parseSource(versioned)...)
	}
}

// parseSource sets the address that the source means.
func (c *Call) parseSource(versioned bool) hcl.Diagnostics {
	addr, err := source.Parse(c.Source)
	if err != nil {
		return hcl.Diagnostics{problem(&c.SourceRange, "Invalid module source address", "%s.", capital(err.Error()))}
	}
	if versioned && addr.Kind != source.Registry {
		return hcl.Diagnostics{problem(&c.SourceRange, "Invalid registry module source address",
			"The version argument is for modules of a registry only, and %q is no registry's address.", c.Source)}
	}
	c.address = addr
	return nil
}

func (r *reader) callVersion(c *Call, a *hcl.Attribute) {
	if r.early && !isLiteral(a.Expr) {
		c.evaluated().version = a.Expr
		return
	}
	if v, ok := r.versionConstraint(a); ok {
		c.Version = []VersionConstraint{v}
	}
}

// passedProviders reads the providers argument; not nil, even if it is empty.
func (r *reader) passedProviders(e hcl.Expression) []PassedProvider {
	out := []PassedProvider{}
	pairs, ds := hcl.ExprMap(e)
	r.diags = append(r.diags, ds...)
	seen := map[addrs.LocalProviderConfig]hcl.Range{}
	for _, p := range pairs {
		child, ok1 := r.providerRef(unwrapKey(p.Key))
		parent, key, ok2 := r.providerInstanceRef(p.Value)
		if !ok1 || !ok2 {
			continue
		}
		if old, dup := seen[child]; dup {
			r.errorf(p.Key.Range().Ptr(), "Duplicate provider address",
				"A configuration is passed for %s twice; the first is at %s.", child, at(old))
			continue
		}
		seen[child] = p.Key.Range()
		out = append(out, PassedProvider{
			InChild: child, InChildRange: p.Key.Range(), InParent: parent, InParentKey: key, InParentRange: p.Value.Range(),
		})
	}
	return out
}

// isString reports whether v is the known string s.
func isString(v cty.Value, s string) bool {
	return v.Type() == cty.String && v.IsKnown() && !v.IsNull() && v.AsString() == s
}
