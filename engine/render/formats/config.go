package formats

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// The types below are the configuration representation of the plan format. Their members have the order of
// Terraform's output, since some tools compare the text. Members that Terraform leaves out when they are
// empty have omitempty; the others do not.
// Source: https://developer.hashicorp.com/terraform/internals/json-format#configuration-representation

type configJSON struct {
	Providers map[string]providerConfigJSON `json:"provider_config,omitempty"`
	Root      moduleJSON                    `json:"root_module"`
}

type providerConfigJSON struct {
	Name        string         `json:"name,omitempty"`
	FullName    string         `json:"full_name,omitempty"`
	Alias       string         `json:"alias,omitempty"`
	Version     string         `json:"version_constraint,omitempty"`
	Module      string         `json:"module_address,omitempty"`
	Expressions map[string]any `json:"expressions,omitempty"`
}

type moduleJSON struct {
	Outputs   map[string]outputJSON   `json:"outputs,omitempty"`
	Resources []resourceJSON          `json:"resources,omitempty"`
	Calls     map[string]callJSON     `json:"module_calls,omitempty"`
	Variables map[string]variableJSON `json:"variables,omitempty"`
	Actions   []actionJSON            `json:"actions,omitempty"`
}

type outputJSON struct {
	Sensitive   bool     `json:"sensitive,omitempty"`
	Expression  any      `json:"expression,omitempty"`
	DependsOn   []string `json:"depends_on,omitempty"`
	Description string   `json:"description,omitempty"`
	Deprecated  string   `json:"deprecated,omitempty"` // OpenTofu's
}

type resourceJSON struct {
	Address      string            `json:"address"`
	Mode         string            `json:"mode"`
	Type         string            `json:"type"`
	Name         string            `json:"name"`
	ProviderKey  string            `json:"provider_config_key,omitempty"`
	Provisioners []provisionerJSON `json:"provisioners,omitempty"`
	Expressions  map[string]any    `json:"expressions,omitempty"`
	Version      *int64            `json:"schema_version,omitempty"`
	Count        *expressionJSON   `json:"count_expression,omitempty"`
	ForEach      *expressionJSON   `json:"for_each_expression,omitempty"`
	DependsOn    []string          `json:"depends_on,omitempty"`
}

type provisionerJSON struct {
	Type        string         `json:"type"`
	Expressions map[string]any `json:"expressions,omitempty"`
}

type callJSON struct {
	Source      string          `json:"source,omitempty"`
	Expressions map[string]any  `json:"expressions,omitempty"`
	Count       *expressionJSON `json:"count_expression,omitempty"`
	ForEach     *expressionJSON `json:"for_each_expression,omitempty"`
	Module      *moduleJSON     `json:"module,omitempty"`
	Version     string          `json:"version_constraint,omitempty"`
	DependsOn   []string        `json:"depends_on,omitempty"`
}

type variableJSON struct {
	Type        json.RawMessage `json:"type,omitempty"` // of [Module] only
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
	Deprecated  string          `json:"deprecated,omitempty"` // OpenTofu's
	Required    bool            `json:"required,omitempty"`   // of [Module] only
	Sensitive   bool            `json:"sensitive,omitempty"`
}

// A configWriter describes a configuration for the JSON plan format. It first collects the provider
// configurations of all modules, because a resource refers to its provider configuration by a key in this
// list.
type configWriter struct {
	cfg       *config.Config
	schemas   Schemas
	providers providerEntries
}

// configuration returns the "configuration" of a plan: its blocks and their expressions, without any value
// that would need evaluation.
func configuration(cfg *config.Config, schemas Schemas) configJSON {
	w := configWriter{cfg, schemas, providerEntries{}}
	w.enterProviders(cfg.Root)
	return configJSON{Providers: w.providers.own(), Root: w.module(cfg.Root)}
}

// Configuration returns a configuration as JSON, in the form of the member "configuration" of a JSON plan.
func Configuration(cfg *config.Config, schemas Schemas) ([]byte, error) {
	return json.Marshal(configuration(cfg, schemas))
}

// Module returns one module as JSON, in OpenTofu's form of `show -module`: a configuration without expressions,
// schema versions and called modules. Variables have their type. So the module needs neither providers nor the
// modules that it calls.
// Source: https://opentofu.org/docs/cli/commands/show/#json-output
func Module(m *config.Module) ([]byte, error) {
	alone := *m
	alone.Children = nil
	w := configWriter{&config.Config{Root: &alone}, nil, providerEntries{}}
	w.enterProviders(&alone)
	out := configJSON{Providers: w.providers.own(), Root: w.module(&alone)}
	for key, p := range out.Providers {
		p.Expressions = nil
		out.Providers[key] = p
	}
	for name, o := range out.Root.Outputs {
		o.Expression = nil
		out.Root.Outputs[name] = o
	}
	for i := range out.Root.Resources {
		r := &out.Root.Resources[i]
		r.Expressions, r.Count, r.ForEach, r.Version = nil, nil, nil, nil
		for j := range r.Provisioners {
			r.Provisioners[j].Expressions = nil
		}
	}
	for i := range out.Root.Actions {
		out.Root.Actions[i].Count, out.Root.Actions[i].ForEach = nil, nil
	}
	for name, call := range m.Calls {
		if out.Root.Calls == nil {
			out.Root.Calls = map[string]callJSON{}
		}
		out.Root.Calls[name] = callJSON{Source: call.Source, Version: constraints(call.Version), DependsOn: subjects(call.DependsOn)}
	}
	for name, v := range m.Variables {
		x := out.Root.Variables[name]
		if x.Required = v.Default == cty.NilVal; v.Type != cty.DynamicPseudoType {
			ty, err := v.Type.MarshalJSON()
			if err != nil {
				return nil, err
			}
			x.Type = ty
		}
		out.Root.Variables[name] = x
	}
	return json.Marshal(out)
}

// module describes a module and, below its calls, the called modules. Managed resources come
// before data resources, as in Terraform.
func (w configWriter) module(m *config.Module) moduleJSON {
	out := moduleJSON{Outputs: w.outputs(m), Variables: w.variables(m), Actions: w.actions(m)}
	rs := slices.SortedFunc(maps.Values(m.Resources), func(a, b *config.Resource) int {
		return cmp.Or(-cmp.Compare(a.Addr.Mode, b.Addr.Mode), cmp.Compare(a.Addr.Type, b.Addr.Type), cmp.Compare(a.Addr.Name, b.Addr.Name))
	})
	for _, r := range rs {
		if r.Addr.Mode == addrs.Ephemeral {
			continue // the format cannot represent them
		}
		out.Resources = append(out.Resources, w.resource(m, r))
	}
	for name, call := range m.Calls {
		child := m.Children[name]
		if child == nil {
			continue
		}
		if out.Calls == nil {
			out.Calls = map[string]callJSON{}
		}
		out.Calls[name] = w.call(call, child)
	}
	return out
}

func (w configWriter) outputs(m *config.Module) map[string]outputJSON {
	out := make(map[string]outputJSON, len(m.Outputs))
	for name, o := range m.Outputs {
		out[name] = outputJSON{
			Sensitive: o.Sensitive, Description: o.Description, Deprecated: o.Deprecated,
			Expression: expression(o.Expr), DependsOn: subjects(o.DependsOn),
		}
	}
	return out
}

func (w configWriter) variables(m *config.Module) map[string]variableJSON {
	out := make(map[string]variableJSON, len(m.Variables))
	for name, v := range m.Variables {
		x := variableJSON{Description: v.Description, Deprecated: v.Deprecated, Sensitive: v.Sensitive}
		if v.Default != cty.NilVal {
			x.Default = Plain(v.Default)
		}
		out[name] = x
	}
	return out
}

// Plain returns v as JSON without its type; nil if v is not wholly known.
func Plain(v cty.Value) json.RawMessage {
	if !v.IsWhollyKnown() {
		return nil
	}
	t := &jsonText{}
	t.value(v)
	return t.b
}

func (w configWriter) resource(m *config.Module, r *config.Resource) resourceJSON {
	abs := m.ResourceProvider(r)
	out := resourceJSON{
		Address: r.Addr.String(), Mode: r.Addr.Mode.String(), Type: r.Addr.Type, Name: r.Addr.Name,
		ProviderKey: w.providers.source(providerKey(m.Addr, r.Provider)),
		Count:       repetition(r.Count), ForEach: repetition(r.ForEach), DependsOn: subjects(r.DependsOn),
	}
	rs := w.schemas.Resource(abs.Provider, r.Addr)
	version := schemaVersion(rs)
	out.Version = &version
	if rs != nil {
		out.Expressions = expressions(r.Body, rs.Block)
	} else {
		out.Expressions = attributesOf(r.Body)
	}
	for _, p := range r.Provisioners {
		out.Provisioners = append(out.Provisioners, provisionerJSON{Type: p.Type, Expressions: attributesOf(p.Body)})
	}
	return out
}

func (w configWriter) call(c *config.Call, child *config.Module) callJSON {
	args := make(map[string]any, len(c.Args))
	for name, a := range c.Args {
		args[name] = expression(a.Expr)
	}
	called := w.module(child)
	return callJSON{
		Source: c.Source, Expressions: args, Count: repetition(c.Count), ForEach: repetition(c.ForEach),
		Module: &called, Version: constraints(c.Version), DependsOn: subjects(c.DependsOn),
	}
}

// constraints joins version constraints as Terraform prints them: sorted by version, without "=", and with
// all three parts of a version ("1" is "1.0.0"). Only versions after ~> are unchanged, since there the number
// of parts has a meaning.
func constraints(list []config.VersionConstraint) string {
	type constraint struct {
		text string
		v    *version.Version
	}
	var all []constraint
	for _, x := range list {
		for text := range strings.SplitSeq(x.Text, ",") {
			number := strings.TrimLeft(text, "=!<>~ ")
			op := strings.TrimSpace(text[:len(text)-len(number)])
			number = strings.TrimSpace(number)
			v, err := version.NewVersion(number)
			if err == nil && op != "~>" {
				number = v.String()
			}
			all = append(all, constraint{strings.TrimSpace(strings.TrimPrefix(op, "=") + " " + number), v})
		}
	}
	slices.SortStableFunc(all, func(a, b constraint) int {
		if a.v == nil || b.v == nil {
			return 0
		}
		return a.v.Compare(b.v)
	})
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = c.text
	}
	return strings.Join(slices.Compact(texts), ", ")
}

// expressions describes a body by its schema: arguments as expressions, and nested blocks as an object, an
// array or a map, depending on their nesting mode. Dynamic blocks, which no schema has, are left out, as in
// Terraform.
func expressions(body hcl.Body, b *schema.Block) map[string]any {
	if body == nil {
		return nil
	}
	content, _, _ := body.PartialContent(bodySchema(b))
	out := map[string]any{}
	for name, a := range content.Attributes {
		out[name] = expression(a.Expr)
	}
	for _, block := range content.Blocks {
		nested := b.Blocks[block.Type]
		if nested == nil {
			continue
		}
		in := expressions(block.Body, nested.Block)
		switch nested.Nesting {
		case schema.NestingSingle, schema.NestingGroup:
			out[block.Type] = in
		case schema.NestingMap:
			all, _ := out[block.Type].(map[string]any)
			if all == nil {
				all = map[string]any{}
			}
			all[block.Labels[0]] = in
			out[block.Type] = all
		default:
			all, _ := out[block.Type].([]any)
			out[block.Type] = append(all, in)
		}
	}
	return out
}

func bodySchema(b *schema.Block) *hcl.BodySchema {
	out := &hcl.BodySchema{}
	for name := range b.Attributes {
		out.Attributes = append(out.Attributes, hcl.AttributeSchema{Name: name})
	}
	for name, n := range b.Blocks {
		h := hcl.BlockHeaderSchema{Type: name}
		if n.Nesting == schema.NestingMap {
			h.LabelNames = []string{"key"}
		}
		out.Blocks = append(out.Blocks, h)
	}
	return out
}

// attributesOf describes the attributes of a body without a schema.
func attributesOf(body hcl.Body) map[string]any {
	if body == nil {
		return nil
	}
	attrs, _ := body.JustAttributes()
	if len(attrs) == 0 {
		return nil
	}
	out := make(map[string]any, len(attrs))
	for name, a := range attrs {
		out[name] = expression(a.Expr)
	}
	return out
}
