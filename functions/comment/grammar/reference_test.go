package grammar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

const referenceHead = `# Commands in comments

This page lists every command that you can comment on a pull request, and its options.

## How to write a command

Write each command on a line of its own, in a new comment. A comment may have up to ten commands.
You need write permission on the repository, unless the settings say otherwise.

§§§comment
lockstep plan
lockstep apply -p network
lockstep lock --reason "migration of the database"
§§§

Lockstep reads no command in quoted text, in a code block, or in an edited comment.
It answers a command that it does not understand with the nearest one that it has.
Case and one dash or two do not matter: ` + "`Lockstep Plan --project=network`" + ` is understood.
Without options, a command is for all projects that the pull request changes.

`

// TestReference generates the documentation's page of commands from the tables.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(referenceHead, "§", "`"))
	for _, r := range table {
		fmt.Fprintf(&b, "## %s\n\n", r.verb)
		for _, f := range r.help {
			fmt.Fprintf(&b, "- `%s` %s.\n", f.Typed, f.Effect)
		}
		if len(r.help) == 0 {
			t.Errorf("%s has no help", r.verb)
		}
		var flags []string
		for _, o := range all {
			if r.accepts(o) {
				flags = append(flags, "`"+o.flag()+"`")
			}
		}
		if len(flags) > 0 {
			fmt.Fprintf(&b, "\n[Options](#options): %s.\n", strings.Join(flags, ", "))
		}
		if r.acts && !r.ungated {
			fmt.Fprintf(&b, "\nTo add conditions, write a block [`require \"%s\"`](settings.md#require).\n", r.verb)
		}
		b.WriteString("\n")
	}
	b.WriteString("## Options\n\nOne dash or two are the same, and so are a space and `=` before the value.\n\n| option | value | meaning |\n|---|---|---|\n")
	for _, o := range all {
		if !strings.HasSuffix(o.about, ".") {
			t.Errorf("%s has no sentence", o.flag())
		}
		value := ""
		if o.stands != "" {
			value = "`" + o.stands + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.flag(), cmp.Or(value, "none"), o.about)
	}
	fmt.Fprintf(&b, "\nThese options of Terraform and Atlantis have no effect here, and Lockstep accepts them: `-%s`.\n", strings.Join(slices.Sorted(slices.Values(needless)), "`, `-"))
	golden.File(t, "../../../cmd/docs/reference/comments.md", b.String())
}
