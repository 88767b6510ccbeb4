package notes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNotes holds the notes of a status, and the reports that are not a plan's or an apply's.
func TestNotes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want string }{
		{AppliedAndGone("net", "4f2a1c9000000000000000000000000000000000"), "`net` was applied from this pull request, at `4f2a1c9`, and is no project of it or of the base branch any more: nobody plans the objects that the apply has made. To have them changed or destroyed, push the project's files again, without the objects, and apply that."},
		{SettingsChanged("lockstep.hcl"), "This pull request changes `lockstep.hcl`. Which projects there are is taken from it; what it allows, and what it says about applying, counts when it is merged."},
		{SettingsBroken("lockstep.hcl", "line 3"), "The base branch's `lockstep.hcl` has errors, and grants nothing but what can be read in it:\n\nline 3"},
		{SettingsBrokenAlike(), "The base branch's settings have the same errors, and grant nothing but what can be read in them."},
		{WentElsewhere("dev", "main", true), "Nothing of it is planned any more: it was merged into `dev`, which `lockstep.hcl` on `main` does not name."},
		{WentElsewhere("dev", "main", false), "Nothing of it is planned any more: it went into `dev`, which `lockstep.hcl` on `main` does not name."},
		{Unmerged(8, "network"), "#8 was applied to `network` and is not merged yet: until it is, this plan may show its changes as to be undone, and cannot be applied."},
		{Removed([]RemovedProject{{"net", "", true}}), "**This pull request removes the project** `net`.\n\nMerges alone apply `net`, so its objects stay, and nothing plans them after this merge. To destroy them, first remove its resources, in a pull request that leaves the project, and merge that.\nTo keep objects under another name, give the state's address to another project."},
		{Removed([]RemovedProject{{"net", "s3://states/net", false}, {"app", "", false}}), "**This pull request removes the project** `net`, which has its state at `s3://states/net`.\n**This pull request removes the project** `app`.\n\nTo keep objects under another name, give the state's address to another project."},
		{Exchanged(), "**What is kept of this plan is not what was made.** Comment `lockstep plan` for a new plan."},
		{Interrupted(), "The process that applied this plan ended before it was done. The state has what was done up to some seconds before that. What was done after, or was under way, exists and may not be in it: comment `lockstep plan`, and look at the new plan with care, above all at what it creates."},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Error(diff)
		}
	}
	many := Removed(slices.Repeat([]RemovedProject{{"net", "", false}}, 13))
	if strings.Count(many, "**This") != 10 || !strings.Contains(many, "\n3 more projects are removed.\n") {
		t.Error(many)
	}
}
