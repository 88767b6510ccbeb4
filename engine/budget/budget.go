// Package budget limits the values of one run: the size of texts and values, the number of instances, the
// depth of nesting, the amount of evaluation. A few bytes of configuration can ask for more than any machine
// has, and a process that runs out of memory or stack cannot report anything. Therefore each growth is
// checked before it happens.
//
// The package does not depend on the evaluator: it gets values and places, and returns the excess. It starts
// nothing and prints nothing. Start at [Budget].
package budget

import (
	"context"
	"sync"
	"sync/atomic"
)

// Limits are the limits of a run. Sizes are in bytes. Where values are counted, a value counts once for each
// path to it: shared parts need little memory, but code that visits the whole value meets them again and
// again.
type Limits struct {
	Text   int64 // bytes of one text
	Values int64 // values in one value, itself included
	Bytes  int64 // bytes of all texts in one value
	Total  int64 // bytes of all that expressions make in a run; see [Weight]
	// Instances limits the instances that one count or for_each makes. AllInstances limits the instances of the
	// whole run.
	Instances, AllInstances int64
	Depth                   int   // levels of nesting of a value or a document
	Digits                  int64 // digits of one number, in decimal
	Steps                   int64 // evaluations of parts of expressions in a run
	Work                    int64 // elementary steps of one call, which cannot be interrupted
	File, Files             int64 // bytes of one file of the configuration, and of all
	Tokens                  int64 // words and signs of a text that is parsed at once
	BcryptCost              int
}

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// Weight is the size in bytes of each value without its texts. Source: measured; a number in a list of go-cty
// takes about 100 bytes, an element of a tuple with its type about 64.
const Weight = 64

// never is a limit that nothing reaches.
const never = 1 << 62

var generous = Limits{
	Text: gib, Values: 64 * mib, Bytes: 2 * gib, Total: never,
	Instances: 16 * mib, AllInstances: 64 * mib,
	Depth: 1000, Digits: 1_000_000, Steps: never, Work: 1_000_000_000,
	File: 256 * mib, Files: gib, Tokens: 64 * mib, BcryptCost: 16,
}

// A Budget has the limits of one run, and counts what the run has used. It also knows the expressions under
// evaluation, and whether the run must stop. A nil Budget has the limits of [Generous], is never stopped and
// knows no expressions. A Budget is safe for concurrent use.
type Budget struct {
	limits Limits

	stopped atomic.Pointer[stop]
	passed  atomic.Pointer[Excess] // the first limit that was passed
	steps   atomic.Int64
	total   atomic.Int64
	files   atomic.Int64

	mu        sync.Mutex
	places    Entered // head of a ring: next is the place entered first
	instances map[any]int64
	expanded  int64
}

// New returns a budget with the limits l.
func New(l Limits) *Budget {
	b := &Budget{limits: l, instances: map[any]int64{}}
	b.places.next, b.places.prev = &b.places, &b.places
	return b
}

// Generous returns the budget of a command line, where a person owns the machine and can watch. Its limits
// are so high that a run beyond them would certainly exhaust the machine.
func Generous() *Budget { return New(generous) }

// Pipeline returns the budget of a run in a pipeline. memory is the memory of its process in bytes. All
// values of expressions, with the overhead of the garbage collector, take less than a third of it.
func Pipeline(memory int64) *Budget { return New(ForMemory(memory)) }

// ForMemory returns the limits that [Pipeline] has for a process with this much memory, in bytes.
func ForMemory(memory int64) Limits {
	m := max(memory, 64*mib)
	return Limits{
		Text: m / 128, Values: m / 2048, Bytes: m / 32, Total: m / 10,
		Instances: m / (64 * kib), AllInstances: m / (16 * kib),
		Depth: 1000, Digits: 100_000, Steps: m / 64, Work: 200_000_000,
		File: m / 128, Files: m / 16, Tokens: m / 2048, BcryptCost: 14,
	}
}

// Limits returns the limits of b.
func (b *Budget) Limits() Limits {
	if b == nil {
		return generous
	}
	return b.limits
}

// limitsRef returns a pointer to the limits of b, or to the generous limits if b is nil. A pointer avoids a
// copy.
func (b *Budget) limitsRef() *Limits {
	if b == nil {
		return &generous
	}
	return &b.limits
}

// A stop is the early end of a run: its cause, and the number of steps that operations already begun may still
// make.
type stop struct {
	cause error
	left  atomic.Int64
}

// Watch stops evaluations when ctx ends, with the cause of ctx. It returns a function that ends the watch.
// After the stop, operations that have begun may still make grace steps together. This number must be too small
// for a long evaluation.
func (b *Budget) Watch(ctx context.Context, grace int64) func() {
	if b == nil {
		return func() {}
	}
	end := context.AfterFunc(ctx, func() { b.Stop(context.Cause(ctx), grace) })
	return func() { end() }
}

// Stop stops evaluations for the given cause. Operations that have begun may still make grace steps; see
// [Budget.Watch]. Only the first call of Stop has an effect.
func (b *Budget) Stop(cause error, grace int64) {
	s := &stop{cause: cause}
	s.left.Store(grace)
	b.stopped.CompareAndSwap(nil, s)
}

// Passed records that the run has passed a limit, so that the run fails. Otherwise try() could catch the error,
// and return a value that depends on the limits. Only the first call is recorded.
func (b *Budget) Passed(x *Excess) {
	if b != nil {
		b.passed.CompareAndSwap(nil, x)
	}
}

// First returns the first limit that was passed; nil if none was.
func (b *Budget) First() *Excess {
	if b == nil {
		return nil
	}
	return b.passed.Load()
}

// Step counts n steps of evaluation; visiting one value is about one step. It returns nil if the evaluation may
// continue.
func (b *Budget) Step(n int64) *Excess {
	if b == nil {
		return nil
	}
	if s := b.stopped.Load(); s != nil && s.left.Add(-n) < 0 {
		return &Excess{Kind: Interrupted, Cause: s.cause}
	}
	if b.limits.Steps < never && b.steps.Add(n) > b.limits.Steps {
		return &Excess{Kind: TooMuchWork, Allowed: b.limits.Steps}
	}
	return nil
}

// Made adds the size of the new values of an expression to the run's total. It returns the excess if the total
// is beyond the limit.
func (b *Budget) Made(s Size) *Excess {
	if b == nil || b.limits.Total >= never {
		return nil
	}
	if n := b.total.Add(s.Bytes + Weight*s.Values); n > b.limits.Total {
		return &Excess{Kind: TotalTooLarge, Needed: n, Allowed: b.limits.Total}
	}
	return nil
}

// Expanded counts the n instances of one count or for_each, identified by key. Expanding the same key again
// counts only additional instances. The result is the excess if a limit is passed; otherwise nil.
func (b *Budget) Expanded(key any, n int64) *Excess {
	l := b.limitsRef()
	if n > l.Instances {
		return &Excess{Kind: TooManyInstances, Needed: n, Allowed: l.Instances}
	}
	if b == nil || n <= 1 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if more := n - b.instances[key]; more > 0 {
		b.instances[key] = n
		b.expanded += more
	}
	if b.expanded > l.AllInstances {
		return &Excess{Kind: TooManyInAll, Needed: b.expanded, Allowed: l.AllInstances}
	}
	return nil
}

// Read counts one file of the configuration, whose size is given in bytes. It returns the excess if the file,
// or all files together, are beyond a limit.
func (b *Budget) Read(bytes int64) *Excess {
	l := b.limitsRef()
	if bytes > l.File {
		return &Excess{Kind: FileTooLarge, Needed: bytes, Allowed: l.File}
	}
	if b == nil {
		return nil
	}
	if n := b.files.Add(bytes); n > l.Files {
		return &Excess{Kind: FilesTooLarge, Needed: n, Allowed: l.Files}
	}
	return nil
}
