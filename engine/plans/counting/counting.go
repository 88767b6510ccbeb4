// Package counting holds the numbers of a change summary, for the engine and for everything that
// shows or keeps them: the texts and messages of a plan, the records of runs, and comments.
//
// It refuses to know plans, actions and words. [plans.Plan.Counts] and [plans.Action.Count] count the
// changes, and each reader writes its own sentences. So a program without the engine can show a summary.
//
// [plans.Plan.Counts]: https://pkg.go.dev/github.com/lockstep-iac/lockstep/engine/plans#Plan.Counts
// [plans.Action.Count]: https://pkg.go.dev/github.com/lockstep-iac/lockstep/engine/plans#Action.Count
package counting

// Counts are the numbers of a change summary: how many objects will change or have changed, by action. A
// replacement counts in Add and in Destroy. Counts are comparable. The records of runs store them as JSON, so
// the names of the fields must not change.
type Counts struct{ Import, Add, Change, Destroy, Forget int }

// Plus returns the sum of n and m, field by field.
func (n Counts) Plus(m Counts) Counts {
	return Counts{n.Import + m.Import, n.Add + m.Add, n.Change + m.Change, n.Destroy + m.Destroy, n.Forget + m.Forget}
}
