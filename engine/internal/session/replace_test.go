package session

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// TestReplacePathsAreSorted holds that the paths which make an update impossible have one order, whatever the
// provider's is, and that none is there twice.
func TestReplacePathsAreSorted(t *testing.T) {
	t.Parallel()
	object := func(text string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{
			"name": cty.StringVal(text), "ttl": cty.StringVal(text), "same": cty.StringVal("same"),
			"records": cty.ListVal([]cty.Value{cty.StringVal(text), cty.StringVal(text)}),
			"tags":    cty.MapVal(map[string]cty.Value{"b": cty.StringVal(text), "a": cty.StringVal(text)}),
		})
	}
	paths := []cty.Path{
		cty.GetAttrPath("ttl"), cty.GetAttrPath("records").IndexInt(1), cty.GetAttrPath("records").IndexInt(0), cty.GetAttrPath("same"),
		cty.GetAttrPath("tags").IndexString("b"), cty.GetAttrPath("tags").IndexString("a"), cty.GetAttrPath("name"), cty.GetAttrPath("ttl"),
	}
	for range 20 {
		rand.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		got, ds := new(Question).replacePaths(object("before"), provider.PlanResponse{Planned: object("after"), RequiresReplace: paths})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		var keys []string
		for _, p := range got {
			keys = append(keys, states.PathKey(p))
		}
		if text := strings.Join(keys, " "); text != `.name .records[0] .records[1] .tags["a"] .tags["b"] .ttl` {
			t.Fatalf("%s", text)
		}
	}
}
