package loading

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// FuzzLoad loads one text as a root module, as a called module, as an override of
// itself and as a variables file. Nothing may panic, and a configuration that loads
// must load again from the files it was read from, to the same requirements.
func FuzzLoad(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range a.Files {
			if strings.HasSuffix(x.Name, ".tf") || strings.HasSuffix(x.Name, ".json") {
				f.Add(string(x.Data), strings.HasSuffix(x.Name, ".json"))
			}
		}
	}
	for _, deep := range []string{"locals {\n  x = " + strings.Repeat("(", 5000), strings.Repeat("b {\n", 5000), strings.Repeat("[", 5000), `{"locals": {"x": "${` + strings.Repeat("!", 5000)} {
		f.Add(deep, strings.HasPrefix(deep, "{") || strings.HasPrefix(deep, "["))
	}
	f.Fuzz(func(t *testing.T, text string, isJSON bool) {
		ext := ".tf"
		if isJSON {
			ext = ".tf.json"
		}
		files := map[string][]byte{
			"main" + ext:     []byte(text),
			"override" + ext: []byte(text),
			"m/main" + ext:   []byte(text),
			"call.tf":        []byte(`module "fuzzed" { source = "./m" }`),
		}
		cfg, ds := Load(Input{Tree: source.Files(files)})
		visit(cfg)
		if _, err := cfg.Manifest().Encode(); err != nil {
			t.Fatal(err)
		}
		file, _ := inputs.File(inputs.FromAutoFile, map[bool]string{false: "x.tfvars", true: "x.tfvars.json"}[isJSON], []byte(text))
		values, _ := inputs.Values(cfg.Root.Content, []inputs.Source{file})
		for name := range cfg.Root.Variables {
			if values[name] == cty.NilVal {
				t.Fatalf("no value for variable %q", name)
			}
		}
		if ds.HasErrors() {
			return
		}
		again := map[string][]byte{}
		for name, file := range cfg.Files {
			again[name] = file.Bytes
		}
		second, ds := Load(Input{Tree: source.Files(again)})
		if ds.HasErrors() || len(second.ProviderRequirements()) != len(cfg.ProviderRequirements()) {
			t.Fatalf("the second load differs: %v", ds)
		}
	})
}

// visit uses what is evaluated on demand only.
func visit(cfg *config.Config) {
	schema := &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "name", Required: true}, {Name: "input"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "disk"}, {Type: "dynamic", LabelNames: []string{"type"}}},
	}
	for _, m := range cfg.Order {
		for _, x := range m.Resources {
			m.ResourceProvider(x)
			x.Body.Content(schema)
			_, rest, _ := x.Body.PartialContent(schema)
			rest.JustAttributes()
			x.Body.MissingItemRange()
		}
		for _, p := range m.Providers {
			m.ProviderConfig(p.Addr)
			p.Body.Content(schema)
		}
	}
	cfg.ProviderRequirements()
}
