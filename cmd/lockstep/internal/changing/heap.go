package changing

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
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

// Where much memory is in use, a share of it is much as well. The heap then grows by mostGrowth
// bytes, as long as that is leastShare percent: with less, a collection would follow another. Where little
// is in use, a share of it is used up in milliseconds: the heap grows by leastGrowth bytes at least, which
// is little beside what the program and its plugins take.
const (
	mostGrowth  = 128 << 20
	leastShare  = 30
	leastGrowth = 32 << 20

	// A heap is at least as large as leastHeap bytes times the percentage, whatever is in use.
	// Source: GOGC in https://go.dev/doc/gc-guide.
	leastHeap = 4 << 20
	mostShare = leastGrowth * 100 / leastHeap
)

// share is the growth that was asked for last.
var share atomic.Int64

// SpareTime lets the heap grow as suits a plan.
func SpareTime() {
	grow(growthOfPlan)
	watchCollections()
}

// spareMemory keeps the heap smaller, for an apply that begins with a plan.
func spareMemory() { grow(growthBeforeApply) }

// spareForApply frees the memory of planning, and keeps the heap close to the memory in use,
// unless there are many changes.
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

// present is the percentage that the collector has.
var present atomic.Int64

// set sets the percentage, if it is another one: that stops the program for a moment.
func set(percent int) {
	if present.Swap(int64(percent)) != int64(percent) {
		debug.SetGCPercent(percent)
	}
}

// growth returns the percentage for the collector when inUse bytes are in use.
func growth(share int64, inUse uint64) int {
	if inUse <= leastHeap {
		return mostShare
	}
	atMost, atLeast := max(leastShare, int64(mostGrowth*100/inUse)), int64(leastGrowth*100/inUse)
	return int(max(min(share, atMost), atLeast))
}

// inUse returns the bytes that the last collection found in use.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// watchCollections sets the growth anew after each collection: each frees a value that nothing refers
// to, and makes the next one.
func watchCollections() {
	watched := new([16]byte) // large enough to stand alone
	runtime.AddCleanup(watched, func(struct{}) {
		set(growth(share.Load(), inUse()))
		watchCollections()
	}, struct{}{})
}
