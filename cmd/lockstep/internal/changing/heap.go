package changing

import (
	"runtime"
	"runtime/debug"
)

// How much the heap may grow beyond what is in use until it is collected, in percent. A
// plan is what a person waits for: collecting less often than Go would, at 100, spares it
// some of its time, and more than this hardly any. An apply waits for providers, so that
// memory counts for more than the time that collecting more often takes.
const (
	growthOfPlan      = 150
	growthBeforeApply = 60 // while what is to be applied is planned
	growthOfApply     = 35

	manyChanges = 4000 // of which collecting so often takes as long as everything else
)

// SpareTime lets the heap grow as suits a plan.
func SpareTime() { debug.SetGCPercent(growthOfPlan) }

// spareMemory keeps the heap smaller, for an apply that is still to be planned.
func spareMemory() { debug.SetGCPercent(growthBeforeApply) }

// spareForApply frees what planning has left, and keeps the heap close to what is in use,
// unless there are many changes.
func spareForApply(changes int) {
	if changes <= manyChanges {
		debug.SetGCPercent(growthOfApply)
	} else {
		debug.SetGCPercent(growthOfPlan)
	}
	runtime.GC()
}
