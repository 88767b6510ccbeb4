package deploying

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestReference generates the documentation's page of the App's permissions and events.
func TestReference(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	write := func(title string, all []grant) {
		b.WriteString(title)
		for _, g := range all {
			level := ""
			if g.level != "" {
				level = g.level + " | "
			}
			fmt.Fprintf(&b, "| `%s` | %s%s |\n", g.name, level, g.reason)
		}
	}
	b.WriteString("# App: permissions and events\n\nThis page lists the permissions and events of Lockstep's GitHub App, and why it needs each.\n\n" +
		"`lockstep deploy` registers an App with these. `lockstep deploy doctor` names those that an App lacks. Names are GitHub's, as its API has them.\n")
	write("\n## Permissions\n\n| permission | level | use |\n|---|---|---|\n", neededPermissions)
	write("\n## Permissions for some settings\n\nAdd these in the App's settings on GitHub if you use the setting.\n\n| permission | level | use |\n|---|---|---|\n", usefulPermissions)
	write("\n## Events\n\n| event | use |\n|---|---|\n", neededEvents)
	golden.File(t, "../../../docs/reference/app.md", b.String())
}
