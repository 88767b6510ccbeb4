package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// server is a resource type of a usual size, with a body and a context for it.
func server(b *testing.B) (*schema.Block, hcl.Body, *hcl.EvalContext) {
	var s strings.Builder
	for i := range 20 {
		fmt.Fprintf(&s, "arg%d string optional\nout%d string computed\n", i, i)
	}
	s.WriteString("tags map(string) optional\nsecret string optional sensitive\nports list(number) optional\ndisk block list {\n gb number optional\n serial string computed\n}\nrule block set {\n port number optional\n}\n")
	body := "arg0 = \"x-${each}\"\narg1 = each\narg2 = \"fixed\"\narg3 = var.a\nports = [80, 443]\ntags = {\n name = each\n env = \"prod\"\n}\ndisk {\n gb = 10\n}\ndisk {\n gb = 20\n}\nrule {\n port = 80\n}\n"
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{
		"each": cty.StringVal("e"), "var": cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("a")}),
	}}
	return schematest.Block(b, s.String()), parseBody(b, body), ctx
}

// terraformData is the type of the built-in resource, and a body for it.
func terraformData(b *testing.B) (*schema.Block, hcl.Body) {
	return schematest.Block(b, "id string computed\ninput any optional\noutput any computed\ntriggers_replace any optional"),
		parseBody(b, "input = \"x-${each}\"")
}

func BenchmarkDecode(b *testing.B) {
	block, body, ctx := server(b)
	small, smallBody := terraformData(b)
	bound, smallBound := block.Bind(body), small.Bind(smallBody)
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"server", func() { block.Decode(body, ctx) }},
		{"server/bound", func() { bound.Decode(ctx) }},
		{"server/hcldec", func() { hcldec.Decode(dynblock.Expand(body, ctx), block.DecoderSpec(), ctx) }},
		{"data", func() { small.Decode(smallBody, ctx) }},
		{"data/bound", func() { smallBound.Decode(ctx) }},
		{"data/hcldec", func() { hcldec.Decode(dynblock.Expand(smallBody, ctx), small.DecoderSpec(), ctx) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
}

func BenchmarkVariables(b *testing.B) {
	block, body, _ := server(b)
	b.ReportAllocs()
	for b.Loop() {
		block.Variables(body)
	}
}

func BenchmarkContract(b *testing.B) {
	block, body, ctx := server(b)
	config, _ := block.Decode(body, ctx)
	planned := block.SetUnknowns(config)
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"ProposedNew/create", func() { schema.ProposedNew(block, block.NullValue(), config) }},
		{"ProposedNew/same", func() { schema.ProposedNew(block, config, config) }},
		{"ProposedNew/update", func() { schema.ProposedNew(block, planned, config) }},
		{"AssertPlanValid", func() { schema.AssertPlanValid(block, block.NullValue(), config, planned) }},
		{"AssertObjectCompatible", func() { schema.AssertObjectCompatible(block, planned, config) }},
		{"SensitivePaths", func() { block.SensitivePaths(config) }},
		{"WithoutWriteOnly", func() { block.WithoutWriteOnly(config) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	block, body, ctx := server(b)
	v, _ := block.Decode(body, ctx)
	ty := block.ImpliedType()
	small, smallBody := terraformData(b)
	sv, _ := small.Decode(smallBody, ctx)
	text, _ := ctyjson.Marshal(v, ty)
	stext, _ := ctyjson.Marshal(sv, small.ImpliedType())
	var buf []byte
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"append/server", func() { buf, _ = block.JSON().Append(buf[:0], v) }},
		{"append/server/cty", func() { ctyjson.Marshal(v, ty) }},
		{"append/data", func() { buf, _ = small.JSON().Append(buf[:0], sv) }},
		{"append/data/cty", func() { ctyjson.Marshal(sv, small.ImpliedType()) }},
		{"parse/server", func() { block.JSON().Parse(text) }},
		{"parse/server/cty", func() { ctyjson.Unmarshal(text, ty) }},
		{"parse/data", func() { small.JSON().Parse(stext) }},
		{"parse/data/cty", func() { ctyjson.Unmarshal(stext, small.ImpliedType()) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
}
