package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
)

const ignoredSchema = `
name string required
size number optional
tags map(string) optional
list list(string) optional
spec single optional {
  color string optional
  tags  map(string) optional
}
disk block list {
  gb    number optional
  label string optional
}
place block single {
  room string optional
}
`

// TestIgnoreChanges lists what becomes of a configuration value: what is ignored has
// the prior value, as far as both values have such a place.
func TestIgnoreChanges(t *testing.T) {
	t.Parallel()
	b := schematest.Block(t, ignoredSchema)
	for _, c := range []struct{ name, ignore, prior, config, want string }{
		{"an attribute", `size`,
			`{ name = "a", size = 1 }`, `{ name = "b", size = 2 }`, `{ name = "b", size = 1 }`},
		{"that was not there", `size`,
			`{ name = "a" }`, `{ name = "a", size = 2 }`, `{ name = "a" }`},
		{"that is not there any more", `size`,
			`{ name = "a", size = 1 }`, `{ name = "a" }`, `{ name = "a", size = 1 }`},
		{"that is not known", `size`,
			`{ name = "a", size = 1 }`, `{ name = "a", size = unknown }`, `{ name = "a", size = 1 }`},
		{"that is sensitive now", `size`,
			`{ name = "a", size = 1 }`, `{ name = sensitive("a"), size = sensitive(1) }`, `{ name = sensitive("a"), size = 1 }`},
		{"everything", `all`,
			`{ name = "a", size = 1 }`, `{ name = "b", tags = { x = "1" } }`, `{ name = "a", size = 1 }`},
		{"a creation", `size`,
			``, `{ name = "b", size = 2 }`, `{ name = "b", size = 2 }`},
		{"all of a creation", `all`,
			``, `{ name = "b", size = 2 }`, `{ name = "b", size = 2 }`},
		{"a key of a map", `tags["x"]`,
			`{ name = "a", tags = { x = "1", y = "1" } }`, `{ name = "a", tags = { x = "2", y = "2" } }`, `{ name = "a", tags = { x = "1", y = "2" } }`},
		{"the same, written as an attribute", `tags.x`,
			`{ name = "a", tags = { x = "1", y = "1" } }`, `{ name = "a", tags = { x = "2", y = "2" } }`, `{ name = "a", tags = { x = "1", y = "2" } }`},
		{"a key that is new in the object", `tags["x"]`,
			`{ name = "a", tags = { x = "1" } }`, `{ name = "a", tags = { y = "2" } }`, `{ name = "a", tags = { x = "1", y = "2" } }`},
		{"a key that is new in the configuration", `tags["x"]`,
			`{ name = "a", tags = { y = "1" } }`, `{ name = "a", tags = { x = "2", y = "1" } }`, `{ name = "a", tags = { y = "1" } }`},
		{"the only key, new in the configuration", `tags["x"]`,
			`{ name = "a" }`, `{ name = "a", tags = { x = "2" } }`, `{ name = "a" }`},
		{"a key of a map that is gone", `tags["x"]`,
			`{ name = "a", tags = { x = "1", y = "1" } }`, `{ name = "a" }`, `{ name = "a", tags = { x = "1" } }`},
		{"a key that nobody has", `tags["z"]`,
			`{ name = "a", tags = { x = "1" } }`, `{ name = "a", tags = { x = "2" } }`, `{ name = "a", tags = { x = "2" } }`},
		{"an element of a list", `list[1]`,
			`{ name = "a", list = ["x", "y"] }`, `{ name = "a", list = ["u", "v", "w"] }`, `{ name = "a", list = ["u", "y", "w"] }`},
		{"an element that is not there", `list[2]`,
			`{ name = "a", list = ["x", "y"] }`, `{ name = "a", list = ["u", "v", "w"] }`, `{ name = "a", list = ["u", "v", "w"] }`},
		{"inside nested attributes", `spec.color`,
			`{ name = "a", spec = { color = "red" } }`, `{ name = "a", spec = { color = "blue", tags = { x = "1" } } }`, `{ name = "a", spec = { color = "red", tags = { x = "1" } } }`},
		{"deep in a map", `spec.tags["x"]`,
			`{ name = "a", spec = { tags = { x = "1" } } }`, `{ name = "a", spec = { tags = { x = "2" } } }`, `{ name = "a", spec = { tags = { x = "1" } } }`},
		{"one block's attribute", `disk[0].gb`,
			`{ name = "a", disk = [{ gb = 1 }] }`, `{ name = "a", disk = [{ gb = 2, label = "x" }, { gb = 3 }] }`, `{ name = "a", disk = [{ gb = 1, label = "x" }, { gb = 3 }] }`},
		{"all blocks of a type", `disk`,
			`{ name = "a", disk = [{ gb = 1 }] }`, `{ name = "a" }`, `{ name = "a", disk = [{ gb = 1 }] }`},
		{"a single block's attribute", `place.room`,
			`{ name = "a", place = { room = "r" } }`, `{ name = "a", place = { room = "s" } }`, `{ name = "a", place = { room = "r" } }`},
		{"a block that is not there", `place.room`,
			`{ name = "a", place = { room = "r" } }`, `{ name = "a" }`, `{ name = "a" }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &config.Resource{IgnoreAllChanges: c.ignore == "all"}
			if !r.IgnoreAllChanges {
				t1, hs := hclsyntax.ParseTraversalAbs([]byte(c.ignore), "ignore", hcl.InitialPos)
				if hs.HasErrors() {
					t.Fatal(hs)
				}
				r.IgnoreChanges = []hcl.Traversal{t1}
			}
			got, ds := ignoreChanges(r, schematest.Value(t, b, c.prior), schematest.Value(t, b, c.config))
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			if diff := cmp.Diff(schematest.Text(b, schematest.Value(t, b, c.want)), schematest.Text(b, got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
