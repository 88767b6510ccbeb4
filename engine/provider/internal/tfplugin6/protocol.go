// Package tfplugin6 has the parts of provider plugin protocol 6 that differ from protocol 5: the names of its
// methods, and its schemas. Everything else is in package tfplugin. Start at [Protocol].
package tfplugin6

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Protocol describes protocol 6.
var Protocol = tfplugin.Protocol{
	Version:          6,
	Service:          "tfplugin6.Provider",
	GetSchema:        "GetProviderSchema",
	ValidateProvider: "ValidateProviderConfig",
	ValidateResource: "ValidateResourceConfig",
	ValidateData:     "ValidateDataResourceConfig",
	Configure:        "ConfigureProvider",
	Stop:             "StopProvider",
	Schema:           decodeSchema,
}

func decodeSchema(raw []byte, types *tfplugin.Types) (*schema.Schema, error) {
	var s Schema
	if err := proto.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	b, err := block(s.Block, types)
	if err != nil {
		return nil, err
	}
	return &schema.Schema{Version: s.Version, Block: b}, nil
}

func block(b *Schema_Block, types *tfplugin.Types) (*schema.Block, error) {
	out := &schema.Block{
		Attributes:  make(map[string]*schema.Attribute, len(b.GetAttributes())),
		Description: b.GetDescription(),
		Markdown:    b.GetDescriptionKind() == StringKind_MARKDOWN,
		Deprecated:  b.GetDeprecated(),
		Instead:     b.GetDeprecationMessage(),
	}
	if n := len(b.GetBlockTypes()); n > 0 {
		out.Blocks = make(map[string]*schema.NestedBlock, n)
	}
	for _, a := range b.GetAttributes() {
		attr, err := attribute(a, types)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		out.Attributes[a.Name] = attr
	}
	for _, nb := range b.GetBlockTypes() {
		inner, err := block(nb.Block, types)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nb.TypeName, err)
		}
		out.Blocks[nb.TypeName] = &schema.NestedBlock{
			Block:    inner,
			Nesting:  blockNesting[nb.Nesting],
			MinItems: int(nb.MinItems),
			MaxItems: int(nb.MaxItems),
		}
	}
	return out, nil
}

var blockNesting = map[Schema_NestedBlock_NestingMode]schema.Nesting{
	Schema_NestedBlock_SINGLE: schema.NestingSingle,
	Schema_NestedBlock_GROUP:  schema.NestingGroup,
	Schema_NestedBlock_LIST:   schema.NestingList,
	Schema_NestedBlock_SET:    schema.NestingSet,
	Schema_NestedBlock_MAP:    schema.NestingMap,
}

func attribute(a *Schema_Attribute, types *tfplugin.Types) (*schema.Attribute, error) {
	out := &schema.Attribute{
		Description: a.Description,
		Markdown:    a.DescriptionKind == StringKind_MARKDOWN,
		Required:    a.Required,
		Optional:    a.Optional,
		Computed:    a.Computed,
		Sensitive:   a.Sensitive,
		WriteOnly:   a.WriteOnly,
		Deprecated:  a.Deprecated,
		Instead:     a.DeprecationMessage,
	}
	var err error
	if a.NestedType != nil {
		out.Nested, err = object(a.NestedType, types)
	} else {
		out.Type, err = types.Parse(a.Type)
	}
	return out, err
}

func object(o *Schema_Object, types *tfplugin.Types) (*schema.Object, error) {
	out := &schema.Object{
		Attributes: make(map[string]*schema.Attribute, len(o.Attributes)),
		Nesting:    objectNesting[o.Nesting],
	}
	for _, a := range o.Attributes {
		attr, err := attribute(a, types)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		out.Attributes[a.Name] = attr
	}
	return out, nil
}

var objectNesting = map[Schema_Object_NestingMode]schema.Nesting{
	Schema_Object_SINGLE: schema.NestingSingle,
	Schema_Object_LIST:   schema.NestingList,
	Schema_Object_SET:    schema.NestingSet,
	Schema_Object_MAP:    schema.NestingMap,
}
