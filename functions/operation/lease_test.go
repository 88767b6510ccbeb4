package operation

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// eavesdropped is a journal's log with a function that is called after a request, as somebody else is
// quicker than the next one.
type eavesdropped struct {
	statebackendtest.Log

	mu       sync.Mutex
	appended func(data []byte)
	read     func()
}

func (l *eavesdropped) Append(ctx context.Context, number uint64, data []byte, durable bool) error {
	err := l.Log.Append(ctx, number, data, durable)
	l.mu.Lock()
	f := l.appended
	l.mu.Unlock()
	if f != nil && err == nil {
		f(data)
	}
	return err
}

func (l *eavesdropped) Segments(ctx context.Context, first func(statebackend.Segment) bool) ([]statebackend.Segment, error) {
	s, err := l.Log.Segments(ctx, first)
	l.mu.Lock()
	f := l.read
	l.read = nil
	l.mu.Unlock()
	if f != nil {
		f()
	}
	return s, err
}

// once calls f after the first append of data with that text.
func (l *eavesdropped) once(text string, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.appended = func(data []byte) {
		if !bytes.Contains(data, []byte(text)) {
			return
		}
		l.mu.Lock()
		l.appended = nil
		l.mu.Unlock()
		f()
	}
}

// ab are two objects, made one after the other.
const ab = `resource "terraform_data" "a" {}
resource "terraform_data" "b" { triggers_replace = terraform_data.a.id }
`

// opened opens an operation under the lock.
func opened(t *testing.T, b statebackend.Backend, lock *Lock) (*Operation, diags.Diagnostics) {
	t.Helper()
	return openedWith(t, b, lock, ab)
}

func openedWith(t *testing.T, b statebackend.Backend, lock *Lock, config string) (*Operation, diags.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &Operation{Settings: &workdir.Settings{Type: "fake"}, Workspace: "default", Journaled: true}
	t.Cleanup(o.Close)
	d, ds := workdir.Open(dir, []string{"TF_CLI_CONFIG_FILE=" + os.DevNull})
	d.Scratch = ""
	cfg, more := d.Load()
	if ds = append(ds, more...); ds.HasErrors() {
		t.Fatal(ds)
	}
	o.Config = cfg
	if o.Variables, ds = inputs.Values(cfg.Root.Content, nil); ds.HasErrors() {
		t.Fatal(ds)
	}
	ctx := context.WithoutCancel(t.Context())
	if ds = o.OpenState(ctx, b, "default", lock); ds.HasErrors() {
		return o, ds
	}
	if more := o.OpenProviders(ctx, d, workdir.PoolOptions{}, 0); more.HasErrors() {
		t.Fatal(more)
	}
	return o, ds
}

func mustOpen(t *testing.T, b statebackend.Backend, lock *Lock) *Operation {
	t.Helper()
	o, ds := opened(t, b, lock)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return o
}

func planned(t *testing.T, o *Operation) *plans.Plan {
	t.Helper()
	p, ds := engine.Plan(t.Context(), o.Run(), o.State.Current, engine.PlanOptions{Waiting: o.Recovery.Waiting()})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return p
}

func applied(t *testing.T, o *Operation) (Applied, diags.Diagnostics) {
	t.Helper()
	return o.Apply(t.Context(), o.Run(), planned(t, o), engine.ApplyOptions{})
}

// tells reports whether a diagnostic with the summary is among them.
func tells(ds diags.Diagnostics, summary string) bool {
	for _, d := range ds {
		if d.Summary == summary {
			return true
		}
	}
	return false
}

func continuing(run string) *Lock {
	return &Lock{Operation: "OperationTypeApply", Run: run, Continues: true}
}

func storedState(t *testing.T, b statebackend.Backend) string {
	t.Helper()
	w, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(snap.Bytes)
}

func releases(t *testing.T, o *Operation) {
	t.Helper()
	if ds := o.Unlock(t.Context()); len(ds) > 0 {
		t.Error(ds)
	}
}

// TestDeposedInTheMiddle takes the lock from an apply that lives, as a wrong clock or a wrong record
// would, while it makes its first object.
func TestDeposedInTheMiddle(t *testing.T) {
	t.Parallel()
	log := new(eavesdropped)
	b := journaled{new(statebackendtest.Fake), log}
	var heir *Operation
	log.once(`"kind":"intent"`, func() { heir = mustOpen(t, b, continuing("r")) })

	d := mustOpen(t, b, continuing("r"))
	done, ds := applied(t, d)
	if heir == nil {
		t.Fatal("nobody has taken over")
	}
	if !tells(ds, "The state lock was lost") || done.Unsaved {
		t.Errorf("unsaved: %v, %v", done.Unsaved, ds)
	}
	if n := done.Tally.Done(); n.Add != 1 || strings.Contains(resources(done.State), "terraform_data.b") {
		t.Errorf("%d added, %s: something was begun after the loss", n.Add, resources(done.State))
	}
	if s := storedState(t, b); s != "" {
		t.Errorf("the deposed has written the state %s", s)
	}
	if ds := d.Unlock(t.Context()); !tells(ds, "The state lock was lost") || ds.HasErrors() {
		t.Errorf("Unlock of the deposed: %v", ds)
	}

	// The heir has seen an open creation. Its outcome, which came late, is the next one's.
	if u := heir.Recovery.Unresolved; len(u) != 1 || u[0].Address != "terraform_data.a" {
		t.Errorf("the heir has unresolved: %v", u)
	}
	releases(t, heir)
	next := mustOpen(t, b, continuing("s"))
	if len(next.Recovery.Unresolved) > 0 || !next.Recovery.Folded || !strings.Contains(storedState(t, b), `"name": "a"`) {
		t.Errorf("the late outcome is lost: %+v", next.Recovery)
	}
	if done, ds := applied(t, next); ds.HasErrors() || done.Tally.Done().Add != 1 {
		t.Errorf("the rest: %+v, %v", done.Tally.Done(), ds)
	}
	releases(t, next)
}

// TestALateOutcomeStopsAnApply has the outcome come in after the heir has read the journal, and before
// it applies: what it has planned is no longer true.
func TestALateOutcomeStopsAnApply(t *testing.T) {
	t.Parallel()
	b := journaled{new(statebackendtest.Fake), new(statebackendtest.Log)}
	w, j := dying(t, b)
	id, err := j.Intent(t.Context(), journaling.Intent{Address: "terraform_data.a", Action: "create"})
	if err != nil {
		t.Fatal(err)
	}
	heir := mustOpen(t, b, continuing("r"))
	late := journaling.New("r.1.1", &guarded{Writer: w})
	if err := late.Outcome(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	if _, ds := applied(t, heir); !tells(ds, "Another process is applying") {
		t.Errorf("the heir applies: %v", ds)
	}
	releases(t, heir)
	next := mustOpen(t, b, continuing("s"))
	if u := next.Recovery.Unresolved; len(u) > 0 {
		t.Errorf("unresolved: %v", u)
	}
	releases(t, next)
}

// dying is an apply of the run r that has begun, and that holds the lock.
func dying(t *testing.T, b journaled) (*journal.Writer, *journaling.Journal) {
	t.Helper()
	o := mustOpen(t, b, continuing("r"))
	o.Leave()
	w, _, err := journal.Open(t.Context(), b.log, "r.1.1")
	if err != nil {
		t.Fatal(err)
	}
	j := journaling.New("r.1.1", w)
	if err := j.Begin(journaling.Start{Stored: states.Empty(), Prior: states.Empty(), Lineage: "lineage"}); err != nil {
		t.Fatal(err)
	}
	return w, j
}

// TestTheJournalIsFencedBeforeItIsRead has the deposed write on after its heir has looked into the
// journal for the first time.
func TestTheJournalIsFencedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{true, false} {
		log := new(eavesdropped)
		b := journaled{new(statebackendtest.Fake), log}
		d := mustOpen(t, b, continuing("r"))
		d.Leave()
		var w *journal.Writer
		var j *journaling.Journal
		begin := func() {
			var err error
			if w, _, err = journal.Open(t.Context(), &log.Log, "r.1.1"); err != nil {
				t.Fatal(err)
			}
			j = journaling.New("r.1.1", w)
			if err := j.Begin(journaling.Start{Stored: states.Empty(), Prior: states.Empty(), Lineage: "lineage"}); err != nil {
				t.Fatal(err)
			}
		}
		if begun {
			begin()
		}
		log.read = func() {
			if !begun {
				begin()
			}
			if _, err := j.Intent(t.Context(), journaling.Intent{Address: "terraform_data.a", Action: "create"}); err != nil {
				t.Fatal(err)
			}
		}
		heir := mustOpen(t, b, continuing("r"))
		if u := heir.Recovery.Unresolved; len(u) != 1 || u[0].Address != "terraform_data.a" {
			t.Errorf("begun %v: the heir does not know of the creation: %+v", begun, heir.Recovery)
		}
		if _, err := j.Intent(t.Context(), journaling.Intent{Address: "terraform_data.b", Action: "create"}); err == nil {
			t.Errorf("begun %v: the deposed may begin something", begun)
		}
		releases(t, heir)
	}
}

// TestAForcedUnlockOfALivingApply has a person release the lock of an apply that lives, and another one
// plan before that has written its first record.
func TestAForcedUnlockOfALivingApply(t *testing.T) {
	t.Parallel()
	b := journaled{new(statebackendtest.Fake), new(statebackendtest.Log)}
	d := mustOpen(t, b, continuing("r"))
	w, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(t.Context(), d.State.Holding().Lease().Lock); err != nil {
		t.Fatal(err)
	}
	other := mustOpen(t, b, continuing("s"))
	_, j := func() (*journal.Writer, *journaling.Journal) {
		w, _, err := journal.Open(t.Context(), b.log, "r.1.1")
		if err != nil {
			t.Fatal(err)
		}
		return w, journaling.New("r.1.1", w)
	}()
	if err := j.Begin(journaling.Start{Stored: states.Empty(), Prior: states.Empty(), Lineage: "lineage"}); err != nil {
		t.Fatal(err)
	}
	if _, ds := applied(t, other); !tells(ds, "Another process is applying") {
		t.Errorf("the other applies: %v", ds)
	}
	// And the first notices before it begins.
	if _, ds := applied(t, d); !tells(ds, "The state lock was lost") {
		t.Errorf("the first applies: %v", ds)
	}
	releases(t, other)
}

// TestOutputsBesideALivingApply has a run save outputs, and nothing else, while another one whose lock was released is at
// work: the state is not written, since the other one's would be refused then.
func TestOutputsBesideALivingApply(t *testing.T) {
	t.Parallel()
	b := journaled{new(statebackendtest.Fake), new(statebackendtest.Log)}
	o, ds := openedWith(t, b, continuing("s"), `output "a" { value = 1 }`)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	w, _, err := journal.Open(t.Context(), b.log, "r.1.1")
	if err != nil {
		t.Fatal(err)
	}
	if done, ds := applied(t, o); !tells(ds, "Another process is applying") || done.Unsaved {
		t.Errorf("unsaved %t, %v", done.Unsaved, ds)
	}
	if snap, err := o.State.Workspace.Get(t.Context()); err != nil || snap.Bytes != nil {
		t.Errorf("a state was stored: %s (%v)", snap.Bytes, err)
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	releases(t, o)
	next, ds := openedWith(t, b, continuing("t"), `output "a" { value = 1 }`)
	if done, more := applied(t, next); ds.HasErrors() || more.HasErrors() || done.Unsaved {
		t.Errorf("the next one: %v, %v", ds, more)
	}
	releases(t, next)
}

// TestWhoOnlyLooksSeesWhoLives reads beside an apply without the lock, while it lives and after its death.
func TestWhoOnlyLooksSeesWhoLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := journaled{new(statebackendtest.Fake), new(statebackendtest.Log)}
		_, j := dying(t, b)
		if _, err := j.Intent(t.Context(), journaling.Intent{Address: "terraform_data.a", Action: "create"}); err != nil {
			t.Fatal(err)
		}
		look := func() (Recovery, diags.Diagnostics, int) {
			o := Operation{Journaled: true}
			ds := o.OpenState(t.Context(), b, "default", nil)
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			return o.Recovery, ds, len(o.Recovery.Waiting())
		}
		began := time.Now()
		r, ds, waiting := look()
		if r.Living == nil || r.Living.Run != "r" || r.Living.Since.After(began) || len(r.UnderWay) != 1 || len(r.Unresolved) != 0 {
			t.Errorf("beside the living: %+v", r)
		}
		if waiting != 1 || !tells(ds, "The state is being changed") || tells(ds, "1 object may exist outside the state") {
			t.Errorf("%d waiting, %v", waiting, ds)
		}
		time.Sleep(2 * time.Minute)
		r, ds, waiting = look()
		if r.Living != nil || len(r.UnderWay) != 0 || len(r.Unresolved) != 1 || waiting != 1 || !tells(ds, "1 object may exist outside the state") {
			t.Errorf("after the death: %+v, %v", r, ds)
		}
	})
}

// TestWhatALivingRunHasFound has creations of a dead run in the journal, which the living one leaves
// alone: these are nobody's.
func TestWhatALivingRunHasFound(t *testing.T) {
	t.Parallel()
	b := journaled{new(statebackendtest.Fake), new(statebackendtest.Log)}
	_, j := dying(t, b)
	if _, err := j.Intent(t.Context(), journaling.Intent{Address: "terraform_data.a", Action: "create"}); err != nil {
		t.Fatal(err)
	}
	w, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	held, err := w.Locks(t.Context())
	if err != nil || len(held) != 1 {
		t.Fatal(held, err)
	}
	if err := w.Unlock(t.Context(), held[0].Info.ID); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, b, continuing("s"))
	o := Operation{Journaled: true}
	if ds := o.OpenState(t.Context(), b, "default", nil); ds.HasErrors() {
		t.Fatal(ds)
	}
	if r := o.Recovery; r.Living == nil || len(r.UnderWay) != 0 || len(r.Unresolved) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestALockStaysUntilItsRunIsRecovered has the store refuse the recovered state.
func TestALockStaysUntilItsRunIsRecovered(t *testing.T) {
	t.Parallel()
	log := new(eavesdropped)
	fake := new(statebackendtest.Fake)
	b := journaled{fake, log}
	_, j := dying(t, b)
	id, err := j.Intent(t.Context(), journaling.Intent{Address: "terraform_data.a", Action: "update"})
	if err != nil {
		t.Fatal(err)
	}
	fake.Faults = &statebackendtest.Faults{Decide: func(_ int, write string) statebackendtest.Fault {
		if strings.HasPrefix(write, "put") {
			return statebackendtest.Failed
		}
		return statebackendtest.None
	}}
	heir, ds := opened(t, b, continuing("r"))
	if !tells(ds, "Error recovering the state") {
		t.Fatal(ds)
	}
	releases(t, heir)
	fake.Faults.Decide = nil
	w, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	if held, err := w.Locks(t.Context()); err != nil || len(held) != 1 {
		t.Fatalf("the lock is gone: %v, %v", held, err)
	}
	next := mustOpen(t, b, continuing("r"))
	if r := next.Recovery.Read; len(r) != 1 || r[0].ID != id {
		t.Errorf("%+v", next.Recovery)
	}
	releases(t, next)
}

// TestNothingIsBegunWithoutALease has the process sleep in the middle of an apply, as a laptop does, and the
// store refuse the renewal after that.
func TestNothingIsBegunWithoutALease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := new(eavesdropped)
		fake := new(statebackendtest.Fake)
		b := journaled{fake, log}
		o := mustOpen(t, b, &Lock{Operation: "OperationTypeApply"})
		o.State.Rest() // what sleeps renews nothing
		log.once(`"kind":"intent"`, func() {
			time.Sleep(time.Hour)
			fake.Faults = &statebackendtest.Faults{Decide: func(_ int, write string) statebackendtest.Fault {
				if strings.HasPrefix(write, "lease") {
					return statebackendtest.Failed
				}
				return statebackendtest.None
			}}
		})
		done, ds := applied(t, o)
		if n := done.Tally.Done(); n.Add != 1 || !ds.HasErrors() || !strings.Contains(ds.Error(), "nothing more is begun") {
			t.Errorf("%d added, %v", n.Add, ds)
		}
		releases(t, o)
	})
}

// TestCallsEndWithTheLease holds that providers are told to stop as soon as the loss of the lock is known, and
// that a lease which cannot be renewed leaves them the time until its end, and no more.
func TestCallsEndWithTheLease(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			fake := &statebackendtest.Fake{Faults: new(statebackendtest.Faults)}
			o := mustOpen(t, fake, &Lock{Operation: "OperationTypeApply"})
			began := time.Now()
			var lease context.Context
			var grace time.Duration
			release := o.stopWithLease(func(ctx context.Context, d time.Duration) func() {
				lease, grace = ctx, d
				return func() {}
			})
			defer release()
			if taken {
				mustOpen(t, fake, continuing(o.State.Holding().Lease().Run)).Leave()
			} else {
				fake.Faults.Decide = func(int, string) statebackendtest.Fault { return statebackendtest.Failed }
			}
			until := o.State.Holding().Lease().Until
			time.Sleep(10 * time.Second)
			if lease.Err() != nil {
				t.Fatalf("taken %v: calls end at once: %v", taken, context.Cause(lease))
			}
			<-lease.Done()
			if now := time.Now(); taken && now.Sub(began) > 20*time.Second || now.Add(grace).After(until.Add(statebackend.Grace)) {
				t.Errorf("taken %v: calls are told to end after %s, and killed %s later; the lease was until %s", taken, now.Sub(began), grace, until.Sub(began))
			}
		})
	}
}
