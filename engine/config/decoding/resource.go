package decoding

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// resourceSchema has the meta-arguments of resource, data and ephemeral blocks. All other arguments and
// blocks belong to the provider.
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

// dataSchema has the meta-arguments of data and ephemeral blocks. resourceSchema has the meta-arguments of
// resource blocks.
var dataSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "count"}, {Name: "for_each"}, {Name: "provider"}, {Name: "depends_on"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "locals"}, {Type: "lifecycle"}, {Type: "_"}},
}

// modeWords are the words for the resource modes in messages.
var modeWords = map[addrs.ResourceMode]string{
	addrs.Managed: "resource", addrs.Data: "data", addrs.Ephemeral: "ephemeral",
}

// A resource is a resource, data or ephemeral block that is being read.
type resource struct {
	*reader
	*config.Resource
	given          map[string]bool // the arguments present; in override files only
	lifecycleRange *hcl.Range      // nil without a lifecycle block
}

func (d *Decoder) managed(b *hcl.Block)   { d.resource(b, addrs.Managed) }
func (d *Decoder) data(b *hcl.Block)      { d.resource(b, addrs.Data) }
func (d *Decoder) ephemeral(b *hcl.Block) { d.resource(b, addrs.Ephemeral) }

// resource reads a resource, data or ephemeral block.
func (d *Decoder) resource(b *hcl.Block, mode addrs.ResourceMode) {
	x := d.resourceBlock(b, mode)
	old := d.content.Resources[x.Addr]
	switch {
	case d.override && old == nil:
		d.missingResource(x.Resource)
	case d.override:
		x.replace(old)
	case old != nil:
		d.duplicateResource(x.Resource, old)
	default:
		d.content.Resources[x.Addr] = x.Resource
	}
}

func (d *Decoder) missingResource(x *config.Resource) {
	what := map[addrs.ResourceMode]string{addrs.Managed: "resource", addrs.Data: "data resource", addrs.Ephemeral: "ephemeral resource"}[x.Addr.Mode]
	d.missingBase(x.Range, "Missing "+what+" to override", x.Addr.String())
}

func (d *Decoder) duplicateResource(x, old *config.Resource) {
	summary := map[addrs.ResourceMode]string{
		addrs.Managed: "Duplicate resource", addrs.Data: "Duplicate data", addrs.Ephemeral: "Duplicate ephemeral",
	}[x.Addr.Mode]
	d.duplicate(x.Range, summary+" \""+x.Addr.Type+"\" configuration", x.Addr.String(), old.Range)
}

// resourceBlock reads a block independently of other blocks. Only the language's own arguments and blocks are
// decoded; the others stay in Body, for the provider's schema.
func (r *reader) resourceBlock(b *hcl.Block, mode addrs.ResourceMode) *resource {
	x := &resource{reader: r, Resource: &config.Resource{
		Addr:      addrs.Resource{Mode: mode, Type: b.Labels[0], Name: b.Labels[1]},
		Range:     b.DefRange,
		TypeRange: b.LabelRanges[0],
	}}
	schema := dataSchema
	if mode == addrs.Managed {
		schema = resourceSchema
	}
	content, remain := r.partialContentOf(b.Body, schema)
	r.name(b, 0, resourceNameSummary(mode, "type"))
	r.name(b, 1, resourceNameSummary(mode, "name"))
	x.metaArguments(content)
	var lifecycle, connection, escape *hcl.Block
	x.Body = remain
	for _, n := range content.Blocks {
		switch n.Type {
		case "lifecycle":
			if r.once(&lifecycle, n, "Duplicate lifecycle block", "A "+modeWords[mode]+" block may have only one lifecycle block.") {
				x.lifecycleRange = &n.DefRange
				x.lifecycle(n)
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
				x.Body = escapedBody(x.Body, n.Body)
			}
		default:
			r.errorf(&n.TypeRange, "Reserved block type name in "+modeWords[mode]+" block",
				reservedName, n.Type)
		}
	}
	x.destroyConnection()
	return x
}

// metaArguments reads count, for_each, provider and depends_on. Without a provider argument, the resource
// uses the default configuration of a provider. The local name of this provider is the first word of the
// resource type.
// Source: https://developer.hashicorp.com/terraform/language/meta-arguments/resource-provider
func (x *resource) metaArguments(content *hcl.BodyContent) {
	attrs := content.Attributes
	x.given = x.givenArgs(content)
	x.Repetition = x.repetition(attrs)
	x.Provider = addrs.LocalProviderConfig{LocalName: x.Addr.ImpliedProvider()}
	if a := attrs["provider"]; a != nil {
		if local, key, ok := x.providerInstanceRef(a.Expr); ok {
			x.Provider, x.ProviderKey, x.ProviderRange = local, key, a.Expr.Range().Ptr()
		}
	}
	x.DependsOn = x.dependsOn(attrs["depends_on"])
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
