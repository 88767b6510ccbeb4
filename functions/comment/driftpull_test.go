package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestDriftProposed shows the replies to `lockstep drift propose`, and the pull request.
func TestDriftProposed(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf("x_y.a%d.size: its expression is no literal", i))
	}
	var b strings.Builder
	for _, r := range []DriftProposed{
		{Project: "net", Number: 7, Lines: 1},
		{Project: "net", Number: 7, Lines: 30, Left: many[:2]},
		{Project: "net", Number: 7, Lines: 50, Left: many, More: 250},
		{Project: "net", Number: 7, Earlier: true},
		{Project: "net", None: true},
		{Project: "net", Left: many[:1]},
		{Project: "net", Problem: "open a pull request: the App has no permission to write contents", Remedy: "Give it the permission."},
	} {
		fmt.Fprintf(&b, "%s\n\n---\n\n", strings.TrimSpace(r.markdown()))
	}
	for _, n := range []int{0, 1, 50} {
		p := DriftPull{Project: "net", By: "alice", Issue: 5, Literals: Literals{Left: many[:n]}}
		fmt.Fprintf(&b, "# %s\n\n%s\n---\n\n", p.Title(256), p.Body(10_000))
	}
	golden.File(t, "testdata/driftpull.md", b.String())
}
