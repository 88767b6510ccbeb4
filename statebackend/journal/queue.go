package journal

import (
	"context"
	"runtime"
	"time"
)

// A queue has the records that are not yet in a segment, in their order, and the callers who wait for them.
// One caller at a time is the leader: it appends all waiting records until its own are stored. Then another
// caller becomes the leader.
type queue struct {
	records [][]byte
	soon    *callers // wait until the records are appended
	sure    *callers // wait until the records are durable

	led      bool          // there is a leader
	away     int           // callers who were served, and have not appended again
	gathered chan struct{} // closed when these are back; nil unless the leader waits for them
	took     time.Duration // duration of the last append that did not have to be durable
	cost     time.Duration // duration of the last append
}

// newQueue returns an empty queue. Until the first append it assumes the cost that leads to the longest
// pause.
func newQueue() queue { return queue{cost: part * longestPause} }

// callers are the callers that wait for the same append.
type callers struct {
	n      int           // number of callers, without those who do not wait
	lead   chan struct{} // makes one of them the leader
	done   chan struct{} // closed when they are served; nil until somebody waits
	served bool
	err    error
}

// await makes the channels on which callers wait. They are made only on demand, since most callers need none.
// The caller holds the writer's mu.
func (c *callers) await() {
	if c.done == nil {
		c.lead, c.done = make(chan struct{}, 1), make(chan struct{})
	}
}

// Append adds records to the queue, each one line of JSON, in the order of the calls. It returns at once.
// The caller must call the returned function stored, which waits until the records are stored. If durable,
// the records outlive the machine when stored returns nil, and so do all records before them.
//
// Other records outlive the process when stored returns nil, with one exception. If no other process can
// write to the log and appends are quick, stored does not wait for the append under way, whose caller stores
// the records next. Logs that are reached by requests make all records durable.
//
// After an error it is not known whether the records are stored, and all later records fail: the caller must
// not begin the change that it announced. If another run has taken over, the error is a *FencedError. The
// context of one stored call may be used for the append of many callers.
func (w *Writer) Append(durable bool, records ...[]byte) (stored func(context.Context) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := &w.queue
	q.records = append(q.records, records...)
	kind := &q.soon
	if durable || !w.exclusive { // a store that is reached by requests makes all segments durable
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

// Write appends durable records, and waits until they are stored.
func (w *Writer) Write(ctx context.Context, records ...[]byte) error {
	return w.Append(true, records...)(ctx)
}

// wake ends the pause of the leader. The caller holds w.mu.
func (q *queue) wake() {
	if q.gathered != nil {
		close(q.gathered)
		q.gathered = nil
	}
}

// stored waits until the records of c are stored. If there is no leader, the caller of stored becomes the
// leader.
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

// handOver makes one of the next callers the leader. If none of them has to wait, the present leader stores
// their records. The caller holds w.mu.
func (w *Writer) handOver(ctx context.Context) {
	for {
		switch {
		case w.sure != nil: // the new leader serves the callers in soon, too
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

// quick reports whether an append that need not be durable ends soon and can be left to the leader. That
// needs a log that no other run can take over meanwhile. A failure is then noticed in time, by the next
// record. The caller holds w.mu.
func (w *Writer) quick() bool { return w.exclusive && w.took <= pause }

// yield lets goroutines run that are about to append records, if appends are quick: one append then has the
// records of all. It releases w.mu meanwhile. The caller holds w.mu.
func (w *Writer) yield() {
	if w.quick() {
		w.mu.Unlock()
		runtime.Gosched()
		w.mu.Lock()
	}
}

// pause is how long the writer waits for more records before a slow append. It is short compared with a call over a
// network, and long compared with the work between two calls. While records keep coming, the writer waits again, up to
// mostPauses times: on a busy processor, callers come back one by one.
//
// If each append costs a request, the writer waits for 1/part of the last append's duration: at least pause, and at most
// longestPause.
const (
	pause        = time.Millisecond
	longestPause = 8 * time.Millisecond
	mostPauses   = 4
	part         = 8
)

// patience returns the pause that this log needs: see the constant pause.
func (w *Writer) patience() time.Duration {
	if w.exclusive {
		return pause
	}
	return min(max(w.cost/part, pause), longestPause)
}

// gather waits for callers whose records were stored and who have not added their next records yet. A caller
// whose provider answers at once is about to have the next record, and the append takes far longer than this
// wait.
//
// Where an append is a slow request, gather also waits for new callers: steps that can begin at the same
// moment then share one request for their intents. gather waits only once for a caller that does not come in
// time. The caller holds w.mu; gather releases it during the pauses.
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

// flush appends all records. It then tells the result to the callers in w.soon and, if durable is set, to the
// callers in w.sure. The caller holds w.mu; flush releases it during the append.
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
