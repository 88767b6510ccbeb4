package inputs_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/internal/configtest"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// TestValues prints the value and the type of each variable, then the diagnostics.
func TestValues(t *testing.T) {
	t.Parallel()
	configtest.Run(t, "testdata/*.txtar", func(t *testing.T, files map[string][]byte) string {
		cfg, ds := loading.Load(loading.Input{Tree: source.Files(files)})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		sources, ds := variableSources(t, files)
		values, more := inputs.Values(cfg.Root.Content, sources)
		ds = append(ds, more...)
		for _, d := range ds {
			if strings.Contains(d.Detail, "hush") {
				t.Errorf("a diagnostic shows a secret: %s", d)
			}
		}
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(values)) {
			v := values[name]
			text := "unknown"
			if v.IsWhollyKnown() {
				j, err := ctyjson.Marshal(v, v.Type())
				if err != nil {
					t.Fatal(err)
				}
				text = string(j)
			}
			fmt.Fprintf(&b, "%s = %s, %s\n", name, text, typeexpr.TypeString(v.Type()))
		}
		return b.String() + configtest.Lines(ds)
	})
}

// variableSources does what a command does with its options.
func variableSources(t *testing.T, files map[string][]byte) ([]inputs.Source, diags.Diagnostics) {
	t.Helper()
	var env []string
	var auto, given []inputs.Source
	var ds diags.Diagnostics
	for _, name := range inputs.AutoFiles(slices.Collect(maps.Keys(files))) {
		s, more := inputs.File(inputs.FromAutoFile, name, files[name])
		auto, ds = append(auto, s), append(ds, more...)
	}
	for line := range strings.Lines(string(files["run"])) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "env":
			env = append(env, "TF_VAR_"+rest)
		case "var":
			s, more := inputs.Option(rest)
			given, ds = append(given, s), append(ds, more...)
		case "file":
			s, more := inputs.File(inputs.FromNamedFile, rest, files[rest])
			given, ds = append(given, s), append(ds, more...)
		default:
			t.Fatalf("unknown source %q", word)
		}
	}
	return slices.Concat([]inputs.Source{inputs.Environment(env)}, auto, given), ds
}

func TestUnset(t *testing.T) {
	t.Parallel()
	cfg, _ := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(`
variable "b" {}
variable "a" {}
variable "c" { default = 1 }
variable "d" {}
`)})})
	var names []string
	for _, v := range inputs.Unset(cfg.Root.Content, []inputs.Source{{Literals: map[string]string{"d": "x"}}}) {
		names = append(names, v.Name)
	}
	if got := strings.Join(names, " "); got != "a b" {
		t.Errorf("unset: %s", got)
	}
}
