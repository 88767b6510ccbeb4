package risks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestReference generates the page with all types that have risks.
func TestReference(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Risks\n\nThis page lists the types of resources whose changes can be risks.\n\n" +
		"Read [the guide](../guide/risks.md) for the meaning of each risk.\n\n" +
		"## Objects that keep data\n\nTo destroy such an object is `stateful-destroy`, and to replace it `stateful-replace`.\n\n| type | object |\n|---|---|\n")
	for _, row := range rows(statefulTable) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", row[0], strings.Join(row[1:], " "))
	}
	b.WriteString("\n## Settings that are compared\n\nLockstep compares these attributes before and after a change.\n\n| type | risk | attributes |\n|---|---|---|\n")
	types := map[string]bool{}
	for kind := range checks {
		types[kind] = true
	}
	for kind := range documents() {
		types[kind] = true
	}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		for _, c := range checksOf(kind) {
			if c.reads[0] == "publicly_accessible" || c.reads[0] == "public_network_access_enabled" {
				continue
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | `%s` |\n", kind, c.name, strings.Join(c.reads, "`, `"))
		}
	}
	b.WriteString("| all types of AWS | `public-access` | `publicly_accessible` |\n" +
		"| all types of Azure | `public-access` | `public_network_access_enabled` |\n" +
		"| `google_*_iam_member` | `public-access`, `iam-widened` | `role`, `member` |\n" +
		"| `google_*_iam_binding` | `public-access`, `iam-widened` | `role`, `members` |\n" +
		"| `google_*_iam_policy` | `public-access`, `iam-widened` | `policy_data` |\n")
	golden.File(t, "../../cmd/docs/reference/risks.md", b.String())
}
