package changing

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// The growth of the heap between two garbage collections, in percent of the memory in use. A user waits for a
// plan, so collections are less frequent than with Go's default of 100; a larger growth would save hardly more
// time. An apply waits for its providers, so memory is more important than the time for collections.
const (
	growthOfPlan      = 150
	growthBeforeApply = 60 // while the plan to apply is made
	growthOfApply     = 35

	manyChanges = 4000 // above it, such frequent collections take as long as everything else
)

// These constants limit the growth of the heap between two collections, in bytes. If much memory is in use, the
// heap grows by at most mostGrowth, but by at least leastShare percent: otherwise, collections would follow
// each other without a pause. If little memory is in use, a percentage of it is used up within milliseconds. So
// the heap grows by at least leastGrowth, which is little compared with the memory of the program and its
// plugins.
const (
	mostGrowth  = 128 << 20
	leastShare  = 30
	leastGrowth = 32 << 20

	// leastHeap is the minimum size of a heap in bytes, for a percentage of 100. It applies whatever memory is
	// in use.
	// Source: GOGC in https://go.dev/doc/gc-guide.
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

// spareMemory keeps the heap smaller than SpareTime does. It is for the plan that an apply makes.
func spareMemory() { grow(growthBeforeApply) }

// spareForApply frees the memory of planning, and keeps the heap close to the memory in use, unless there are
// many changes.
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

// present is the percentage that the garbage collector uses now.
var present atomic.Int64

// set sets the garbage collector's percentage. It does nothing if the percentage is the same as before, because
// setting it stops the program for a moment.
func set(percent int) {
	if present.Swap(int64(percent)) != int64(percent) {
		debug.SetGCPercent(percent)
	}
}

// growth returns the collector's percentage for a requested growth if inUse bytes are in use.
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

// watchCollections sets the garbage collector's percentage again after each collection. For that it creates
// a value without references. When the next collection frees this value, the runtime sets the percentage and
// calls watchCollections again.
func watchCollections() {
	watched := new([16]byte) // large enough to stand alone
	runtime.AddCleanup(watched, func(struct{}) {
		set(growth(share.Load(), inUse()))
		watchCollections()
	}, struct{}{})
}
