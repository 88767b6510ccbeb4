package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// resourceSchema holds the meta-arguments of resource, data and ephemeral blocks. What
// else stands in a block belongs to the provider.
var resourceSchema = &hcl.BodySchema{
	Attributes: dataSchema.Attributes,
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "locals"}, // reserved
		{Type: "lifecycle"},
		{Type: "connection"},
		{Type: "provisioner", LabelNames: []string{"type"}},
		{Type: "_"},
	},
}

// dataSchema is resourceSchema for data and ephemeral blocks.
var dataSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "count"}, {Name: "for_each"}, {Name: "provider"}, {Name: "depends_on"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "locals"}, {Type: "lifecycle"}, {Type: "_"}},
}

// modeWords are what messages call the blocks of a mode.
var modeWords = map[addrs.ResourceMode]string{
	addrs.Managed: "resource", addrs.Data: "data", addrs.Ephemeral: "ephemeral",
}

// resource reads a resource, data or ephemeral block.
func (r *reader) resource(b *hcl.Block, mode addrs.ResourceMode) {
	x := r.resourceBlock(b, mode)
	old := r.c.Resources[x.Addr]
	switch {
	case r.override && old == nil:
		r.missingResource(x)
	case r.override:
		r.overrideResource(old, x)
	case old != nil:
		r.duplicateResource(x, old)
	default:
		r.c.Resources[x.Addr] = x
	}
}

func (r *reader) missingResource(x *Resource) {
	what := map[addrs.ResourceMode]string{addrs.Managed: "resource", addrs.Data: "data resource", addrs.Ephemeral: "ephemeral resource"}[x.Addr.Mode]
	r.missingBase(x.Range, "Missing "+what+" to override", x.Addr.String())
}

func (r *reader) duplicateResource(x, old *Resource) {
	summary := map[addrs.ResourceMode]string{
		addrs.Managed: "Duplicate resource", addrs.Data: "Duplicate data", addrs.Ephemeral: "Duplicate ephemeral",
	}[x.Addr.Mode]
	r.duplicate(x.Range, summary+" \""+x.Addr.Type+"\" configuration", x.Addr.String(), old.Range)
}

// resourceBlock reads the block itself.
func (r *reader) resourceBlock(b *hcl.Block, mode addrs.ResourceMode) *Resource {
	x := &Resource{
		Addr:      addrs.Resource{Mode: mode, Type: b.Labels[0], Name: b.Labels[1]},
		Range:     b.DefRange,
		TypeRange: b.LabelRanges[0],
	}
	schema := dataSchema
	if mode == addrs.Managed {
		schema = resourceSchema
	}
	content, remain := r.partial(b.Body, schema)
	r.name(b, 0, resourceNameSummary(mode, "type"))
	r.name(b, 1, resourceNameSummary(mode, "name"))
	r.metaArguments(x, content)
	var lifecycle, connection, escape *hcl.Block
	x.Body = remain
	for _, n := range content.Blocks {
		switch n.Type {
		case "lifecycle":
			if r.once(&lifecycle, n, "Duplicate lifecycle block", "A "+modeWords[mode]+" block may have only one lifecycle block.") {
				x.lifecycleRange = &n.DefRange
				r.lifecycle(x, n)
			}
		case "connection":
			if r.once(&connection, n, "Duplicate connection block", "A resource block may have only one connection block.") {
				x.Connection = n.Body
			}
		case "provisioner":
			if p := r.provisioner(n); p != nil {
				x.Provisioners = append(x.Provisioners, p)
			}
		case "_":
			if r.once(&escape, n, "Duplicate escaping block", "The block named _ may be used only once in each block.") {
				x.Body = withEscaped(x.Body, n.Body)
			}
		default:
			r.errorf(&n.TypeRange, "Reserved block type name in "+modeWords[mode]+" block",
				reservedName, n.Type)
		}
	}
	r.destroyConnection(x)
	return x
}

// destroyConnection checks the resource's connection, if provisioners for the
// destruction use it.
func (r *reader) destroyConnection(x *Resource) {
	for _, p := range x.Provisioners {
		if p.OnDestroy && x.Connection != nil {
			r.destroyReferences(x.Connection)
			return
		}
	}
}

func resourceNameSummary(mode addrs.ResourceMode, part string) string {
	switch mode {
	case addrs.Data:
		if part == "type" {
			return "Invalid data source name"
		}
		return "Invalid data resource name"
	case addrs.Ephemeral:
		return "Invalid ephemeral resource " + part
	}
	return "Invalid resource " + part + map[string]string{"type": " name"}[part]
}

// metaArguments reads count, for_each, provider and depends_on.
func (r *reader) metaArguments(x *Resource, content *hcl.BodyContent) {
	attrs := content.Attributes
	x.given = r.givenArgs(content)
	x.Repetition = r.repetition(attrs)
	x.Provider = addrs.LocalProviderConfig{LocalName: x.Addr.ImpliedProvider()}
	if a := attrs["provider"]; a != nil {
		if local, key, ok := r.providerInstanceRef(a.Expr); ok {
			x.Provider, x.ProviderKey, x.ProviderRange = local, key, a.Expr.Range().Ptr()
		}
	}
	x.DependsOn = r.dependsOn(attrs["depends_on"])
}

var provisionerSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "when"}, {Name: "on_failure"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "connection"}, {Type: "lifecycle"}, {Type: "_"}},
}

// removedProvisioners are those that the language had once.
var removedProvisioners = map[string]bool{"chef": true, "habitat": true, "puppet": true, "salt-masterless": true}

// provisioner reads a provisioner block; nil if it cannot be used at all.
func (r *reader) provisioner(b *hcl.Block) *Provisioner {
	p := &Provisioner{Type: b.Labels[0], Range: b.DefRange}
	if removedProvisioners[p.Type] {
		r.errorf(&b.LabelRanges[0], "The \""+p.Type+"\" provisioner has been removed", "The provisioner is not part of the language any more, since Terraform 0.15.")
		return nil
	}
	content, remain := r.partial(b.Body, provisionerSchema)
	p.Body = remain
	if a := content.Attributes["when"]; a != nil {
		switch r.keyword(a) {
		case "create":
		case "destroy":
			p.OnDestroy = true
		default:
			r.errorf(a.Expr.Range().Ptr(), `Invalid "when" keyword`, `The argument "when" must be one of the keywords create and destroy.`)
		}
	}
	if a := content.Attributes["on_failure"]; a != nil {
		switch r.keyword(a) {
		case "fail":
		case "continue":
			p.Continue = true
		default:
			r.errorf(a.Expr.Range().Ptr(), `Invalid "on_failure" keyword`, `The argument "on_failure" must be one of the keywords continue and fail.`)
		}
	}
	var connection, escape *hcl.Block
	for _, n := range content.Blocks {
		switch n.Type {
		case "connection":
			if r.once(&connection, n, "Duplicate connection block", "A provisioner block may have only one connection block.") {
				p.Connection = n.Body
			}
		case "_":
			if r.once(&escape, n, "Duplicate escaping block", "The block named _ may be used only once in each block.") {
				p.Body = withEscaped(p.Body, n.Body)
			}
		default:
			r.errorf(&n.TypeRange, "Reserved block type name in provisioner block", reservedName, n.Type)
		}
	}
	if p.OnDestroy {
		r.destroyReferences(p.Body)
		r.destroyReferences(p.Connection)
	}
	return p
}

// keyword reads an argument that is a bare word; words in quotes, as of old, are
// accepted with a warning.
func (r *reader) keyword(a *hcl.Attribute) string {
	e, ds := unquoteKeyword(a.Expr)
	r.diags = append(r.diags, ds...)
	return hcl.ExprAsKeyword(e)
}
