package decoding

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

var callSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "source", Required: true}, {Name: "version"}, {Name: "count"},
		{Name: "for_each"}, {Name: "depends_on"}, {Name: "providers"},
	},
	// These names are reserved for the language. Only lifecycle has a meaning.
	Blocks: []hcl.BlockHeaderSchema{{Type: "_"}, {Type: "lifecycle"}, {Type: "locals"}, {Type: "provider", LabelNames: []string{"type"}}},
}

// A call is a module block that is being read.
type call struct {
	*reader
	*config.Call
	computed bool            // source and version may be expressions
	given    map[string]bool // the arguments present; in override files only
}

// call reads a module block.
func (d *Decoder) call(b *hcl.Block) {
	content, remain := d.partialContentOf(b.Body, callSchema)
	c := &call{reader: &d.reader, computed: d.options.Computed, Call: &config.Call{Name: b.Labels[0], Range: b.DefRange}}
	d.name(b, 0, "Invalid module instance name")
	attrs := content.Attributes
	c.given = d.givenArgs(content)
	if a := attrs["source"]; a != nil {
		c.source(a, attrs["version"] != nil)
	}
	if a := attrs["version"]; a != nil {
		c.version(a)
	}
	c.Repetition = d.repetition(attrs)
	blocks := c.lifecycle(content.Blocks)
	c.DependsOn = d.dependsOn(attrs["depends_on"])
	if a := attrs["providers"]; a != nil {
		c.Providers = c.passedProviders(a.Expr)
	}
	c.Body = d.escaped(blocks, remain, "module")
	// Ignore errors about nested blocks here: they are reported when the arguments are compared with the
	// variables.
	c.Args, _ = c.Body.JustAttributes()
	old := d.content.Calls[c.Name]
	switch {
	case d.override && old == nil:
		d.missingBase(c.Range, "Missing module call to override", "module."+c.Name)
	case d.override:
		c.replace(old)
	case old != nil:
		d.duplicate(c.Range, "Duplicate module call", "module."+c.Name, old.Range)
	default:
		d.content.Calls[c.Name] = c.Call
	}
}

var callLifecycleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "enabled"}}}

// lifecycle reads the lifecycle block of a call, and returns the other blocks. The block may have only the
// argument enabled. A lifecycle block without enabled is an error, since Terraform reserves the name of the
// block.
func (c *call) lifecycle(blocks hcl.Blocks) hcl.Blocks {
	var lifecycle *hcl.Block
	for _, b := range blocks.OfType("lifecycle") {
		if c.once(&lifecycle, b, "Duplicate lifecycle block", "A module block may have only one lifecycle block.") {
			if some, _, _ := b.Body.PartialContent(callLifecycleSchema); some.Attributes["enabled"] == nil {
				c.errorf(&b.TypeRange, "Reserved block type name in module block", reservedName, b.Type)
				continue
			}
			c.enabled(&c.Repetition, c.contentOf(b.Body, callLifecycleSchema).Attributes["enabled"])
		}
	}
	return slices.DeleteFunc(slices.Clone(blocks), func(b *hcl.Block) bool { return b.Type == "lifecycle" })
}

// source reads the source argument; versioned is set if there is a version argument.
func (c *call) source(a *hcl.Attribute, versioned bool) {
	c.SourceRange = a.Expr.Range()
	if c.computed && !config.IsLiteral(a.Expr) {
		x := c.Compute()
		x.Source, x.Versioned = a.Expr, versioned
		return
	}
	if c.literal(a, &c.Source) {
		c.add(c.ParseSource(versioned, c.registry))
	}
}

func (c *call) version(a *hcl.Attribute) {
	if c.computed && !config.IsLiteral(a.Expr) {
		c.Compute().Version = a.Expr
		return
	}
	if v, ok := c.versionConstraint(a); ok {
		c.Version = []config.VersionConstraint{v}
	}
}

// passedProviders reads the providers argument. The result is never nil, so that an empty argument in an
// override file differs from an absent one.
func (r *reader) passedProviders(e hcl.Expression) []config.PassedProvider {
	out := []config.PassedProvider{}
	pairs, ds := hcl.ExprMap(e)
	r.add(ds)
	seen := map[addrs.LocalProviderConfig]hcl.Range{}
	for _, p := range pairs {
		child, ok1 := r.providerRef(traversals.ObjectKey(p.Key))
		parent, key, ok2 := r.providerInstanceRef(p.Value)
		if !ok1 || !ok2 {
			continue
		}
		if old, dup := seen[child]; dup {
			r.errorf(p.Value.Range().Ptr(), "Duplicate provider address",
				"A configuration is passed for %s twice; the first is at %s.", child, at(old))
			continue
		}
		seen[child] = p.Key.Range()
		out = append(out, config.PassedProvider{
			InChild: child, InChildRange: p.Key.Range(), InParent: parent, InParentKey: key, InParentRange: p.Value.Range(),
		})
	}
	return out
}
