package walk

import "context"

// Each does n things, numbered from 0, that need not wait for each other: the instances of a
// resource, say. Called inside a visit, it shares the places of the walk: the caller works itself,
// and places that are free or become free help it. While it waits for the last of them, its own
// place is free for others. So it cannot deadlock, may be nested at will, and never makes more run
// at a time than the limit of the walk. The things are of the visit's kind, whose limit the caller may exceed when it comes
// back from such a wait. Called elsewhere, it does one thing after another.
//
// It returns when nothing of it is under way any more: nil if all was done, else the cause of the
// end of ctx or of the walk's context. After such an end things under way finish and the rest is
// not done.
//
// A panic in do goes on in the goroutine of the caller, as a [*Panic] if things were shared out,
// once all others under way have finished. Only the goroutine of the visit (or of do) may call
// Each, and not after the visit has returned.
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
	done    chan struct{} // closed when it need not any more
	panic   *Panic        // the first of an item
}

// claim takes an item. The caller holds the pool's mutex.
func (j *job) claim() (int, bool) {
	if j.next == j.n || j.panic != nil || ended(j.ctx, j.pool) != nil {
		return 0, false
	}
	j.next++
	j.running++
	return j.next - 1, true
}

// share works on the job until no item is left to begin, and waits for the rest.
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

// do does an item that was claimed.
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

// wait waits for the items that others do, without a place, and comes back to one.
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
