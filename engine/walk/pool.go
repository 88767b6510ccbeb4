package walk

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A pool has the places of one Run and the work that waits for them. A place is the right to run. A goroutine
// lives only as long as it finds work. No goroutine waits for work, so there is nothing to wake and nothing
// to leak.
type pool struct {
	ctx   context.Context // the caller's: its end stops the walk
	inner context.Context // for visits: without that end, with the pool
	limit int
	visit func(context.Context, int) error
	next  successors
	rank  []int32 // by node: the length of the longest chain of nodes that wait for it
	kinds []int32 // by node; nil: all are of kind 0
	most  []int   // by kind: the limit, 0 for none

	idle chan struct{} // closed when nothing is running and nothing more will begin

	mu    sync.Mutex
	busy  int             // goroutines with a place
	away  int             // calls of Each that wait without their place
	back  []chan struct{} // one for each of those calls that wants its place again
	ready []queue         // by kind
	under []int           // by kind: running visits and items, without those counted in away
	jobs  []*job          // calls of Each with items that nobody has begun
	waits []int32
	state []error // by node: errPending until the result is known
	panic *Panic  // the first panic of a visit
}

// errPending marks a node whose result is not known yet.
var errPending = errors.New("pending")

// A task is one item of a job. If job is nil, it is a visit of node n.
type task struct {
	job  *job
	n    int
	kind int32
}

// poolKey is the context key of the pool, in a visit. kindKey is the context key of the visit's kind, if the
// kind is not 0.
type (
	poolKey struct{}
	kindKey struct{}
)

// newPool prepares a walk of g. order is a possible order of its nodes, next has the successors of each node.
func newPool(ctx context.Context, limit int, g Graph, order []int32, next successors) *pool {
	p := &pool{ctx: ctx, limit: limit, next: next, idle: make(chan struct{}), kinds: g.Kinds, most: g.Limits}
	if p.kinds == nil {
		p.most = []int{0}
	}
	p.ready, p.under = make([]queue, len(p.most)), make([]int, len(p.most))
	p.inner = context.WithValue(context.WithoutCancel(ctx), poolKey{}, p)
	p.rank = make([]int32, g.N)
	for _, n := range slices.Backward(order) {
		for _, m := range next.of(n) {
			p.rank[n] = max(p.rank[n], p.rank[m]+1)
		}
	}
	p.waits = make([]int32, g.N)
	for n, after := range g.After {
		p.waits[n] = int32(len(after))
	}
	p.state = make([]error, g.N)
	for n := range g.N {
		p.state[n] = errPending
		if p.waits[n] == 0 {
			p.ready[p.kind(int32(n))].push(p.rank[n], int32(n))
		}
	}
	return p
}

func (p *pool) kind(n int32) int32 {
	if p.kinds == nil {
		return 0
	}
	return p.kinds[n]
}

// full reports whether a kind has reached its limit. The caller holds mu.
func (p *pool) full(kind int32) bool { return p.most[kind] > 0 && p.under[kind] >= p.most[kind] }

// hire starts a goroutine for each task that may begin, as long as there are free places. The caller holds mu.
func (p *pool) hire() {
	for p.busy < p.limit {
		t, ok := p.claim()
		if !ok {
			return
		}
		p.busy++
		go p.work(t)
	}
}

// claim takes the next task whose kind has not reached its limit; false means that none may begin now. Items of
// jobs go before further visits, so that a visit that has begun can end. The caller holds mu.
func (p *pool) claim() (task, bool) {
	if p.panic != nil || p.ctx.Err() != nil {
		return task{}, false
	}
	for i := len(p.jobs) - 1; i >= 0; i-- {
		j := p.jobs[i]
		if p.full(j.kind) {
			continue
		}
		if n, ok := j.claim(); ok {
			p.under[j.kind]++
			return task{j, n, j.kind}, true
		}
		p.jobs = slices.Delete(p.jobs, i, i+1)
	}
	var first *queue
	for kind := range p.ready {
		if q := &p.ready[kind]; len(*q) > 0 && !p.full(int32(kind)) && (first == nil || (*q)[0] < (*first)[0]) {
			first = q
		}
	}
	if first == nil {
		return task{}, false
	}
	n, _ := first.pop()
	p.under[p.kind(n)]++
	return task{nil, int(n), p.kind(n)}, true
}

// work does t and all other available tasks, then gives its place back.
func (p *pool) work(t task) {
	over := false
	defer func() { // deferred, since t may end the goroutine
		p.mu.Lock()
		defer p.mu.Unlock()
		if !over {
			p.under[t.kind]--
		}
		p.leave()
	}()
	for ok := true; ok; {
		over = false
		var err error
		if t.job != nil {
			t.job.do(t.n)
		} else {
			err = p.call(t.n)
		}
		p.mu.Lock()
		p.under[t.kind]--
		over = true
		if t.job == nil && p.panic == nil {
			p.settle(t.n, err)
		}
		if ok = len(p.back) == 0; ok {
			t, ok = p.claim()
			p.hire()
		}
		p.mu.Unlock()
	}
}

// leave gives a place to a waiting job that gave its own place away, or otherwise to the next task. The
// caller holds mu.
func (p *pool) leave() {
	if len(p.back) > 0 {
		close(p.back[0])
		p.back = p.back[1:]
		return
	}
	p.busy--
	p.hire()
	if p.busy == 0 && p.away == 0 {
		close(p.idle)
	}
}

// call visits the node n. If the visit panics, the pool keeps the panic.
func (p *pool) call(n int) (err error) {
	ctx := p.inner
	if kind := p.kind(int32(n)); kind > 0 {
		ctx = context.WithValue(ctx, kindKey{}, kind)
	}
	catch(func() { err = p.visit(ctx, n) }, func(c *Panic) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.panic == nil {
			p.panic = c
		}
	})
	return err
}

// settle records the result of a node. The caller holds mu.
func (p *pool) settle(n int, err error) {
	p.state[n] = err
	if err != nil {
		p.skip(n)
		return
	}
	for _, m := range p.next.of(int32(n)) {
		if p.waits[m]--; p.waits[m] == 0 {
			p.ready[p.kind(m)].push(p.rank[m], m)
		}
	}
}

// skip sets the result of all successors of a failed node to [ErrSkipped].
func (p *pool) skip(n int) {
	given := []int32{int32(n)}
	for len(given) > 0 {
		last := given[len(given)-1]
		given = given[:len(given)-1]
		for _, m := range p.next.of(last) {
			if p.state[m] == errPending {
				p.state[m] = ErrSkipped
				given = append(given, m)
			}
		}
	}
}

// results returns the result of each node. Call it when nothing is running.
func (p *pool) results() []error {
	for n, err := range p.state {
		if err == errPending {
			if p.state[n] = context.Cause(p.ctx); p.state[n] == nil {
				panic("walk: a node was neither visited nor given up")
			}
		}
	}
	return p.state
}

// A queue returns the node of the highest rank first, and among equal ranks the lowest number. It is a binary
// heap of integers that combine rank and number.
type queue []int64

func (q *queue) push(rank, n int32) {
	h := append(*q, -int64(rank)<<32|int64(n))
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] <= h[i] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*q = h
}

func (q *queue) pop() (int32, bool) {
	h := *q
	if len(h) == 0 {
		return 0, false
	}
	top := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c] < h[least] {
				least = c
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*q = h
	return int32(uint32(top)), true
}
