package executor

import (
	"context"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/walk"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
)

// tellEvery is how often a plan or an apply reports its progress. Events never cause a report, so many events cost no more
// than a few.
const tellEvery = 5 * time.Second

// A teller reports the progress of a plan or an apply to the function jobs.Job.Progress.
type teller struct {
	tell func(comment.Ongoing) // nil if nobody wants to know
	hide func(string) string   // removes secrets from an address

	typical estimates.Typical // of earlier applies

	mu       sync.Mutex
	far      comment.Progress
	underWay map[work]time.Time // the time of its beginning
	tally    *operation.Tally   // nil before the first change
	took     estimates.Durations
	log      *providerLog
	last     bool
	planned  map[addrs.ResourceInstanceObject]bool // the objects that a plan has read and planned; nil for an apply
}

// A work is a change or a read of one object, or the invocation of an action block.
type work struct {
	addr  string
	doing comment.Doing
	kind  estimates.Kind // "" for an invocation and for the read of a plan
}

// atATime is how many changes an apply makes at the same time.
const atATime = 10

// count receives the tally of the apply.
func (t *teller) count(tally *operation.Tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tally = tally
}

// durations returns the durations of those changes that have succeeded.
func (t *teller) durations() estimates.Durations {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.took
}

// begin reports the progress now, and then every tellEvery until stop is called. After stop returns, there is no
// further report.
func (t *teller) begin(ctx context.Context) (stop func()) {
	if t.tell == nil {
		return func() {}
	}
	t.tell(t.now())
	return walk.Every(context.WithoutCancel(ctx), tellEvery, func() { t.tell(t.now()) })
}

// tellPlan begins to report the progress of the plan. The caller must call stop.
func (o *checkout) tellPlan(ctx context.Context) (stop func()) {
	if o.job.Progress == nil {
		return func() {}
	}
	o.teller = &teller{tell: o.job.Progress, log: &o.log, planned: map[addrs.ResourceInstanceObject]bool{}}
	return o.teller.begin(ctx)
}

// finish sends the last report, after stop was called. hide removes all secrets, including those that the plan or the
// apply has made. finish sends nothing if no provider has logged anything, or if it was called before.
func (t *teller) finish(hide func(string) string) {
	if t == nil || t.tell == nil || t.log == nil || t.last {
		return
	}
	if lines, left := t.log.latest(); len(lines)+left == 0 {
		return
	}
	t.mu.Lock()
	t.hide, t.last, t.underWay = hide, true, nil
	t.mu.Unlock()
	t.tell(t.now())
}

// told returns a run whose events count for the progress of the plan. Call told after the state was read and the
// providers were installed. Each call starts counting from 0, because the plan may be made more than once.
func (o *checkout) told(r engine.Run) engine.Run {
	if t := o.teller; t != nil {
		hide := o.secrets(nil, nil)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.hide, t.underWay = hide.From, nil
		clear(t.planned)
		t.far = comment.Progress{}
		if all := o.job.Options; len(all.Targets)+len(all.Excludes) == 0 && all.Invoke == "" {
			t.far.Of = objects(o.Config, o.State.Current)
		}
		r.Events = func(e events.Event) {
			t.listenToPlan(e)
			o.engine.Events.Send(e)
		}
	}
	return r
}

// objects returns about how many objects a plan reads and plans: the instances in the state, and one of each block that
// has no instances yet.
func objects(c *config.Config, s *states.State) (n int) {
	known := map[addrs.ConfigResource]bool{}
	for a, r := range s.Resources() {
		block := addrs.ConfigResource{Module: a.Module.Module(), Resource: a.Resource}
		m := c.Modules[block.Module]
		if a.Resource.Mode == addrs.Data && (m == nil || m.Resources[a.Resource] == nil) {
			continue // nobody reads it
		}
		known[block] = true
		n += len(r.Instances)
	}
	for _, m := range c.Modules {
		for r := range m.Resources {
			if r.Mode != addrs.Ephemeral && !known[addrs.ConfigResource{Module: m.Addr, Resource: r}] {
				n++
			}
		}
	}
	return n
}

// listenToPlan receives the events of the plan; it is an events.Listener. An object is in progress while it is read.
// It is done when its change is planned. A data source is done when it is read.
func (t *teller) listenToPlan(e events.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := work{addr: e.Addr.String(), doing: comment.Reading}
	switch e.Kind {
	case events.RefreshStart, events.ApplyStart:
		if t.underWay == nil {
			t.underWay = map[work]time.Time{}
		}
		t.underWay[w] = time.Now()
	case events.RefreshDone, events.ApplyFailed:
		delete(t.underWay, w)
	case events.ApplyDone, events.Planned:
		delete(t.underWay, w)
		t.planned[e.Addr] = true
		t.far.Done = len(t.planned)
		if t.far.Of > 0 {
			t.far.Of = max(t.far.Of, t.far.Done)
		}
	}
}

// listen receives the events of the apply; it is an events.Listener.
func (t *teller) listen(e events.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, counts := workOf(e)
	switch e.Kind {
	case events.ApplyStart, events.InvokeStart:
		if w.doing == "" {
			return
		}
		if t.underWay == nil {
			t.underWay = map[work]time.Time{}
		}
		t.underWay[w] = time.Now()
	case events.ApplyDone, events.ApplyFailed, events.InvokeDone, events.InvokeFailed:
		if since, begun := t.underWay[w]; begun && e.Kind == events.ApplyDone {
			if t.took == nil {
				t.took = estimates.Durations{}
			}
			t.took.Took(w.kind, time.Since(since))
		}
		delete(t.underWay, w)
	}
	if counts && (e.Kind == events.ApplyDone || e.Kind == events.ApplySpared) {
		t.far.Done++
	}
}

// workOf returns the work that an event is about; w.doing is "" if people need not know about the work. counts
// is set if the work is a change of an object.
func workOf(e events.Event) (w work, counts bool) {
	if e.Invocation != nil {
		return work{addr: e.Invocation.Addr.String(), doing: comment.Invoking}, false
	}
	doing := map[plans.Action]comment.Doing{plans.Create: comment.Creating, plans.Update: comment.Updating, plans.Delete: comment.Destroying}
	return work{e.Addr.String(), doing[e.Action], kindOf(e.Addr, e.Action)}, e.Action.Count(counting.Counts{}) != counting.Counts{}
}

func kindOf(object addrs.ResourceInstanceObject, a plans.Action) estimates.Kind {
	return estimates.KindOf(object.Instance.Resource.Resource.Type, a.String())
}

// progress returns how much is done.
func (t *teller) progress() comment.Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.far
}

// now returns the present progress, with the changes under way.
func (t *teller) now() comment.Ongoing {
	t.mu.Lock()
	o, tally, now := comment.Ongoing{Progress: t.far, Planning: t.planned != nil, Last: t.last}, t.tally, time.Now()
	hide := t.hide
	if hide == nil { // nothing has an address yet
		hide = func(string) string { return "" }
	} else if t.log != nil {
		o.Log, o.Unlogged = t.log.latest()
	}
	var all []comment.ChangeUnderWay
	var run []estimates.Running
	for w, since := range t.underWay {
		all = append(all, comment.ChangeUnderWay{Address: w.addr, Action: w.doing, Since: since})
		if w.kind != "" {
			run = append(run, estimates.Running{Kind: w.kind, For: now.Sub(since)})
		}
	}
	t.mu.Unlock()
	if tally != nil && len(t.typical) > 0 {
		var wait []estimates.Kind
		for _, a := range tally.Left() {
			wait = append(wait, kindOf(a.Object, a.Verb))
		}
		if left, ok := t.typical.Left(wait, run, atATime); ok {
			o.Ends = now.Add(left)
		}
	}
	o = o.ListUnderWay(all).Bounded(time.Now(), hide)
	if t.log != nil {
		t.log.seal(o)
	}
	return o
}
