// Package counting holds the numbers of a change summary, for the engine and for everything that
// shows or keeps them: the texts and messages of a plan, the records of runs, and comments.
//
// It refuses to know plans, actions and words: [plans.Plan.Counts] and [plans.Action.Count] count, and each
// reader has sentences of its own. So a program without the engine can show a summary.
//
// [plans.Plan.Counts]: https://pkg.go.dev/github.com/lockstep-iac/lockstep/engine/plans#Plan.Counts
// [plans.Action.Count]: https://pkg.go.dev/github.com/lockstep-iac/lockstep/engine/plans#Action.Count
package counting

// Counts are the numbers of a change summary: of objects to change or already changed, by action.
// A replacement counts as a creation and a destruction. Counts are comparable, and stored as JSON in the
// records of runs: the names of the fields stay.
type Counts struct{ Import, Add, Change, Destroy, Forget int }

// Plus returns the sums.
func (n Counts) Plus(m Counts) Counts {
	return Counts{n.Import + m.Import, n.Add + m.Add, n.Change + m.Change, n.Destroy + m.Destroy, n.Forget + m.Forget}
}
