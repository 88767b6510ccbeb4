package tfplugin

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Types decodes types from their JSON form. It remembers decoded types: a provider with ten thousand
// attributes has only a few different types. It is not safe for concurrent use.
type Types struct {
	known map[string]cty.Type
}

// Parse decodes a type.
func (t *Types) Parse(src []byte) (cty.Type, error) {
	if ty, ok := t.known[string(src)]; ok {
		return ty, nil
	}
	ty, err := ctyjson.UnmarshalType(src)
	if err != nil {
		return cty.NilType, fmt.Errorf("type %q: %w", src, err)
	}
	if t.known == nil {
		t.known = make(map[string]cty.Type)
	}
	t.known[string(src)] = ty
	return ty, nil
}

func decodeSchemas(all *Declarations, p Protocol) (*schema.Provider, error) {
	types := &Types{}
	var later Types // for schemas that are decoded later, perhaps while types is in use
	resp, identities := all.Schemas, all.Identities.GetIdentitySchemas()
	server := resp.ServerCapabilities
	out := &schema.Provider{
		Provider:          &schema.Schema{Block: &schema.Block{}},
		PlanDestroy:       server.GetPlanDestroy(),
		MoveResourceState: server.GetMoveResourceState(),
		SchemaOptional:    server.GetGetProviderSchemaOptional(),
		GenerateConfig:    server.GetGenerateResourceConfig(),
	}
	var err error
	if len(resp.Provider) > 0 {
		if out.Provider, err = p.Schema(resp.Provider, types); err != nil {
			return nil, fmt.Errorf("provider: %w", err)
		}
	}
	if len(resp.ProviderMeta) > 0 {
		if out.Meta, err = p.Schema(resp.ProviderMeta, types); err != nil {
			return nil, fmt.Errorf("provider_meta: %w", err)
		}
	}
	actions := make(map[string][]byte, len(resp.ActionSchemas))
	for name, a := range resp.ActionSchemas {
		actions[name] = a.GetSchema()
	}
	out.Later = schema.NewLater(map[string]map[string][]byte{
		"managed": resp.ResourceSchemas, "data": resp.DataSourceSchemas, "ephemeral": resp.EphemeralResourceSchemas, "list": resp.ListResourceSchemas, "action": actions,
	}, func(mode, name string, raw []byte) (*schema.Schema, error) {
		s, err := p.Schema(raw, &later)
		if identity, ok := identities[name]; ok && err == nil && mode == "managed" {
			s.Identity, err = decodeIdentitySchema(identity, &later)
		}
		return s, err
	})
	out.Functions = make(map[string]*schema.Function, len(resp.Functions))
	for name, f := range resp.Functions {
		if out.Functions[name], err = decodeFunction(f, types); err != nil {
			return nil, fmt.Errorf("function %s: %w", name, err)
		}
	}
	return out, nil
}

func decodeIdentitySchema(raw []byte, types *Types) (*schema.Identity, error) {
	var in ResourceIdentitySchema
	if err := proto.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	out := &schema.Identity{Version: in.Version, Attributes: make(map[string]*schema.IdentityAttribute, len(in.IdentityAttributes))}
	for _, a := range in.IdentityAttributes {
		ty, err := types.Parse(a.Type)
		if err != nil {
			return nil, fmt.Errorf("identity: attribute %s: %w", a.Name, err)
		}
		out.Attributes[a.Name] = &schema.IdentityAttribute{
			Type: ty, Description: a.Description, RequiredForImport: a.RequiredForImport, OptionalForImport: a.OptionalForImport,
		}
	}
	return out, nil
}

func decodeFunction(f *Function, types *Types) (*schema.Function, error) {
	out := &schema.Function{
		Summary:     f.Summary,
		Description: f.Description,
		Markdown:    f.DescriptionKind == StringKind_MARKDOWN,
		Deprecation: f.DeprecationMessage,
	}
	for _, p := range f.Parameters {
		param, err := decodeParameter(p, types)
		if err != nil {
			return nil, err
		}
		out.Parameters = append(out.Parameters, param)
	}
	if f.VariadicParameter != nil {
		param, err := decodeParameter(f.VariadicParameter, types)
		if err != nil {
			return nil, err
		}
		out.Variadic = &param
	}
	var err error
	out.Return, err = types.Parse(f.Return.GetType())
	return out, err
}

func decodeParameter(p *Function_Parameter, types *Types) (schema.Parameter, error) {
	ty, err := types.Parse(p.Type)
	if err != nil {
		return schema.Parameter{}, fmt.Errorf("parameter %s: %w", p.Name, err)
	}
	return schema.Parameter{
		Name:         p.Name,
		Type:         ty,
		AllowNull:    p.AllowNullValue,
		AllowUnknown: p.AllowUnknownValues,
		Description:  p.Description,
		Markdown:     p.DescriptionKind == StringKind_MARKDOWN,
	}, nil
}
