package session

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
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

// TestIgnoredSecretsStayMarked tries every combination of an ignored path, a prior value and a configuration whose
// every "hush" is sensitive. Wherever "hush" is in the result, it must be sensitive there, too. No prior value
// has one.
func TestIgnoredSecretsStayMarked(t *testing.T) {
	t.Parallel()
	b := schematest.Block(t, ignoredSchema+`
any any optional
ids set(string) optional
rows list optional {
  color string optional
}
named map optional {
  color string optional
}
cells set optional {
  color string optional
}
zone block map {
  label string optional
}
port block set {
  label string optional
}
`)
	ignored := []string{
		`size`, `tags`, `tags["x"]`, `tags.x`, `list`, `list[0]`, `list[1]`, `spec`, `spec.color`, `spec.tags`, `spec.tags["x"]`,
		`disk`, `disk[0]`, `disk[0].label`, `disk[1].label`, `place`, `place.room`, `any`, `any.x`, `any["x"]`, `any[0]`, `any[1].x`, `any.x.y`, `any.x[0]`,
		`ids`, `rows`, `rows[0]`, `rows[1].color`, `named["x"]`, `named["x"].color`, `named.x.color`, `cells`, `zone["x"]`, `zone["x"].label`, `zone.x.label`, `port`,
	}
	configs := []string{
		`tags = { x = s }`, `tags = { x = s, y = "1" }`, `tags = sensitive({ x = "hush" })`, `list = [s]`, `list = ["1", s]`, `list = [s, s, s]`, `list = sensitive(["hush"])`,
		`spec = { color = s }`, `spec = { tags = { x = s } }`, `spec = sensitive({ color = "hush", tags = { x = "hush" } })`,
		`disk = [{ label = s }]`, `disk = [{ gb = 1 }, { label = s }]`, `place = { room = s }`,
		`any = s`, `any = { x = s }`, `any = { x = { y = s } }`, `any = { x = [s] }`, `any = [s]`, `any = [1, { x = s }]`, `any = tolist([s])`, `any = tomap({ x = s })`, `any = tomap({ x = tolist([s]) })`,
		`ids = [s]`, `rows = [{ color = s }]`, `rows = [{}, { color = s }]`, `named = { x = { color = s } }`, `cells = [{ color = s }]`,
		`zone = { x = { label = s } }`, `port = [{ label = s }]`,
	}
	priors := []string{
		``, `tags = {}`, `tags = { x = "1" }`, `tags = { y = "1" }`, `list = []`, `list = ["1"]`, `list = ["1", "2"]`, `list = ["1", "2", "3", "4"]`,
		`spec = {}`, `spec = { color = "1" }`, `spec = { tags = { x = "1" } }`, `spec = { tags = { y = "1" } }`,
		`disk = [{ gb = 1 }]`, `disk = [{ label = "1" }, { gb = 1 }]`, `place = { room = "1" }`, `place = {}`,
		`any = "1"`, `any = { x = "1" }`, `any = { x = { y = 1 } }`, `any = { x = {} }`, `any = { x = [] }`, `any = { x = [1] }`, `any = [1]`, `any = ["1", { x = 1 }]`,
		`any = tolist([1])`, `any = tolist(["1", "2"])`, `any = tomap({ x = 1 })`, `any = tomap({ y = "1" })`, `any = tomap({ x = tolist([1]) })`, `any = toset(["1"])`,
		`ids = ["1"]`, `rows = [{}]`, `rows = [{ color = "1" }, {}]`, `named = { x = {} }`, `named = { y = { color = "1" } }`, `named = { x = { color = "1" } }`, `cells = [{ color = "1" }]`,
		`zone = { x = {} }`, `zone = { y = { label = "1" } }`, `zone = { x = { label = "1" } }`, `port = [{ label = "1" }]`,
	}
	secret := regexp.MustCompile(`\bs\b`)
	for _, ignore := range ignored {
		path, hs := hclsyntax.ParseTraversalAbs([]byte(ignore), "ignore", hcl.InitialPos)
		if hs.HasErrors() {
			t.Fatal(hs)
		}
		r := &config.Resource{IgnoreChanges: []hcl.Traversal{path}}
		for _, config := range configs {
			value := schematest.Value(t, b, `{ name = "a", `+secret.ReplaceAllString(config, `sensitive("hush")`)+` }`)
			for _, prior := range priors {
				got, ds := ignoreChanges(r, schematest.Value(t, b, `{ name = "a", `+prior+` }`), value)
				if ds.HasErrors() {
					t.Fatal(ds)
				}
				if open := openSecrets(got); open != "" {
					t.Errorf("ignore_changes = [%s]\nprior  { %s }\nconfig { %s }: not sensitive: %s", ignore, prior, config, open)
				}
			}
		}
	}
}

// openSecrets returns the path of a "hush" in v that is not sensitive, if there is one.
func openSecrets(v cty.Value) string {
	plain, secret := marks.Paths(v, marks.Sensitive)
	found := ""
	_ = cty.Walk(plain, func(path cty.Path, v cty.Value) (bool, error) {
		if v.Type() == cty.String && v.IsKnown() && !v.IsNull() && v.AsString() == "hush" &&
			!slices.ContainsFunc(secret, func(s cty.Path) bool { return path.HasPrefix(s) }) {
			found = schema.FormatPath(path)
		}
		return found == "", nil
	})
	return found
}
