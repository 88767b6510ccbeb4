package main

import (
	"runtime"
	"runtime/debug"
)

// How much the heap may grow beyond what is in use until it is collected, in percent. A
// plan is what a person waits for, and has Go's own 100. An apply waits for providers, so
// that memory counts for more: collecting more often costs a fifth of its own time.
const (
	growthBeforeApply = 50 // while what is to be applied is planned
	growthOfApply     = 30
)

// spareBeforeApply makes the process an apply that is still to be planned.
func spareBeforeApply() { debug.SetGCPercent(growthBeforeApply) }

// spareForApply frees what planning has left, and keeps the heap close to what is in use.
func spareForApply() {
	debug.SetGCPercent(growthOfApply)
	runtime.GC()
}
