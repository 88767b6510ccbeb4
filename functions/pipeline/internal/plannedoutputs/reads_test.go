package plannedoutputs

import (
	"fmt"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestReadable holds that a pull request which makes a project depend on everything does not have a plan listed without end,
// nor one that the base branch has it depend on left out.
func TestReadable(t *testing.T) {
	t.Parallel()
	var all []runs.Run
	names := []string{"zone"} // of the base branch
	for i := range 5000 {
		names = append(names, fmt.Sprint("a", i))
		all = append(all, runs.Run{ID: runs.ID{Project: fmt.Sprint("a", i), Workspace: "default"}})
	}
	all = append(all, runs.Run{ID: runs.ID{Project: "zone", Workspace: "default"}}, runs.Run{ID: runs.ID{Project: "zone", Workspace: "blue"}}, runs.Run{ID: runs.ID{Project: "other"}})
	names = append(names, "zone", "gone")
	got := readable(names, all)
	for _, target := range []string{"zone@default", "zone@blue", "a0@default"} {
		if _, ok := got[target]; !ok {
			t.Errorf("%s is not there", target)
		}
	}
	if len(got) != maxReads {
		t.Errorf("%d, want %d", len(got), maxReads)
	}
	if got := readable([]string{"gone"}, all); len(got) != 0 {
		t.Error(got)
	}
}
