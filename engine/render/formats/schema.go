package formats

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// schemaFormat is the version of the format of `providers schema -json`; see
// https://developer.hashicorp.com/terraform/cli/commands/providers/schema.
const schemaFormat = "1.0"

type schemasJSON struct {
	FormatVersion string                   `json:"format_version"`
	Schemas       map[string]*providerJSON `json:"provider_schemas,omitempty"`
}

type providerJSON struct {
	Provider  *schemaJSON              `json:"provider,omitempty"`
	Managed   map[string]*schemaJSON   `json:"resource_schemas,omitempty"`
	Data      map[string]*schemaJSON   `json:"data_source_schemas,omitempty"`
	Ephemeral map[string]*schemaJSON   `json:"ephemeral_resource_schemas,omitempty"`
	Functions map[string]*functionJSON `json:"functions,omitempty"`
	Identity  map[string]*identityJSON `json:"resource_identity_schemas,omitempty"`
	Actions   map[string]*schemaJSON   `json:"action_schemas,omitempty"`
}

type identityJSON struct {
	Version    int64                             `json:"version"`
	Attributes map[string]*identityAttributeJSON `json:"attributes,omitempty"`
}

type identityAttributeJSON struct {
	Type              json.RawMessage `json:"type,omitempty"`
	Description       string          `json:"description,omitempty"`
	RequiredForImport bool            `json:"required_for_import,omitempty"`
	OptionalForImport bool            `json:"optional_for_import,omitempty"`
}

type schemaJSON struct {
	Version int64      `json:"version"`
	Block   *blockJSON `json:"block,omitempty"`
}

type blockJSON struct {
	Attributes      map[string]*attributeJSON   `json:"attributes,omitempty"`
	Blocks          map[string]*nestedBlockJSON `json:"block_types,omitempty"`
	Description     string                      `json:"description,omitempty"`
	DescriptionKind string                      `json:"description_kind,omitempty"`
	Deprecated      bool                        `json:"deprecated,omitempty"`
}

type nestedBlockJSON struct {
	Nesting string     `json:"nesting_mode,omitempty"`
	Block   *blockJSON `json:"block,omitempty"`
	Min     int        `json:"min_items,omitempty"`
	Max     int        `json:"max_items,omitempty"`
}

type attributeJSON struct {
	Type            json.RawMessage `json:"type,omitempty"`
	Nested          *objectJSON     `json:"nested_type,omitempty"`
	Description     string          `json:"description,omitempty"`
	DescriptionKind string          `json:"description_kind,omitempty"`
	Deprecated      bool            `json:"deprecated,omitempty"`
	Required        bool            `json:"required,omitempty"`
	Optional        bool            `json:"optional,omitempty"`
	Computed        bool            `json:"computed,omitempty"`
	Sensitive       bool            `json:"sensitive,omitempty"`
	WriteOnly       bool            `json:"write_only,omitempty"`
}

type objectJSON struct {
	Attributes map[string]*attributeJSON `json:"attributes,omitempty"`
	Nesting    string                    `json:"nesting_mode,omitempty"`
}

type functionJSON struct {
	Description string           `json:"description,omitempty"`
	Summary     string           `json:"summary,omitempty"`
	Deprecation string           `json:"deprecation_message,omitempty"`
	Return      json.RawMessage  `json:"return_type"`
	Parameters  []*parameterJSON `json:"parameters,omitempty"`
	Variadic    *parameterJSON   `json:"variadic_parameter,omitempty"`
}

type parameterJSON struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	IsNullable  bool            `json:"is_nullable,omitempty"`
	Type        json.RawMessage `json:"type"`
}

// ProviderSchemas returns the output of `providers schema -json`. It fails if a schema has a type that cannot
// be written.
func ProviderSchemas(ps map[addrs.Provider]*schema.Provider) ([]byte, error) {
	out := schemasJSON{FormatVersion: schemaFormat, Schemas: make(map[string]*providerJSON, len(ps))}
	for addr, p := range ps {
		if p == nil {
			continue
		}
		var err error
		if out.Schemas[addr.String()], err = newProviderJSON(p); err != nil {
			return nil, err
		}
		if addr.IsBuiltin() {
			out.Schemas[addr.String()].Provider = &schemaJSON{} // a provider without configuration
		}
	}
	return json.Marshal(out)
}

func newProviderJSON(p *schema.Provider) (*providerJSON, error) {
	out := &providerJSON{}
	var err error
	if p.Provider != nil {
		if out.Provider, err = newSchemaJSON(p.Provider); err != nil {
			return nil, err
		}
	} else {
		out.Provider = &schemaJSON{}
	}
	for mode, into := range map[string]*map[string]*schemaJSON{"managed": &out.Managed, "data": &out.Data, "ephemeral": &out.Ephemeral, "action": &out.Actions} {
		types, err := p.Types(mode)
		if err != nil {
			return nil, err
		}
		if *into, err = eachOf(types, newSchemaJSON); err != nil {
			return nil, err
		}
		for name, s := range types {
			if s.Identity == nil {
				continue
			}
			if out.Identity == nil {
				out.Identity = map[string]*identityJSON{}
			}
			if out.Identity[name], err = newIdentityJSON(s.Identity); err != nil {
				return nil, err
			}
		}
	}
	out.Functions, err = eachOf(p.Functions, newFunctionJSON)
	return out, err
}

// eachOf returns the results of f for the values of a map; nil for an empty one.
func eachOf[A, B any](in map[string]A, f func(A) (B, error)) (map[string]B, error) {
	if len(in) == 0 {
		return nil, nil
	}
	out := make(map[string]B, len(in))
	for k, v := range in {
		var err error
		if out[k], err = f(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func newSchemaJSON(s *schema.Schema) (*schemaJSON, error) {
	b, err := newBlockJSON(s.Block)
	return &schemaJSON{Version: s.Version, Block: b}, err
}

func newBlockJSON(b *schema.Block) (*blockJSON, error) {
	out := &blockJSON{Description: b.Description, DescriptionKind: descriptionKind(b.Markdown), Deprecated: b.Deprecated}
	var err error
	if out.Attributes, err = eachOf(b.Attributes, newAttributeJSON); err != nil {
		return nil, err
	}
	out.Blocks, err = eachOf(b.Blocks, func(n *schema.NestedBlock) (*nestedBlockJSON, error) {
		in, err := newBlockJSON(n.Block)
		return &nestedBlockJSON{Nesting: n.Nesting.String(), Block: in, Min: n.MinItems, Max: n.MaxItems}, err
	})
	return out, err
}

func newAttributeJSON(a *schema.Attribute) (*attributeJSON, error) {
	out := &attributeJSON{
		Description: a.Description, DescriptionKind: descriptionKind(a.Markdown), Deprecated: a.Deprecated,
		Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive, WriteOnly: a.WriteOnly,
	}
	var err error
	if a.Nested == nil {
		out.Type, err = typeJSON(a.Type)
		return out, err
	}
	out.Nested = &objectJSON{Nesting: a.Nested.Nesting.String()}
	out.Nested.Attributes, err = eachOf(a.Nested.Attributes, newAttributeJSON)
	return out, err
}

func descriptionKind(markdown bool) string {
	if markdown {
		return "markdown"
	}
	return "plain"
}

func typeJSON(ty cty.Type) (json.RawMessage, error) {
	t := &jsonText{}
	err := t.ctyType(ty)
	return t.b, err
}

func newFunctionJSON(f *schema.Function) (*functionJSON, error) {
	out := &functionJSON{Description: f.Description, Summary: f.Summary, Deprecation: f.Deprecation}
	var err error
	if out.Return, err = typeJSON(f.Return); err != nil {
		return nil, err
	}
	for i := range f.Parameters {
		p, err := newParameterJSON(&f.Parameters[i])
		if err != nil {
			return nil, err
		}
		out.Parameters = append(out.Parameters, p)
	}
	if f.Variadic != nil {
		out.Variadic, err = newParameterJSON(f.Variadic)
	}
	return out, err
}

func newParameterJSON(p *schema.Parameter) (*parameterJSON, error) {
	ty, err := typeJSON(p.Type)
	return &parameterJSON{Name: p.Name, Description: p.Description, IsNullable: p.AllowNull, Type: ty}, err
}

func newIdentityJSON(i *schema.Identity) (*identityJSON, error) {
	out := &identityJSON{Version: i.Version, Attributes: make(map[string]*identityAttributeJSON, len(i.Attributes))}
	for name, a := range i.Attributes {
		ty, err := a.Type.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out.Attributes[name] = &identityAttributeJSON{ty, a.Description, a.RequiredForImport, a.OptionalForImport}
	}
	return out, nil
}
