package applying

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// TestKnown is a table of planned objects, and of the attributes by which a report lets people look
// for them.
func TestKnown(t *testing.T) {
	t.Parallel()
	many := map[string]cty.Value{"name": cty.StringVal("n"), "zone_name": cty.StringVal("z")}
	for i := range 2 * mostKnown {
		many[fmt.Sprintf("a%02d", i)] = cty.NumberIntVal(int64(i))
	}
	long := strings.Repeat("x", longKnown)
	for _, c := range []struct {
		planned cty.Value
		want    string
	}{
		{cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x"), "n": cty.MustParseNumberVal("1.25")}), "map[a:x n:1.25]"},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal(long), "b": cty.StringVal(long + "x"), "c": cty.StringVal("")}), "map[a:" + long + "]"},
		{cty.ObjectVal(map[string]cty.Value{
			"null": cty.NullVal(cty.String), "later": cty.UnknownVal(cty.String), "list": cty.ListValEmpty(cty.String), "yes": cty.True,
			"secret": cty.StringVal("x").Mark(marks.Sensitive), "large": cty.MustParseNumberVal("12345678901234567890"),
		}), "map[large:12345678901234567890]"},
		{cty.ObjectVal(many), "map[a00:0 a01:1 a02:2 a03:3 a04:4 a05:5 name:n zone_name:z]"},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x")}).Mark(marks.Sensitive), "map[]"},
		{cty.NullVal(cty.EmptyObject), "map[]"},
		{cty.StringVal("x"), "map[]"},
	} {
		if got := fmt.Sprint(known(c.planned)); got != c.want {
			t.Errorf("%#v: %s, want %s", c.planned, got, c.want)
		}
	}
}
