package reasons

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestReference generates the documentation's page of refusals: a section for each type in the table, with the words of its samples.
func TestReference(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Messages: refusals\n\nThis page lists every reason for which Lockstep refuses or postpones a command, and what you can do.\n\n" +
		"Search the page for the first words of your message. Names, numbers and commits are examples.\n")
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if name == "sentence" { // any text: its caller's
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n", strings.ToUpper(name[:1])+name[1:])
		seen := map[string]bool{}
		for _, r := range samples() {
			text, remedy := r.words()
			if reflect.TypeOf(r) != types[name] || seen[text+remedy] {
				continue
			}
			seen[text+remedy] = true
			text = strings.ReplaceAll(text, "`` x`@team` ``", "`bob`")
			fmt.Fprintf(&b, "\n> %s\n", strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> "))
			if remedy != "" {
				fmt.Fprintf(&b, "\n%s\n", remedy)
			}
		}
	}
	golden.File(t, "../../../cmd/docs/reference/messages.md", b.String())
}
