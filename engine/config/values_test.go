package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

func TestCollectVariables(t *testing.T) {
	t.Parallel()
	const path = "testdata/values/values.txtar"
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	for _, c := range cases(a) {
		t.Run(c.name, func(t *testing.T) {
			cfg, ds := Load(Input{Tree: source.Files(c.files)})
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			sources, ds := variableSources(t, c.files)
			values, more := CollectVariables(cfg.Root.Content, sources)
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
			got := b.String() + wanted(ds)
			if got == c.want {
				return
			}
			if *update {
				setFile(a, c.name+"/want", got)
				changed = true
				return
			}
			t.Errorf("values (-want +got):\n%s\n%s", cmp.Diff(c.want, got), ds.Error())
		})
	}
	if changed {
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// variableSources does what a command does with its options.
func variableSources(t *testing.T, files map[string][]byte) ([]VariableSource, diags.Diagnostics) {
	t.Helper()
	var env []string
	var auto, given []VariableSource
	var ds diags.Diagnostics
	for _, name := range AutoVariableFiles(slices.Collect(maps.Keys(files))) {
		s, more := FileVariables(FromAutoFile, name, files[name])
		auto, ds = append(auto, s), append(ds, more...)
	}
	for line := range strings.Lines(string(files["run"])) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "env":
			env = append(env, "TF_VAR_"+rest)
		case "var":
			s, more := OptionVariable(rest)
			given, ds = append(given, s), append(ds, more...)
		case "file":
			s, more := FileVariables(FromNamedFile, rest, files[rest])
			given, ds = append(given, s), append(ds, more...)
		default:
			t.Fatalf("unknown source %q", word)
		}
	}
	return slices.Concat([]VariableSource{EnvironmentVariables(env)}, auto, given), ds
}

func TestUnset(t *testing.T) {
	t.Parallel()
	cfg, _ := Load(Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(`
variable "b" {}
variable "a" {}
variable "c" { default = 1 }
variable "d" {}
`)})})
	var names []string
	for _, v := range Unset(cfg.Root.Content, []VariableSource{{Literals: map[string]string{"d": "x"}}}) {
		names = append(names, v.Name)
	}
	if got := strings.Join(names, " "); got != "a b" {
		t.Errorf("unset: %s", got)
	}
}
