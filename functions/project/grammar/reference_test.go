package grammar

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestReference generates the documentation's page of settings from the table.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Settings: lockstep.hcl\n\nThis page lists every block and every argument of `lockstep.hcl`, the file in the root of your repository.\n\n" +
		"You need no settings to begin: without the file, each directory with a backend is a project. Run `lockstep config check` after each change. " +
		"Run `lockstep config schema` for a JSON Schema, with which your editor completes and checks the file.\n\n## The file itself\n\n" +
		"These arguments stand outside of all blocks.\n\n")
	arguments(&b, file.Args)
	for _, x := range blocks {
		section(&b, "##", x)
	}
	golden.File(t, "../../../cmd/docs/reference/settings.md", b.String())
}

// section writes a block, and those in it.
func section(b *strings.Builder, level string, x Block) {
	fmt.Fprintf(b, "\n%s %s\n\n%s\n\n", level, x.Type, x.Doc)
	arguments(b, x.Args)
	for _, inner := range x.Inner {
		section(b, level+"#", inner)
	}
}

// arguments writes the table of arguments.
func arguments(b *strings.Builder, args []Argument) {
	b.WriteString("| argument | value | default | meaning |\n|---|---|---|---|\n")
	for _, a := range args {
		value := a.Kind.String()
		if a.OneOf != nil {
			value = "`\"" + strings.Join(a.OneOf, "\"`, `\"") + "\"`"
		}
		if a.Kind == texts && a.OneOf != nil {
			value = "a list of " + value
		}
		if a.OneOf == nil {
			value = code(value)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", a.Name, value, cmp.Or(a.Default, "required"), a.Doc)
	}
}

// code sets the example in the words of a kind apart.
func code(value string) string {
	if before, example, ok := strings.Cut(value, ": "); ok {
		return before + ": `" + example + "`"
	}
	return value
}
