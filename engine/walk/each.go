package walk

import "context"

// Each calls do n times, with i from 0 to n-1, for n things that need not wait for each other, such as the
// instances of a resource. It returns when no call is running: nil if all are done, otherwise the cause of
// the end of ctx or of the walk's context. After such an end, running calls finish and no further call
// begins.
//
// Inside a visit, Each shares the walk's places: the caller works itself, and goroutines in free places help
// it. While the caller waits for the last calls, its own place is free for other work. So Each cannot
// deadlock, may be nested, and never runs more calls at a time than the limit of the walk. The calls are of
// the visit's kind; the caller may exceed the limit of that kind when it returns from such a wait. Outside of
// a visit, Each makes one call after another.
//
// If do panics, the panic continues in the goroutine of the caller once all other calls have finished; it is
// a [*Panic] if the calls were shared. Only the goroutine of the visit (or of do) may call Each, and not
// after the visit has returned.
func Each(ctx context.Context, n int, do func(ctx context.Context, i int)) error {
	p, _ := ctx.Value(poolKey{}).(*pool)
	if p == nil || n < 2 {
		for i := range n {
			if err := ended(ctx, p); err != nil {
				return err
			}
			do(ctx, i)
		}
		return nil
	}
	kind, _ := ctx.Value(kindKey{}).(int32)
	j := &job{pool: p, ctx: ctx, kind: kind, n: n, f: do, done: make(chan struct{})}
	p.mu.Lock()
	p.jobs = append(p.jobs, j)
	p.hire()
	p.mu.Unlock()
	j.share()
	if j.panic != nil {
		panic(j.panic)
	}
	if j.next < n {
		return ended(ctx, p)
	}
	return nil
}

// ended returns the cause of the end of ctx or of the walk, or nil.
func ended(ctx context.Context, p *pool) error {
	if err := context.Cause(ctx); err != nil || p == nil {
		return err
	}
	return context.Cause(p.ctx)
}

// A job is one call of Each. The pool's mutex guards the changing fields.
type job struct {
	pool *pool
	ctx  context.Context
	kind int32 // of the visit that called Each
	n    int
	f    func(context.Context, int)

	next    int           // the first item that nobody has begun
	running int           // items under way
	waiting bool          // the caller waits for them
	done    chan struct{} // closed when the caller no longer needs to wait
	panic   *Panic        // the first of an item
}

// claim returns the next item, or false if there is none. The caller holds the pool's mutex.
func (j *job) claim() (int, bool) {
	if j.next == j.n || j.panic != nil || ended(j.ctx, j.pool) != nil {
		return 0, false
	}
	j.next++
	j.running++
	return j.next - 1, true
}

// share works on the job until no item is left to begin, and waits for the items that others work on.
func (j *job) share() {
	defer j.wait()
	for {
		j.pool.mu.Lock()
		i, ok := j.claim()
		j.pool.mu.Unlock()
		if !ok {
			return
		}
		j.do(i)
	}
}

// do runs an item that claim returned.
func (j *job) do(i int) {
	var caught *Panic
	defer func() {
		j.pool.mu.Lock()
		defer j.pool.mu.Unlock()
		if j.running--; j.running == 0 && j.waiting {
			close(j.done)
		}
		if j.panic == nil {
			j.panic = caught
		}
	}()
	catch(func() { j.f(j.ctx, i) }, func(c *Panic) { caught = c })
}

// wait waits for the items that other goroutines work on. Meanwhile, others can have the place of this
// goroutine; at the end, wait takes a place again.
func (j *job) wait() {
	p := j.pool
	p.mu.Lock()
	if j.running == 0 {
		p.mu.Unlock()
		return
	}
	j.waiting = true
	p.away++
	p.under[j.kind]--
	p.leave()
	p.mu.Unlock()
	<-j.done

	p.mu.Lock()
	p.away--
	p.under[j.kind]++
	if p.busy < p.limit {
		p.busy++
		p.mu.Unlock()
		return
	}
	place := make(chan struct{})
	p.back = append(p.back, place)
	p.mu.Unlock()
	<-place
}
