package tfplugin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin6"
)

// BenchmarkLargeSchema is what it costs to be told the schema of a provider with 1,000
// resource types of 100 attributes, described as large providers describe theirs.
func BenchmarkLargeSchema(b *testing.B) {
	types := []string{`"string"`, `"bool"`, `"number"`, `["list","string"]`, `["map","string"]`, `["set",["object",{"a":"string","b":"number"}]]`}
	resp := &tfplugin.GetProviderSchema_Response{ResourceSchemas: map[string][]byte{}}
	for i := range 1000 {
		block := &tfplugin6.Schema_Block{}
		for j := range 10 {
			nested := &tfplugin6.Schema_Block{}
			for k := range 9 {
				nested.Attributes = append(nested.Attributes, &tfplugin6.Schema_Attribute{
					Name: fmt.Sprint("attribute_", k), Type: []byte(types[k%len(types)]), Optional: true, Description: strings.Repeat("What it means. ", 4)})
			}
			block.BlockTypes = append(block.BlockTypes, &tfplugin6.Schema_NestedBlock{TypeName: fmt.Sprint("block_", j), Nesting: tfplugin6.Schema_NestedBlock_LIST, Block: nested})
			block.Attributes = append(block.Attributes, &tfplugin6.Schema_Attribute{Name: fmt.Sprint("top_", j), Type: []byte(types[j%len(types)]), Optional: true})
		}
		resp.ResourceSchemas[fmt.Sprint("thing_", i)] = raw(&tfplugin6.Schema{Block: block})
	}
	w := &wire{answers: map[string]any{"GetProviderSchema": resp}}
	b.SetBytes(int64(len(raw(resp))))
	for b.Loop() {
		if _, ds := newClient(w, tfplugin6.Protocol, nil).Schema(b.Context()); ds.HasErrors() {
			b.Fatal(ds)
		}
	}
}
