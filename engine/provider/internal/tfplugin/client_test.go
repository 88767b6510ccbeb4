package tfplugin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin5"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin6"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// wire is a connection to a plugin that answers from a table, by method.
type wire struct {
	answers map[string]any // a proto.Message or an error
	calls   []string
}

func (w *wire) Invoke(_ context.Context, method string, _, reply any, _ ...grpc.CallOption) error {
	w.calls = append(w.calls, method)
	_, name, _ := strings.Cut(method[1:], "/")
	switch a := w.answers[name].(type) {
	case error:
		return a
	case proto.Message:
		buf, err := proto.Marshal(a)
		if err != nil {
			return err
		}
		return proto.Unmarshal(buf, reply.(proto.Message))
	}
	return status.Error(codes.Unimplemented, "unknown method "+name)
}

func (*wire) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	panic("no streams")
}

func raw(m proto.Message) []byte {
	buf, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return buf
}

// schema6 is a provider of protocol 6 with one of everything that the protocol knows.
func schema6() *tfplugin.GetProviderSchema_Response {
	str, list := []byte(`"string"`), []byte(`["list","string"]`)
	thing := &tfplugin6.Schema{Version: 3, Block: &tfplugin6.Schema_Block{
		Description: "things", DescriptionKind: tfplugin6.StringKind_MARKDOWN, Deprecated: true, DeprecationMessage: "others",
		Attributes: []*tfplugin6.Schema_Attribute{
			{Name: "id", Type: str, Computed: true},
			{Name: "names", Type: list, Required: true, Description: "all", Sensitive: true},
			{Name: "pass", Type: str, Optional: true, WriteOnly: true, Deprecated: true, DeprecationMessage: "key"},
			{Name: "shape", Optional: true, NestedType: &tfplugin6.Schema_Object{Nesting: tfplugin6.Schema_Object_MAP,
				Attributes: []*tfplugin6.Schema_Attribute{{Name: "w", Type: []byte(`"number"`), Required: true}}}},
		},
		BlockTypes: []*tfplugin6.Schema_NestedBlock{
			{TypeName: "rule", Nesting: tfplugin6.Schema_NestedBlock_LIST, MinItems: 1, MaxItems: 4,
				Block: &tfplugin6.Schema_Block{Attributes: []*tfplugin6.Schema_Attribute{{Name: "port", Type: []byte(`"number"`), Required: true}}}},
			{TypeName: "group", Nesting: tfplugin6.Schema_NestedBlock_GROUP, Block: &tfplugin6.Schema_Block{}},
		},
	}}
	return &tfplugin.GetProviderSchema_Response{
		Provider:                 raw(&tfplugin6.Schema{Block: &tfplugin6.Schema_Block{}}),
		ResourceSchemas:          map[string][]byte{"thing": raw(thing)},
		DataSourceSchemas:        map[string][]byte{"thing": raw(thing)},
		EphemeralResourceSchemas: map[string][]byte{"thing": raw(thing)},
		ServerCapabilities:       &tfplugin.ServerCapabilities{PlanDestroy: true},
		Diagnostics:              []*tfplugin.Diagnostic{{Severity: tfplugin.Diagnostic_WARNING, Summary: "hm"}},
	}
}

func newClient(w *wire, p tfplugin.Protocol, declared *schema.Provider) provider.Client {
	return tfplugin.New(tfplugin.Config{Protocol: p, Name: "lab", Conn: w, Declared: declared})
}

// TestSchema: everything of a schema arrives, and it is asked for once.
func TestSchema(t *testing.T) {
	w := &wire{answers: map[string]any{"GetProviderSchema": schema6()}}
	c := newClient(w, tfplugin6.Protocol, nil)
	declared, ds := c.Schema(t.Context())
	if len(ds) != 1 || ds[0].Severity != diags.Warning {
		t.Errorf("diagnostics: %v", ds)
	}
	c.Schema(t.Context())
	if diff := cmp.Diff([]string{"/tfplugin6.Provider/GetProviderSchema", "/tfplugin6.Provider/GetResourceIdentitySchemas"}, w.calls); diff != "" {
		t.Error(diff)
	}
	thing := declared.Resource("managed", "thing")
	want := &schema.Schema{Version: 3, Block: &schema.Block{
		Description: "things", Markdown: true, Deprecated: true, Instead: "others",
		Attributes: map[string]*schema.Attribute{
			"id":    {Type: cty.String, Computed: true},
			"names": {Type: cty.List(cty.String), Required: true, Description: "all", Sensitive: true},
			"pass":  {Type: cty.String, Optional: true, WriteOnly: true, Deprecated: true, Instead: "key"},
			"shape": {Optional: true, Nested: &schema.Object{Nesting: schema.NestingMap,
				Attributes: map[string]*schema.Attribute{"w": {Type: cty.Number, Required: true}}}},
		},
		Blocks: map[string]*schema.NestedBlock{
			"rule": {Nesting: schema.NestingList, MinItems: 1, MaxItems: 4,
				Block: &schema.Block{Attributes: map[string]*schema.Attribute{"port": {Type: cty.Number, Required: true}}}},
			"group": {Nesting: schema.NestingGroup, Block: &schema.Block{Attributes: map[string]*schema.Attribute{}}},
		},
	}}
	types := cmp.Comparer(func(a, b cty.Type) bool { return a == b || a != cty.NilType && b != cty.NilType && a.Equals(b) })
	block := cmp.Transformer("block", func(b *schema.Block) any {
		return []any{b.Attributes, b.Blocks, b.Description, b.Markdown, b.Deprecated, b.Instead}
	})
	if diff := cmp.Diff(want, thing, types, block); diff != "" {
		t.Error(diff)
	}
	if declared.Resource("data", "thing") == nil || declared.Resource("ephemeral", "thing") == nil || !declared.PlanDestroy || declared.MoveResourceState {
		t.Errorf("%+v", declared)
	}
}

// TestWriteOnlyNumber: write_only has another field number in each protocol.
func TestWriteOnlyNumber(t *testing.T) {
	for n, src := range map[int][]byte{
		5: raw(&tfplugin5.Schema{Block: &tfplugin5.Schema_Block{Attributes: []*tfplugin5.Schema_Attribute{{Name: "p", Type: []byte(`"string"`), WriteOnly: true}}}}),
		6: raw(&tfplugin6.Schema{Block: &tfplugin6.Schema_Block{Attributes: []*tfplugin6.Schema_Attribute{{Name: "p", Type: []byte(`"string"`), WriteOnly: true}}}}),
	} {
		tag := map[int]byte{5: 10 << 3, 6: 11 << 3}[n]
		if !strings.Contains(string(src), string([]byte{tag, 1})) {
			t.Errorf("protocol %d: field %d is not set in %x", n, tag>>3, src)
		}
	}
}

// TestMethods: the calls go by the names of each protocol.
func TestMethods(t *testing.T) {
	ctx := t.Context()
	for _, p := range []tfplugin.Protocol{tfplugin5.Protocol, tfplugin6.Protocol} {
		w := &wire{answers: map[string]any{p.GetSchema: &tfplugin.GetProviderSchema_Response{
			ResourceSchemas: map[string][]byte{"thing": nil}, DataSourceSchemas: map[string][]byte{"thing": nil},
			EphemeralResourceSchemas: map[string][]byte{"thing": nil}, Functions: map[string]*tfplugin.Function{"f": {Return: &tfplugin.Function_Return{Type: []byte(`"string"`)}}},
		}}}
		c := newClient(w, p, nil)
		v := cty.EmptyObjectVal
		c.ValidateProvider(ctx, v)
		c.Configure(ctx, v)
		c.ValidateResource(ctx, "thing", v)
		c.ValidateData(ctx, "thing", v)
		c.ValidateEphemeral(ctx, "thing", v)
		c.UpgradeIdentity(ctx, provider.UpgradeIdentityRequest{TypeName: "thing", JSON: []byte("{}")})
		c.UpgradeState(ctx, provider.UpgradeRequest{TypeName: "thing", JSON: []byte("{}")})
		c.Read(ctx, provider.ReadRequest{TypeName: "thing", Prior: v})
		c.Plan(ctx, provider.PlanRequest{TypeName: "thing", Prior: v, Proposed: v, Config: v})
		c.Apply(ctx, provider.ApplyRequest{TypeName: "thing", Prior: v, Planned: v, Config: v})
		c.Import(ctx, provider.ImportRequest{TypeName: "thing", ID: "x"})
		c.Move(ctx, provider.MoveRequest{TargetType: "thing"})
		c.ReadData(ctx, "thing", v, cty.NilVal)
		c.OpenEphemeral(ctx, "thing", v)
		c.RenewEphemeral(ctx, "thing", nil)
		c.CloseEphemeral(ctx, "thing", nil)
		c.CallFunction(ctx, "f", nil)
		c.Stop(ctx)
		want := map[int]string{
			5: `GetSchema GetResourceIdentitySchemas PrepareProviderConfig Configure ValidateResourceTypeConfig ValidateDataSourceConfig`,
			6: `GetProviderSchema GetResourceIdentitySchemas ValidateProviderConfig ConfigureProvider ValidateResourceConfig ValidateDataResourceConfig`,
		}[p.Version] + ` ValidateEphemeralResourceConfig UpgradeResourceIdentity UpgradeResourceState ReadResource PlanResourceChange ApplyResourceChange` +
			` ImportResourceState MoveResourceState ReadDataSource OpenEphemeralResource RenewEphemeralResource CloseEphemeralResource CallFunction ` +
			map[int]string{5: "Stop", 6: "StopProvider"}[p.Version]
		var names []string
		for _, method := range w.calls {
			name, ok := strings.CutPrefix(method, fmt.Sprintf("/tfplugin%d.Provider/", p.Version))
			if !ok {
				t.Errorf("method %s", method)
			}
			names = append(names, name)
		}
		if diff := cmp.Diff(strings.Fields(want), names); diff != "" {
			t.Error(diff)
		}
	}
}

// TestBrokenCalls is a table of what plugins answer instead of an answer.
func TestBrokenCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		answer any
		fate   string
		want   []string
	}{
		"crashed":        {status.Error(codes.Unavailable, "EOF"), "It burnt.", []string{"Plugin did not respond", "ReadResource", "It burnt."}},
		"lost":           {status.Error(codes.Unavailable, "EOF"), "", []string{"Plugin did not respond", "The connection to it was lost: EOF"}},
		"closed by us":   {status.Error(codes.Canceled, "grpc: the client connection is closing"), "It was ended.", []string{"Plugin did not respond", "It was ended."}},
		"unimplemented":  {status.Error(codes.Unimplemented, ""), "", []string{"does not support the call ReadResource", "newer version"}},
		"too large":      {status.Error(codes.ResourceExhausted, "received message larger than max"), "", []string{"too large"}},
		"own words":      {status.Error(codes.Unknown, "tea break"), "", []string{"Plugin error", "tea break"}},
		"invalid value":  {&tfplugin.ReadResource_Response{NewState: &tfplugin.DynamicValue{Msgpack: []byte{0xa1, 'x'}}}, "", []string{"Provider produced invalid value", "bug in the provider"}},
		"deferred":       {&tfplugin.ReadResource_Response{Deferred: &tfplugin.Deferred{Reason: tfplugin.Deferred_ABSENT_PREREQ}}, "", []string{"deferred", "ABSENT_PREREQ"}},
		"own diagnostic": {&tfplugin.ReadResource_Response{Diagnostics: []*tfplugin.Diagnostic{{Severity: tfplugin.Diagnostic_ERROR, Summary: "no"}}}, "", []string{"no"}},
	} {
		w := &wire{answers: map[string]any{"GetProviderSchema": schema6(), "ReadResource": tc.answer}}
		c := tfplugin.New(tfplugin.Config{Protocol: tfplugin6.Protocol, Name: "lab", Conn: w, Fate: func() string { return tc.fate }})
		declared, _ := c.Schema(t.Context())
		_, ds := c.Read(t.Context(), provider.ReadRequest{TypeName: "thing", Prior: cty.NullVal(declared.Resource("managed", "thing").Block.ImpliedType())})
		for _, want := range tc.want {
			if !strings.Contains(ds.Error(), want) {
				t.Errorf("%s: %q is not in %q", name, want, ds.Error())
			}
		}
	}
}

// TestSchemaTrouble: a schema that fails is asked for again, and one that cannot be
// understood is reported with its place.
func TestSchemaTrouble(t *testing.T) {
	w := &wire{answers: map[string]any{"GetProviderSchema": status.Error(codes.Unknown, "busy")}}
	c := newClient(w, tfplugin6.Protocol, nil)
	if _, ds := c.Schema(t.Context()); !ds.HasErrors() {
		t.Fatal("no error")
	}
	w.answers["GetProviderSchema"] = schema6()
	if _, ds := c.Schema(t.Context()); ds.HasErrors() {
		t.Fatal(ds)
	}
	bad := schema6()
	bad.ResourceSchemas["thing"] = raw(&tfplugin6.Schema{Block: &tfplugin6.Schema_Block{Attributes: []*tfplugin6.Schema_Attribute{{Name: "odd", Type: []byte(`"strin"`)}}}})
	w.answers["GetProviderSchema"] = bad
	c = newClient(w, tfplugin6.Protocol, nil)
	declared, ds := c.Schema(t.Context())
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	// The type alone is of no use: others of the provider are.
	if err := declared.Broken("managed", "thing"); err == nil || declared.Resource("data", "thing") == nil {
		t.Errorf("%v", err)
	}
	if ds := c.ValidateResource(t.Context(), "thing", cty.EmptyObjectVal); !strings.Contains(ds.Error(), "thing: odd: type") {
		t.Errorf("%v", ds)
	}
}

// TestDeclared: with a schema from elsewhere, a plugin is asked only if it insists.
func TestDeclared(t *testing.T) {
	for _, optional := range []bool{true, false} {
		w := &wire{answers: map[string]any{"GetProviderSchema": schema6(), "ConfigureProvider": &tfplugin.ConfigureProvider_Response{}}}
		declared := &schema.Provider{Provider: &schema.Schema{Block: &schema.Block{}}, SchemaOptional: optional}
		c := newClient(w, tfplugin6.Protocol, declared)
		for range 2 {
			if ds := c.Configure(t.Context(), cty.EmptyObjectVal); ds.HasErrors() {
				t.Fatal(ds)
			}
		}
		if asked := strings.Count(strings.Join(w.calls, " "), "GetProviderSchema"); asked != map[bool]int{true: 0, false: 1}[optional] {
			t.Errorf("optional %v: asked %d times", optional, asked)
		}
		if got, _ := c.Schema(t.Context()); got != declared {
			t.Error("another schema")
		}
	}
}

// A notebook is a [tfplugin.Memory].
type notebook struct {
	answer []byte
	kept   int
}

func (n *notebook) Recall() []byte { return n.answer }

func (n *notebook) Keep(answer []byte) { n.answer, n.kept = answer, n.kept+1 }

// remembered is what a memory keeps of an answer.
func remembered(r *tfplugin.GetProviderSchema_Response) []byte {
	return raw(&tfplugin.Declarations{Schemas: r, Identities: &tfplugin.GetResourceIdentitySchemas_Response{}})
}

// TestMemory: a plugin that need not be asked is asked in its first run only, and any other each time.
func TestMemory(t *testing.T) {
	t.Parallel()
	with := func(change func(*tfplugin.GetProviderSchema_Response)) *tfplugin.GetProviderSchema_Response {
		r := schema6()
		r.Diagnostics, r.ServerCapabilities.GetProviderSchemaOptional = nil, true
		change(r)
		return r
	}
	same := func(*tfplugin.GetProviderSchema_Response) {}
	insists := with(func(r *tfplugin.GetProviderSchema_Response) { r.ServerCapabilities.GetProviderSchemaOptional = false })
	warns := with(func(r *tfplugin.GetProviderSchema_Response) {
		r.Diagnostics = []*tfplugin.Diagnostic{{Severity: tfplugin.Diagnostic_WARNING, Summary: "hm"}}
	})
	for _, c := range []struct {
		name   string
		answer *tfplugin.GetProviderSchema_Response
		before []byte // in the memory
		asked  int    // in two runs
	}{
		{"optional", with(same), nil, 1},
		{"insists", insists, nil, 2},
		{"warns", warns, nil, 2},
		{"remembered", with(same), remembered(with(same)), 0},
		{"remembered, but it insists", insists, remembered(insists), 2},
		{"remembered with warnings", warns, remembered(warns), 2},
		{"remembered before there were identities", with(same), raw(with(same)), 1},
		{"garbage", with(same), []byte("garbage"), 1},
		{"remembered a bad block", with(same), remembered(with(func(r *tfplugin.GetProviderSchema_Response) { r.Provider = []byte("x") })), 1},
	} {
		n := &notebook{answer: c.before}
		w := &wire{answers: map[string]any{"GetProviderSchema": c.answer, "ConfigureProvider": &tfplugin.ConfigureProvider_Response{}}}
		for range 2 {
			cl := tfplugin.New(tfplugin.Config{Protocol: tfplugin6.Protocol, Name: "lab", Conn: w, Memory: n})
			declared, ds := cl.Schema(t.Context())
			if ds.HasErrors() || declared.Resource("managed", "thing") == nil || len(ds) != len(c.answer.Diagnostics) {
				t.Errorf("%s: %v", c.name, ds)
			}
			if ds := cl.Configure(t.Context(), cty.EmptyObjectVal); ds.HasErrors() {
				t.Errorf("%s: %v", c.name, ds)
			}
		}
		if asked := strings.Count(strings.Join(w.calls, " "), "GetProviderSchema"); asked != c.asked {
			t.Errorf("%s: asked %d times, not %d", c.name, asked, c.asked)
		}
	}
}
