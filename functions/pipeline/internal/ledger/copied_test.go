package ledger

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestCopied holds that the copy of a removed project's state is found by its lineage, at another address.
func TestCopied(t *testing.T) {
	t.Parallel()
	gone := runs.Run{ID: runs.ID{Project: "net"}, Spec: runs.Spec{Removed: true, Head: "1"}, Address: runs.Address{Place: "s3://states/net"}, Plan: runs.Plan{State: runs.StateID{Lineage: "l", Serial: 3}}}
	web := runs.Run{ID: runs.ID{Project: "web"}, Spec: runs.Spec{Head: "1"}, Address: runs.Address{Place: "s3://states/web"}, Plan: runs.Plan{State: runs.StateID{Lineage: "l", Serial: 1}}}
	for name, test := range map[string]struct {
		change func(gone, web *runs.Run)
		want   string
	}{
		"a copy":               {func(*runs.Run, *runs.Run) {}, "web"},
		"another state":        {func(_, web *runs.Run) { web.Plan.State.Lineage = "m" }, ""},
		"no state yet":         {func(gone, web *runs.Run) { gone.Plan.State, web.Plan.State = runs.StateID{}, runs.StateID{} }, ""},
		"of a former head":     {func(_, web *runs.Run) { web.Spec.Head = "0" }, ""},
		"the same address":     {func(_, web *runs.Run) { web.Address.Place = "s3://states/net" }, ""},
		"removed as well":      {func(_, web *runs.Run) { web.Spec.Removed = true }, ""},
		"nothing is removed":   {func(gone, _ *runs.Run) { gone.Spec.Removed = false }, ""},
		"of another workspace": {func(_, web *runs.Run) { web.Project, web.Workspace, web.Spec.Twin = "net", "prod", true }, "net (prod)"},
	} {
		gone, web := gone, web
		test.change(&gone, &web)
		if got := Copied(gone, []Versioned{{Run: gone}, {Run: runs.Run{ID: runs.ID{Project: "app"}, Spec: runs.Spec{Head: "1"}}}, {Run: web}}); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
