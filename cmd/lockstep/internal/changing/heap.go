package changing

import (
	"runtime"
	"runtime/debug"
)

// The growth of the heap, beyond the memory in use, between two collections, in percent. A person
// waits for a plan: collecting less often than at Go's 100 saves some of that time, and more than
// this hardly saves any. An apply waits for its providers, so that memory counts for more than the
// time of collections.
const (
	growthOfPlan      = 150
	growthBeforeApply = 60 // while the plan to apply is made
	growthOfApply     = 35

	manyChanges = 4000 // for which so many collections take as long as everything else
)

// SpareTime lets the heap grow as suits a plan.
func SpareTime() { debug.SetGCPercent(growthOfPlan) }

// spareMemory keeps the heap smaller, for an apply that begins with a plan.
func spareMemory() { debug.SetGCPercent(growthBeforeApply) }

// spareForApply frees the memory of planning, and keeps the heap close to the memory in use,
// unless there are many changes.
func spareForApply(changes int) {
	if changes <= manyChanges {
		debug.SetGCPercent(growthOfApply)
	} else {
		debug.SetGCPercent(growthOfPlan)
	}
	runtime.GC()
}
