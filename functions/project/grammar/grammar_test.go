package grammar

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestSchema holds the JSON Schema against its golden file, so that a reviewer sees what editors get.
func TestSchema(t *testing.T) {
	golden.File(t, "testdata/schema.json", string(Schema()))
}

// TestSchemaHasTheTable holds that every argument of the parser is in the schema, with its text, and
// that no block allows others.
func TestSchemaHasTheTable(t *testing.T) {
	t.Parallel()
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	at := func(n any, path ...string) any {
		for _, key := range path {
			m, _ := n.(map[string]any)
			n = m[key]
		}
		return n
	}
	for _, b := range append([]Block{file}, blocks...) {
		n := any(root)
		if b.Type != "" {
			n = at(root, "properties", b.Type)
		}
		if b.Label != "" {
			n = at(n, "additionalProperties")
		}
		if at(n, "additionalProperties") != false {
			t.Errorf("%s: other arguments are allowed", b.Type)
		}
		for _, a := range b.Args {
			if at(n, "properties", a.Name, "description") != a.description() || !strings.HasSuffix(a.Doc, ".") {
				t.Errorf("%s.%s: it has no description", b.Type, a.Name)
			}
			if a.Required == (a.Default != "") {
				t.Errorf("%s.%s: an argument is required, or has a default", b.Type, a.Name)
			}
		}
	}
}

// TestRead is a table of the values of each form.
func TestRead(t *testing.T) {
	t.Parallel()
	block := Block{Type: "test", Args: []Argument{
		{Name: "text"}, {Name: "one", OneOf: []string{"a", "b"}}, {Name: "bool", Kind: boolean}, {Name: "texts", Kind: texts},
		{Name: "map", Kind: dict}, {Name: "values", Kind: values}, {Name: "files", Kind: files}, {Name: "number", Kind: number}, {Name: "numbers", Kind: numbers},
	}}
	for src, want := range map[string]string{
		`text = "x"`: "", `text = <<EOT` + "\nx\nEOT\n": "", `text = true`: "must be a text.", `text = "${1}"`: "must be a text.",
		`one = "a"`: "", `one = "c"`: `can be "a" or "b" only`,
		`bool = true`: "", `bool = "true"`: "", `bool = "x"`: "must be true or false", `bool = null`: "not null",
		`texts = []`: "", `texts = ["a"]`: "", `texts = [1]`: "must be a list of texts", `texts = "a"`: "must be a list of texts", `texts = [null]`: "must be a list of texts",
		`map = {}`: "", `map = { a = "x" }`: "", `map = { a = ["x"] }`: "must be texts by names", `map = []`: "must be texts by names",
		`values = { a = [1, { b = null }] }`: "", `values = "x"`: "must be values by names",
		`files = ["a"]`: "", `files = { a = 1 }`: "", `files = [1]`: "must be a list of files", `files = true`: "must be a list of files",
		`numbers = { a = 1 }`: "", `numbers = {}`: "", `numbers = { a = 1.5 }`: "must be whole numbers by names", `numbers = { a = null }`: "must be whole numbers by names", `numbers = [1]`: "must be whole numbers by names",
		`number = 3`: "", `number = 1.5`: "must be a whole number", `number = "3"`: "must be a whole number",
		`other = 1`: "A test block can have text, one, bool, texts, map, values, files, number and numbers.",
		`text = x`:  "Variables not allowed",
	} {
		f, ds := parsing.Config([]byte(src+"\n"), "x.hcl")
		if ds.HasErrors() {
			t.Fatalf("%s: %v", src, ds)
		}
		values, ds := Read(block, f.Body)
		if ds.HasErrors() != (want != "") || want != "" && !strings.Contains(ds.Error()+ds[0].Detail, want) {
			t.Errorf("%s: %v; want %q", src, ds, want)
		}
		if (len(values) == 1) == ds.HasErrors() {
			t.Errorf("%s: %v", src, values)
		}
	}
}
