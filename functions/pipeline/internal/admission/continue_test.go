package admission

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// TestContinue is the table of all that may have happened between two processes of one apply: it
// goes on unless its plan, its files or the place of its state are others.
func TestContinue(t *testing.T) {
	t.Parallel()
	empty, other := "", "0dd"
	for _, test := range []struct {
		what   string
		change func(*Request)
		want   string
	}{
		{"nothing", func(*Request) {}, ""},
		{"the place is found", func(q *Request) { q.Placing = &Placing{Kind: SamePlace} }, ""},

		{"the saved plan is another", func(q *Request) { q.Saved = other }, "SavedExchanged"},
		{"the plan shown is another", func(q *Request) { q.OnGitHub = &other }, "ShownExchanged"},
		{"no plan is shown", func(q *Request) { q.OnGitHub = &empty }, "ShownExchanged"},
		{"a stored input is damaged", func(q *Request) { q.Kept = "damaged" }, "KeptExchanged"},
		{"files are others", func(q *Request) { q.Differ = []string{"a.tf"} }, "InputsMoved"},
		{"the place is refused", func(q *Request) { q.Placing = &Placing{Reasons: reasons.List{reasons.PlaceTaken{}}} }, "PlaceTaken"},
		{"all of it", func(q *Request) {
			q.Saved, q.OnGitHub, q.Kept, q.Differ = other, &other, "damaged", []string{"a.tf"}
			q.Placing = &Placing{Reasons: reasons.List{reasons.PlaceTaken{}, reasons.PlaceNotAllowed{}}}
		}, "SavedExchanged ShownExchanged KeptExchanged InputsMoved PlaceTaken PlaceNotAllowed"},

		{"the pull request is closed", func(q *Request) { q.Pull.Open = false }, ""},
		{"a push", func(q *Request) { q.Pull.Head.SHA = headTwo }, ""},
		{"a conflict", func(q *Request) { q.Conflict = true }, ""},
		{"the actor lost the permission", func(q *Request) { q.Permission = github.NoPermission }, ""},
		{"nobody asks", func(q *Request) { q.Actor, q.Entry = "", "" }, ""},
		{"it is being applied", func(q *Request) { q.Run.Phase = runs.Continuing }, ""},
		{"the state is that of half an apply", func(q *Request) { q.State = &runs.StateID{Lineage: "l", Serial: 4, Version: "v4"} }, ""},
		{"merges apply by now", func(q *Request) { q.Run.Spec.ApplyOn = project.OnMerge }, ""},
		{"a new version of Lockstep", func(q *Request) { q.OtherVersion = true }, ""},
	} {
		q := allowed()
		test.change(&q)
		d := Continue(q)
		if got := types(d); got != test.want || d.Allowed() != (test.want == "") {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}
