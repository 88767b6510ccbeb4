// Package infra tests the modules in this directory with Lockstep itself.
package infra

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

var modules = []string{"state", "target"}

func load(t *testing.T, dir string) *config.Config {
	t.Helper()
	cfg, ds := loading.Load(loading.Input{Tree: source.Dir(dir)})
	if ds.HasErrors() {
		t.Fatal(ds.Err())
	}
	return cfg
}

// readme returns the README of a module, made of its files.
func readme(t *testing.T, name string) string {
	cfg := load(t, name)
	src, err := os.ReadFile(filepath.Join(name, "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", name)
	for line := range strings.Lines(string(src)) {
		text, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		b.WriteString(text)
	}
	fmt.Fprint(&b, "\n## Variables\n\n| name | meaning | default |\n|---|---|---|\n")
	content := cfg.Root.Content
	for _, v := range slices.SortedFunc(maps.Values(content.Variables), func(a, b *config.Variable) int { return cmp.Compare(a.Range.Start.Line, b.Range.Start.Line) }) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, v.Description, defaultOf(v))
	}
	fmt.Fprint(&b, "\n## Outputs\n\n| name | meaning |\n|---|---|\n")
	for _, o := range slices.SortedFunc(maps.Values(content.Outputs), func(a, b *config.Output) int { return cmp.Compare(a.Range.Start.Line, b.Range.Start.Line) }) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", o.Name, o.Description)
	}
	return b.String()
}

// defaultOf is how a table shows a default.
func defaultOf(v *config.Variable) string {
	switch d := v.Default; {
	case d == cty.NilVal:
		return "required"
	case d.IsNull():
		return "`null`"
	default:
		data, err := ctyjson.Marshal(d, d.Type())
		if err != nil {
			return err.Error()
		}
		return "`" + strings.ReplaceAll(string(data), ",", ", ") + "`"
	}
}

// TestModules holds that the modules load and describe their variables and outputs, and that
// their READMEs repeat the descriptions.
func TestModules(t *testing.T) {
	for _, name := range modules {
		want := readme(t, name)
		content := load(t, name).Root.Content
		for _, v := range content.Variables {
			if v.Description == "" {
				t.Errorf("%s: the variable %s is not described", name, v.Name)
			}
		}
		for _, o := range content.Outputs {
			if o.Description == "" {
				t.Errorf("%s: the output %s is not described", name, o.Name)
			}
		}
		golden.File(t, filepath.Join(name, "README.md"), want)
	}
}

// TestExample holds that the example in README.md calls the modules as they are.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```hcl\n")
	example, _, found := strings.Cut(example, "```")
	if !found {
		t.Fatal("README.md has no example")
	}
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "infra"), os.DirFS(here)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(example+"\nvariable \"external_id\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if calls := load(t, dir).Root.Content.Calls; len(calls) != len(modules) {
		t.Errorf("the example calls %d modules of %d", len(calls), len(modules))
	}
}
