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
		{AppliedAndGone("net", "4f2a1c9000000000000000000000000000000000"), "`net` was applied from this pull request at `4f2a1c9`, but no longer exists here or on the base branch. So nobody plans the objects that the apply created. To destroy them, push the files of the project again, without these objects, and apply that."},
		{SettingsChanged("lockstep.hcl"), "This pull request changes `lockstep.hcl`. Lockstep already uses its list of projects. Its permissions and its rules for applies take effect after the merge."},
		{SettingsBroken("lockstep.hcl", "line 3"), "`lockstep.hcl` on the base branch has errors, so Lockstep grants only what it can read there:\n\nline 3"},
		{SettingsBrokenAlike(), "The settings on the base branch have the same errors, so Lockstep grants only what it can read there."},
		{WentElsewhere("dev", "main", true), "Lockstep no longer plans this pull request: it was merged into `dev`, which the `allow` block of `lockstep.hcl` on `main` does not list."},
		{WentElsewhere("dev", "main", false), "Lockstep no longer plans this pull request: it goes into `dev`, which the `allow` block of `lockstep.hcl` on `main` does not list."},
		{Unmerged(8, "network"), "#8 was applied to `network` and is not merged yet, so this branch lacks its changes. Until #8 is merged or closed, the plan of `network` can show those changes as removed, and cannot be applied."},
		{Removed([]RemovedProject{{"net", "", true}}), "**This pull request removes the project** `net`.\n\n`net` applies only on merge, so its objects stay, and nobody plans them after this merge. To destroy them, first remove its resources in a pull request that keeps the project, and merge it."},
		{Removed([]RemovedProject{{"net", "s3://states/net", false}, {"app", "", false}}), "**This pull request removes the project** `net`, with the state at `s3://states/net`.\n**This pull request removes the project** `app`."},
		{Exchanged(), "**The stored plan was replaced**, and is not the one that Lockstep made. Tell an operator of Lockstep: this may be an attack. For a new plan, comment `lockstep plan`."},
		{Interrupted(), "The apply was interrupted. The state has all changes up to a few seconds before that, and later changes can be missing in it. Comment `lockstep plan`, and read the new plan with care: it could create objects that already exist."},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Error(diff)
		}
	}
	many := Removed(slices.Repeat([]RemovedProject{{"net", "", false}}, 13))
	if strings.Count(many, "**This") != 10 || !strings.Contains(many, "\nIt removes 3 more projects.") {
		t.Error(many)
	}
}
