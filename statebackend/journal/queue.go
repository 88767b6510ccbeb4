package journal

import (
	"context"
	"runtime"
	"time"
)

// A queue has the records that are in no segment yet, in their order, and the callers who wait
// for them. One of the callers at a time leads: it appends what there is, for all, until its own
// records are stored. Then another one leads.
type queue struct {
	records [][]byte
	soon    *callers // wait until the records are appended
	sure    *callers // wait until the records are durable

	led      bool          // somebody leads
	away     int           // callers who were served, and have not come back
	gathered chan struct{} // closed when they are back, if the leader waits for them
	took     time.Duration // the last append that did not have to be durable
	cost     time.Duration // the last append
}

// newQueue returns an empty queue. Nobody knows yet what an append costs.
func newQueue() queue { return queue{cost: part * longestPause} }

// callers wait for the same append.
type callers struct {
	n      int           // without those who do not wait
	lead   chan struct{} // makes one of them the leader
	done   chan struct{} // closed when they are served; nil as long as nobody waits
	served bool
	err    error
}

// await makes the channels, which most callers need not; the writer's mu is held.
func (c *callers) await() {
	if c.done == nil {
		c.lead, c.done = make(chan struct{}, 1), make(chan struct{})
	}
}

// Append takes records, each one line of JSON, in the order of the calls, and returns at once;
// stored waits. Records that are to be durable outlive the machine when it returns nil, with all
// before them; others outlive the process, where a log knows the difference, or will in a moment: if
// nobody else writes to the log and appends are quick, a record that need not be durable does
// not wait for the append under way, whose caller stores it next. stored must be called.
//
// After an error it is not known whether records are stored, and all later ones fail: whoever
// meant to begin something must not. If another run has taken over, the error is a *FencedError.
// The context of stored may be that of the append for many.
func (w *Writer) Append(durable bool, records ...[]byte) (stored func(context.Context) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := &w.queue
	q.records = append(q.records, records...)
	kind := &q.soon
	if durable || !w.exclusive { // a store that is reached by requests knows no difference
		kind = &q.sure
	}
	if *kind == nil {
		*kind = new(callers)
	}
	c := *kind
	c.n++
	if q.away = max(0, q.away-1); q.away == 0 {
		q.wake()
	}
	return func(ctx context.Context) error { return w.stored(ctx, c) }
}

// Write is [Writer.Append] of durable records, with the wait.
func (w *Writer) Write(ctx context.Context, records ...[]byte) error {
	return w.Append(true, records...)(ctx)
}

// wake ends the pause of the leader; w.mu is held.
func (q *queue) wake() {
	if q.gathered != nil {
		close(q.gathered)
		q.gathered = nil
	}
}

// stored waits until the records of callers are stored, and leads if nobody else does.
func (w *Writer) stored(ctx context.Context, c *callers) error {
	w.mu.Lock()
	switch {
	case c.served:
		defer w.mu.Unlock()
		return c.err
	case w.led && w.soon == c && len(c.lead) == 0 && w.quick():
		defer w.mu.Unlock()
		c.n--
		w.away++
		return w.broken
	case w.led:
		c.await()
		w.mu.Unlock()
		select {
		case <-c.done:
			return c.err
		case <-c.lead:
		}
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	w.led = true
	if w.sure == c || w.soon == c && w.took > pause {
		w.gather()
		w.flush(ctx, w.sure != nil)
	} else if w.soon == c {
		w.yield()
		w.flush(ctx, false)
	}
	w.handOver(ctx)
	return c.err
}

// handOver makes one of the next callers the leader; w.mu is held. If none of them has to wait, the
// present one stores their records.
func (w *Writer) handOver(ctx context.Context) {
	for {
		switch {
		case w.sure != nil: // whoever leads for these serves the others first
			w.sure.await()
			w.sure.lead <- struct{}{}
			return
		case w.soon == nil:
			w.led = false
			w.idle.Broadcast()
			return
		case w.soon.n > 0 && !w.quick():
			w.soon.await()
			w.soon.lead <- struct{}{}
			return
		}
		w.flush(ctx, false)
	}
}

// quick reports whether an append that need not be durable is soon over, and can be left to the
// leader: no other run takes the journal over meanwhile, so that nothing has to be written elsewhere then,
// and a failure is in time with the next record. w.mu is held.
func (w *Writer) quick() bool { return w.exclusive && w.took <= pause }

// yield lets those run who are about to hand records over, where an append costs more than that: one
// append then has the records of all. w.mu is held, but for the moment.
func (w *Writer) yield() {
	if w.quick() {
		w.mu.Unlock()
		runtime.Gosched()
		w.mu.Lock()
	}
}

// pause is how long an append that is slow waits for the next records. It is short beside a
// call over a network, and long beside the work between two calls. While they keep coming the append
// waits for more, mostPauses in all: where the processor is what is scarce, callers come back one by one.
//
// Where an append is a request, the pause is a part of what the last one took, but not longer than longestPause.
const (
	pause        = time.Millisecond
	longestPause = 8 * time.Millisecond
	mostPauses   = 4
	part         = 8
)

// patience is the pause of this log.
func (w *Writer) patience() time.Duration {
	if w.exclusive {
		return pause
	}
	return min(max(w.cost/part, pause), longestPause)
}

// gather waits for callers who were served and have not come back. Those whose provider answers at
// once are about to have the next record, and the append costs far more than the moment that they
// need. Where an append is a slow request, it waits for those who come for the first time, too: steps that can begin at
// the same moment have one request for all their intents. Whoever does not come in time is not waited for a
// second time. w.mu is held, but for the pauses.
func (w *Writer) gather() {
	if w.away == 0 && w.patience() <= pause {
		return
	}
	timer := time.NewTimer(w.patience())
	defer timer.Stop()
	for pauses := 1; ; pauses++ {
		var back chan struct{}
		came := len(w.records)
		if w.away > 0 {
			back = make(chan struct{})
			w.gathered = back
		}
		w.mu.Unlock()
		all := false
		select {
		case <-back:
			all = true
		case <-timer.C:
		}
		w.mu.Lock()
		if w.gathered = nil; all {
			return
		}
		if pauses == mostPauses || len(w.records) == came {
			w.away = 0
			return
		}
		timer.Reset(w.patience())
	}
}

// flush appends all records, and serves those who wait for that, if it is durable all. w.mu is
// held, but for the append.
func (w *Writer) flush(ctx context.Context, durable bool) {
	records, served := w.records, []*callers{w.soon}
	w.records, w.soon = nil, nil
	if durable {
		served = append(served, w.sure)
		w.sure = nil
	}
	if w.broken == nil {
		w.mu.Unlock()
		start := time.Now()
		err := w.append(ctx, header{}, records, durable)
		cost := time.Since(start)
		w.mu.Lock()
		w.cost = cost
		if w.broken = err; !durable {
			w.took = w.cost
		}
	}
	for _, c := range served {
		if c != nil {
			c.err, c.served = w.broken, true
			w.away += c.n
			if c.done != nil {
				close(c.done)
			}
		}
	}
}
