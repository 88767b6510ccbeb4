// Package counting holds the numbers of a change summary, for the engine and for everything that
// shows or keeps them: the texts and messages of a plan, the records of runs, and comments.
//
// It refuses to know plans, actions and words. [plans.Plan.Counts] and [plans.Action.Count] count the
// changes, and each reader writes its own sentences. So a program without the engine can show a summary.
//
// [plans.Plan.Counts]: https://pkg.go.dev/github.com/lockstep-iac/lockstep/engine/plans#Plan.Counts
// [plans.Action.Count]: https://pkg.go.dev/github.com/lockstep-iac/lockstep/engine/plans#Action.Count
package counting

// Counts are the numbers of a change summary: how many objects are to be changed, or have been changed, by
// action.
//
//   - A replacement counts as a creation and a destruction.
//   - Invoke is the number of action blocks to invoke or already invoked, and InvokeFailed the number of those
//     that failed.
//
// The records of runs store Counts as JSON, so the names of the fields must not change. Counts can be compared
// with ==.
type Counts struct {
	Import, Add, Change, Destroy, Forget int
	Invoke, InvokeFailed                 int `json:",omitempty"`
}

// Plus returns the sum of n and m, field by field.
func (n Counts) Plus(m Counts) Counts {
	return Counts{
		Import: n.Import + m.Import, Add: n.Add + m.Add, Change: n.Change + m.Change, Destroy: n.Destroy + m.Destroy, Forget: n.Forget + m.Forget,
		Invoke: n.Invoke + m.Invoke, InvokeFailed: n.InvokeFailed + m.InvokeFailed,
	}
}
