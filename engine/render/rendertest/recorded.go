// Package rendertest has plans and states for tests of rendering: recorded ones, with Terraform's texts, and
// random ones that no provider would make.
package rendertest

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"math/big"
	"path"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

// A Recording is the output of Terraform 1.11.4 for a plan. Its txtar file in recorded has the configuration
// (for readers), the plan as JSON and as text, and the state before the plan as file, JSON and text. The
// plan's values are decoded from the JSON. So Lockstep's texts for them can be compared with the recorded
// ones.
type Recording struct {
	Name  string
	Files map[string][]byte
}

//go:embed recorded
var recorded embed.FS

// Recordings returns all recordings, sorted by name.
func Recordings(t testing.TB) []Recording {
	t.Helper()
	names, err := fs.Glob(recorded, "recorded/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no recordings", err)
	}
	var out []Recording
	for _, n := range names {
		src, err := recorded.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		a := txtar.Parse(src)
		r := Recording{strings.TrimSuffix(path.Base(n), ".txtar"), map[string][]byte{}}
		for _, f := range a.Files {
			r.Files[f.Name] = f.Data
		}
		out = append(out, r)
	}
	return out
}

// Plan returns the recorded plan.
func (r Recording) Plan(t testing.TB, schemas func(addrs.Provider) *schema.Provider) *plans.Plan {
	t.Helper()
	return readPlan(t, r.Files["plan.json"], schemas)
}

// State returns the recorded state; nil if there is none.
func (r Recording) State(t testing.TB) *states.State {
	t.Helper()
	src := r.Files["terraform.tfstate"]
	if src == nil {
		return nil
	}
	s, err := statefile.Read(src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// planSource is the part of the plan format that is decoded.
type planSource struct {
	Variables map[string]struct{ Value any }
	Drift     []changeSource `json:"resource_drift"`
	Changes   []changeSource `json:"resource_changes"`
	Outputs   map[string]struct {
		Actions         []string
		Before, After   any
		AfterUnknown    any `json:"after_unknown"`
		BeforeSensitive any `json:"before_sensitive"`
	} `json:"output_changes"`
	Relevant []struct {
		Resource  string
		Attribute []any
	} `json:"relevant_attributes"`
	Planned struct {
		Outputs map[string]struct{ Type json.RawMessage }
	} `json:"planned_values"`
	Applyable, Complete, Errored bool
}

type changeSource struct {
	Address, Mode, Type, Name string
	Previous                  string `json:"previous_address"`
	Provider                  string `json:"provider_name"`
	Deposed                   string
	Reason                    string `json:"action_reason"`
	Change                    struct {
		Actions         []string
		Before, After   any
		AfterUnknown    any     `json:"after_unknown"`
		BeforeSensitive any     `json:"before_sensitive"`
		AfterSensitive  any     `json:"after_sensitive"`
		ReplacePaths    [][]any `json:"replace_paths"`
		Importing       *struct {
			ID      string
			Unknown bool
		}
		GeneratedConfig string `json:"generated_config"`
	}
}

// Decode decodes JSON, and keeps the spelling of numbers.
func Decode(t testing.TB, src []byte, into any) {
	t.Helper()
	src = bytes.Replace(src, []byte(`"terraform_version":"1.11.4"`), []byte(`"terraform_version":"`+states.LanguageVersion+`"`), 1) // as Lockstep writes it
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		t.Fatal(err)
	}
}

func readPlan(t testing.TB, src []byte, schemas func(addrs.Provider) *schema.Provider) *plans.Plan {
	t.Helper()
	var in planSource
	Decode(t, src, &in)
	p := &plans.Plan{Mode: plans.NormalMode, Applyable: in.Applyable, Complete: in.Complete, Errored: in.Errored, Variables: map[string]cty.Value{}}
	for name, v := range in.Variables {
		p.Variables[name] = valueOf(v.Value, nil, nil, cty.DynamicPseudoType)
	}
	for _, c := range in.Changes {
		p.Changes = append(p.Changes, readChange(t, c, schemas))
	}
	for _, c := range in.Drift {
		p.Drift = append(p.Drift, readChange(t, c, schemas))
	}
	for name, o := range in.Outputs {
		c := &plans.OutputChange{Name: name, Sensitive: o.BeforeSensitive == true}
		c.Action = actionNamed(o.Actions)
		c.Before = valueOf(o.Before, nil, o.BeforeSensitive, cty.DynamicPseudoType)
		ty := cty.DynamicPseudoType
		if src := in.Planned.Outputs[name].Type; src != nil {
			ty = readType(src)
		}
		c.After = valueOf(o.After, o.AfterUnknown, o.BeforeSensitive, ty)
		p.Outputs = append(p.Outputs, c)
	}
	slices.SortFunc(p.Outputs, func(a, b *plans.OutputChange) int { return strings.Compare(a.Name, b.Name) })
	for _, r := range in.Relevant {
		a, err := addrs.ParseAbsResourceInstance(r.Resource)
		if err != nil {
			continue
		}
		p.Relevant = append(p.Relevant, plans.RelevantAttribute{Resource: a, Attribute: pathOf(r.Attribute)})
	}
	return p
}

func readChange(t testing.TB, in changeSource, schemas func(addrs.Provider) *schema.Provider) *plans.ResourceChange {
	t.Helper()
	a, err := addrs.ParseAbsResourceInstance(in.Address)
	if err != nil {
		t.Fatal(err)
	}
	provider, err := addrs.ParseProvider(in.Provider)
	if err != nil {
		t.Fatal(err)
	}
	rs := schemas(provider).Resource(a.Resource.Resource.Mode.String(), a.Resource.Resource.Type)
	if rs == nil {
		t.Fatalf("no schema for %s", in.Address)
	}
	c := &plans.ResourceChange{
		Addr: addrs.ResourceInstanceObject{Instance: a, Deposed: addrs.DeposedKey(in.Deposed)}, PrevAddr: a,
		Provider: addrs.AbsProviderConfig{Provider: provider}, Reason: plans.Reason(in.Reason), Schema: rs,
	}
	if in.Previous != "" {
		if c.PrevAddr, err = addrs.ParseAbsResourceInstance(in.Previous); err != nil {
			t.Fatal(err)
		}
	}
	x, ty := in.Change, rs.Block.ImpliedType()
	c.Action, c.GeneratedConfig = actionNamed(x.Actions), x.GeneratedConfig
	c.Before = valueOf(x.Before, nil, x.BeforeSensitive, ty)
	c.After = valueOf(x.After, x.AfterUnknown, x.AfterSensitive, ty)
	for _, p := range x.ReplacePaths {
		c.RequiredReplace = append(c.RequiredReplace, pathOf(p))
	}
	if x.Importing != nil {
		c.Importing = &plans.Importing{ID: x.Importing.ID, Unknown: x.Importing.Unknown}
	}
	return c
}

// actions are the actions by their names in the plan format.
var actions = map[string]plans.Action{
	"no-op": plans.NoOp, "create": plans.Create, "read": plans.Read, "update": plans.Update, "delete": plans.Delete,
	"delete create": plans.DeleteThenCreate, "create delete": plans.CreateThenDelete, "forget": plans.Forget,
}

func actionNamed(names []string) plans.Action { return actions[strings.Join(names, " ")] }

func pathOf(steps []any) cty.Path {
	var p cty.Path
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			p = p.GetAttr(s)
		case json.Number:
			n, _ := s.Int64()
			p = p.IndexInt(int(n))
		}
	}
	return p
}

// valueOf returns the value of type ty that v and the masks of unknown and sensitive values describe.
func valueOf(v, unknown, sensitive any, ty cty.Type) cty.Value {
	out := plainOf(v, unknown, sensitive, ty)
	if sensitive == true {
		return out.Mark(marks.Sensitive)
	}
	return out
}

func plainOf(v, unknown, sensitive any, ty cty.Type) cty.Value {
	if unknown == true {
		// The mask shows a type that the schema does not have.
		if _, ok := sensitive.(map[string]any); ok && ty == cty.DynamicPseudoType {
			ty = cty.EmptyObject
		}
		return cty.UnknownVal(ty)
	}
	switch v := v.(type) {
	case nil:
		return cty.NullVal(ty)
	case string:
		return cty.StringVal(v)
	case bool:
		return cty.BoolVal(v)
	case json.Number:
		f, _, err := big.ParseFloat(v.String(), 10, 512, big.ToNearestEven)
		if err != nil {
			panic(err)
		}
		return cty.NumberVal(f)
	case []any:
		return listOf(v, unknown, sensitive, ty)
	case map[string]any:
		return objectOf(v, unknown, sensitive, ty)
	}
	panic("no JSON value")
}

func listOf(v []any, unknown, sensitive any, ty cty.Type) cty.Value {
	us, _ := unknown.([]any)
	ss, _ := sensitive.([]any)
	at := func(list []any, i int) any {
		if i < len(list) {
			return list[i]
		}
		return nil
	}
	ety := cty.DynamicPseudoType
	if ty.IsCollectionType() {
		ety = ty.ElementType()
	}
	vals := make([]cty.Value, 0, len(v))
	for i, e := range v {
		vals = append(vals, valueOf(e, at(us, i), at(ss, i), ety))
	}
	switch {
	case ty.IsSetType() && len(vals) > 0:
		return cty.SetVal(vals)
	case ty.IsSetType():
		return cty.SetValEmpty(ety)
	case ty.IsListType() && len(vals) > 0:
		return cty.ListVal(vals)
	case ty.IsListType():
		return cty.ListValEmpty(ety)
	}
	return cty.TupleVal(vals)
}

func objectOf(v map[string]any, unknown, sensitive any, ty cty.Type) cty.Value {
	us, _ := unknown.(map[string]any)
	ss, _ := sensitive.(map[string]any)
	names := map[string]bool{}
	for k := range v {
		names[k] = true
	}
	for k := range us {
		names[k] = true
	}
	if ty.IsObjectType() {
		for k := range ty.AttributeTypes() {
			names[k] = true
		}
	}
	vals := map[string]cty.Value{}
	for k := range names {
		ety := cty.DynamicPseudoType
		switch {
		case ty.IsMapType():
			ety = ty.ElementType()
		case ty.IsObjectType():
			ety = ty.AttributeType(k)
		}
		vals[k] = valueOf(v[k], us[k], ss[k], ety)
	}
	switch {
	case ty.IsMapType() && len(vals) > 0:
		return cty.MapVal(vals)
	case ty.IsMapType():
		return cty.MapValEmpty(ty.ElementType())
	}
	return cty.ObjectVal(vals)
}

// Schemas returns a function for the schemas of the recorded providers, decoded from the output of `providers
// schema -json`.
func Schemas(t testing.TB) func(addrs.Provider) *schema.Provider {
	t.Helper()
	all := Providers(t)
	return func(p addrs.Provider) *schema.Provider { return all[p] }
}

// SchemasJSON is the output of `providers schema -json`.
func SchemasJSON(t testing.TB) []byte {
	t.Helper()
	src, err := recorded.ReadFile("recorded/schemas.json")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// Providers returns the recorded schemas of all providers.
func Providers(t testing.TB) map[addrs.Provider]*schema.Provider {
	t.Helper()
	var in tfjson.ProviderSchemas
	if err := json.Unmarshal(SchemasJSON(t), &in); err != nil {
		t.Fatal(err)
	}
	out := map[addrs.Provider]*schema.Provider{}
	for name, p := range in.Schemas {
		a, err := addrs.ParseProvider(name)
		if err != nil {
			t.Fatal(err)
		}
		x := &schema.Provider{
			Managed: readSchemas(p.ResourceSchemas), Data: readSchemas(p.DataSourceSchemas),
			Ephemeral: readSchemas(p.EphemeralResourceSchemas), Functions: map[string]*schema.Function{},
		}
		if p.ConfigSchema.Block != nil {
			x.Provider = readSchema(p.ConfigSchema)
		}
		for n, f := range p.Functions {
			x.Functions[n] = readFunction(f)
		}
		out[a] = x
	}
	return out
}

func readSchemas(in map[string]*tfjson.Schema) map[string]*schema.Schema {
	out := map[string]*schema.Schema{}
	for n, s := range in {
		out[n] = readSchema(s)
	}
	return out
}

func readSchema(in *tfjson.Schema) *schema.Schema {
	return &schema.Schema{Version: int64(in.Version), Block: readBlock(in.Block)}
}

func readBlock(in *tfjson.SchemaBlock) *schema.Block {
	b := &schema.Block{
		Attributes: readAttributes(in.Attributes), Blocks: map[string]*schema.NestedBlock{},
		Description: in.Description, Markdown: in.DescriptionKind == tfjson.SchemaDescriptionKindMarkdown, Deprecated: in.Deprecated,
	}
	for n, x := range in.NestedBlocks {
		b.Blocks[n] = &schema.NestedBlock{Block: readBlock(x.Block), Nesting: nestingNamed(x.NestingMode), MinItems: int(x.MinItems), MaxItems: int(x.MaxItems)}
	}
	return b
}

func nestingNamed(s tfjson.SchemaNestingMode) schema.Nesting {
	for _, n := range []schema.Nesting{schema.NestingSingle, schema.NestingGroup, schema.NestingList, schema.NestingSet, schema.NestingMap} {
		if n.String() == string(s) {
			return n
		}
	}
	panic("no nesting " + s)
}

func readAttributes(in map[string]*tfjson.SchemaAttribute) map[string]*schema.Attribute {
	out := map[string]*schema.Attribute{}
	for n, a := range in {
		x := &schema.Attribute{
			Description: a.Description, Markdown: a.DescriptionKind == tfjson.SchemaDescriptionKindMarkdown, Required: a.Required, Optional: a.Optional,
			Computed: a.Computed, Sensitive: a.Sensitive, WriteOnly: a.WriteOnly, Deprecated: a.Deprecated,
		}
		if nested := a.AttributeNestedType; nested != nil {
			x.Nested = &schema.Object{Attributes: readAttributes(nested.Attributes), Nesting: nestingNamed(nested.NestingMode)}
		} else {
			x.Type = a.AttributeType
		}
		out[n] = x
	}
	return out
}

func readType(src json.RawMessage) cty.Type {
	var ty cty.Type
	if err := json.Unmarshal(src, &ty); err != nil {
		panic(err)
	}
	return ty
}

func readFunction(in *tfjson.FunctionSignature) *schema.Function {
	f := &schema.Function{Return: in.ReturnType, Summary: in.Summary, Description: in.Description, Deprecation: in.DeprecationMessage}
	read := func(p *tfjson.FunctionParameter) schema.Parameter {
		return schema.Parameter{Name: p.Name, Type: p.Type, AllowNull: p.IsNullable, Description: p.Description}
	}
	for _, p := range in.Parameters {
		f.Parameters = append(f.Parameters, read(p))
	}
	if in.VariadicParameter != nil {
		v := read(in.VariadicParameter)
		f.Variadic = &v
	}
	return f
}
