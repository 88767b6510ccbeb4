package ledger

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestCopied holds that the copy of a removed project's state is found by its lineage, at another address.
func TestCopied(t *testing.T) {
	t.Parallel()
	gone := runs.Run{Project: "net", Removed: true, Head: "1", Place: "s3://states/net", State: runs.StateID{Lineage: "l", Serial: 3}}
	web := runs.Run{Project: "web", Head: "1", Place: "s3://states/web", State: runs.StateID{Lineage: "l", Serial: 1}}
	for name, test := range map[string]struct {
		change func(gone, web *runs.Run)
		want   string
	}{
		"a copy":               {func(*runs.Run, *runs.Run) {}, "web"},
		"another state":        {func(_, web *runs.Run) { web.State.Lineage = "m" }, ""},
		"no state yet":         {func(gone, web *runs.Run) { gone.State, web.State = runs.StateID{}, runs.StateID{} }, ""},
		"of a former head":     {func(_, web *runs.Run) { web.Head = "0" }, ""},
		"the same address":     {func(_, web *runs.Run) { web.Place = "s3://states/net" }, ""},
		"removed as well":      {func(_, web *runs.Run) { web.Removed = true }, ""},
		"nothing is removed":   {func(gone, _ *runs.Run) { gone.Removed = false }, ""},
		"of another workspace": {func(_, web *runs.Run) { web.Project, web.Workspace, web.Twin = "net", "prod", true }, "net (prod)"},
	} {
		gone, web := gone, web
		test.change(&gone, &web)
		if got := Copied(gone, []Versioned{{Run: gone}, {Run: runs.Run{Project: "app", Head: "1"}}, {Run: web}}); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
