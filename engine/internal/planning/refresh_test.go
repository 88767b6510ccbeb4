package planning

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// What Terraform 1.11.4 has to apply after a refresh that found everything as it was.
func TestNeverSame(t *testing.T) {
	t.Parallel()
	plugin := addrs.DefaultProvider("lab")
	for _, tt := range []struct {
		name     string
		provider addrs.Provider
		schema   string
		value    cty.Value
		want     bool
	}{
		{"text", plugin, "a string optional", cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("1")}), false},
		{"number", plugin, "a number optional", cty.ObjectVal(map[string]cty.Value{"a": cty.Zero}), true},
		{"null number", plugin, "a number optional", cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.Number)}), false},
		{"number within", plugin, "a map(number) optional", cty.ObjectVal(map[string]cty.Value{
			"a": cty.MapVal(map[string]cty.Value{"k": cty.NumberIntVal(1)}),
		}), true},
		{"number of the engine itself", addrs.BuiltinTerraform, "a number optional", cty.ObjectVal(map[string]cty.Value{"a": cty.Zero}), false},
		{"sensitive", plugin, "a string optional sensitive", cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.String)}), false},
		{"sensitive text", plugin, "a string optional sensitive", cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x").Mark(marks.Sensitive)}), false},
		{"sensitive number", plugin, "a number optional sensitive", cty.ObjectVal(map[string]cty.Value{"a": cty.Zero.Mark(marks.Sensitive)}), true},
		{"half", plugin, "a number optional", cty.ObjectVal(map[string]cty.Value{"a": cty.MustParseNumberVal("0.5")}), true},
		{"a tenth, which no float is", plugin, "a number optional", cty.ObjectVal(map[string]cty.Value{"a": cty.MustParseNumberVal("0.1")}), false},
		{"more than 64 bits", plugin, "a number optional", cty.ObjectVal(map[string]cty.Value{"a": cty.MustParseNumberVal("12345678901234567890123")}), false},
		{"sensitive within", plugin, "b block list {\n a string optional sensitive\n}", cty.ObjectVal(map[string]cty.Value{
			"b": cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x")})}),
		}), false},
	} {
		b := &block{rs: &schema.Schema{Block: schematest.Block(t, tt.schema)}}
		b.pc.Provider = tt.provider
		if got := b.neverSame(tt.value); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}
