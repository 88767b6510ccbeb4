package changing

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// These constants are growths of the heap between two garbage collections, in percent of the memory in use.
// Go's default is 100. During a plan, a user waits, so the growth is larger and collections are rarer. A still
// larger growth would save hardly any time. During an apply, Lockstep waits for providers, so a small heap
// matters more than fast collections.
const (
	growthOfPlan      = 150
	growthBeforeApply = 60 // while the plan to apply is made
	growthOfApply     = 35

	manyChanges = 4000 // with more changes, collections at growthOfApply would take as long as all other work
)

// These constants limit the growth of the heap between two garbage collections.
//   - mostGrowth, in bytes, is the maximum if much memory is in use.
//   - leastShare, in percent of the memory in use, is more important than mostGrowth. Without it, collections
//     would follow each other without a pause.
//   - leastGrowth, in bytes, is the minimum if little memory is in use. Without it, the next collection would
//     come within milliseconds. It is small compared with the memory of the program and its plugins.
const (
	mostGrowth  = 128 << 20
	leastShare  = 30
	leastGrowth = 32 << 20

	// leastHeap is Go's minimum size of a heap in bytes, if the growth is 100 percent. The minimum applies even
	// if less memory is in use. Source: GOGC in https://go.dev/doc/gc-guide.
	leastHeap = 4 << 20
	mostShare = leastGrowth * 100 / leastHeap
)

// share is the growth of the heap that was requested last, in percent; see growth.
var share atomic.Int64

// SpareTime makes garbage collections rare, so that a plan takes less time.
func SpareTime() {
	grow(growthOfPlan)
	watchCollections()
}

// spareMemory lets the heap grow less than SpareTime does. It is for the plan that the command apply makes.
func spareMemory() { grow(growthBeforeApply) }

// spareForApply frees the memory that planning used. Unless the apply has many changes, it also lets the heap
// grow only little from now on.
func spareForApply(changes int) {
	if changes <= manyChanges {
		grow(growthOfApply)
	} else {
		grow(growthOfPlan)
	}
	runtime.GC()
}

func grow(percent int64) {
	share.Store(percent)
	set(growth(percent, inUse()))
}

// present is the percentage that this process has last set for the garbage collector.
var present atomic.Int64

// set sets the garbage collector's percentage (GOGC). It does nothing if this percentage is set already,
// because setting it stops the program for a moment.
func set(percent int) {
	if present.Swap(int64(percent)) != int64(percent) {
		debug.SetGCPercent(percent)
	}
}

// growth returns the percentage to set for the garbage collector (GOGC). share is the requested growth in
// percent, and inUse the number of bytes in use. The constants above limit the result.
func growth(share int64, inUse uint64) int {
	if inUse <= leastHeap {
		return mostShare
	}
	atMost, atLeast := max(leastShare, int64(mostGrowth*100/inUse)), int64(leastGrowth*100/inUse)
	return int(max(min(share, atMost), atLeast))
}

// inUse returns the number of bytes that were in use after the last collection.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// watchCollections makes the garbage collector's percentage be computed and set again after each collection. It
// creates a value without references. When the next collection frees this value, a cleanup function sets the
// percentage and calls watchCollections again.
func watchCollections() {
	watched := new([16]byte) // large enough to stand alone
	runtime.AddCleanup(watched, func(struct{}) {
		set(growth(share.Load(), inUse()))
		watchCollections()
	}, struct{}{})
}
