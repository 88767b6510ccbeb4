package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// diskLog is a log on a disk: an append that is to be durable takes a while, and makes all before
// it durable.
type diskLog struct {
	*statebackendtest.Log

	mu      sync.Mutex
	written []byte // by all appends
	safe    int    // how much of it is durable
	syncs   int
}

func (l *diskLog) Append(ctx context.Context, number uint64, data []byte, durable bool) error {
	if err := l.Log.Append(ctx, number, data, durable); err != nil {
		return err
	}
	l.mu.Lock()
	l.written = append(l.written, data...)
	upTo := len(l.written)
	l.mu.Unlock()
	if durable {
		time.Sleep(2 * time.Millisecond)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.safe = max(l.safe, upTo)
		l.syncs++
	}
	return nil
}

// has reports whether a line is written, or durable.
func (l *diskLog) has(line string, durable bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.written
	if durable {
		all = all[:l.safe]
	}
	return bytes.Contains(all, []byte("\n"+line+"\n"))
}

// TestConfirmedRecordsAreStored: whoever is told that a record is stored, or durable, finds it so;
// on a log of this machine, records that need not be durable do not wait for those that must.
func TestConfirmedRecordsAreStored(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			log := &diskLog{Log: &statebackendtest.Log{KeepsNothing: exclusive}}
			w, _ := openJournal(t, log, "a")
			log.syncs = 0
			var wg sync.WaitGroup
			for worker := range 10 {
				wg.Go(func() {
					for i := range 100 {
						for _, durable := range []bool{true, false} {
							line := fmt.Sprintf(`"%d.%d.%t"`, worker, i, durable)
							if err := w.Append(durable, []byte(line))(t.Context()); err != nil {
								t.Errorf("Append: %v", err)
							}
							if (durable || !exclusive) && !log.has(line, true) {
								t.Errorf("%s was confirmed too early", line)
							}
						}
					}
				})
			}
			wg.Wait()
			synctest.Wait()
			if want := map[bool]int{true: 110, false: 210}[exclusive]; log.syncs > want {
				t.Errorf("exclusive %t: 2,000 records of 10 at a time, of which 1,000 are durable, took %d durable appends, want at most %d", exclusive, log.syncs, want)
			}
			records, err := journal.Read(t.Context(), log)
			if err != nil || len(records) != 2000 {
				t.Errorf("%d records (%v)", len(records), err)
			}
		})
	}
}

// requestLog is a log in which each append is a request.
type requestLog struct {
	*statebackendtest.Log
	latency  time.Duration
	requests int
}

func (l *requestLog) Append(ctx context.Context, number uint64, data []byte, durable bool) error {
	time.Sleep(l.latency)
	l.requests++
	return l.Log.Append(ctx, number, data, durable)
}

// TestRecordsShareARequest: records of steps that begin at about the same moment share a request, the first ones
// too; so do those that come one by one while others are on their way. Nobody waits long for others.
func TestRecordsShareARequest(t *testing.T) {
	for _, c := range []struct {
		latency, apart time.Duration
		workers, want  int
	}{
		{40 * time.Millisecond, 0, 3, 3},
		{40 * time.Millisecond, 3 * time.Millisecond, 3, 3},
		{time.Millisecond, 300 * time.Microsecond, 3, 3},
		{40 * time.Millisecond, time.Minute, 3, 9}, // each for itself
	} {
		synctest.Test(t, func(t *testing.T) {
			log := &requestLog{Log: new(statebackendtest.Log), latency: c.latency}
			w, _ := openJournal(t, log, "a")
			log.requests = 0
			var wg sync.WaitGroup
			for worker := range c.workers {
				wg.Go(func() {
					time.Sleep(time.Duration(worker) * c.apart)
					for range 3 {
						start := time.Now()
						write(t, w, `"record"`)
						if took, most := time.Since(start), 2*c.latency+4*8*time.Millisecond; took > most {
							t.Errorf("%+v: a record was stored after %s", c, took)
						}
					}
				})
			}
			wg.Wait()
			if log.requests != c.want {
				t.Errorf("%+v: %d requests, want %d", c, log.requests, c.want)
			}
		})
	}
}

// TestRecordsGoWithTheAppendUnderWay: where appends are quick, and nobody else writes to the log, a record that
// need not be durable does not wait for the append under way, and is written as soon as that is
// over, though nobody comes any more.
func TestRecordsGoWithTheAppendUnderWay(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			log := &diskLog{Log: &statebackendtest.Log{KeepsNothing: exclusive}}
			w, _ := openJournal(t, log, "a")
			durable := make(chan struct{})
			go func() {
				defer close(durable)
				write(t, w, `"intent"`)
			}()
			time.Sleep(time.Millisecond) // in the middle of the append
			start := time.Now()
			for range 3 {
				if err := w.Append(false, []byte(`"outcome"`))(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if waited := time.Since(start) > 0; waited == exclusive {
				t.Errorf("exclusive %t: waited %t", exclusive, waited)
			}
			<-durable
			synctest.Wait()
			wantRecords(t, log, `a:"intent" a:"outcome" a:"outcome" a:"outcome"`)
		})
	}
}

// TestFailuresOfTheUnawaited: a record for which nobody waited, and which could not be written, stops whoever comes
// next, and cannot be passed over at the end.
func TestFailuresOfTheUnawaited(t *testing.T) {
	for _, next := range []string{"intent", "reset", "finish"} {
		synctest.Test(t, func(t *testing.T) {
			log := &fullLog{diskLog: diskLog{Log: &statebackendtest.Log{KeepsNothing: true}}}
			w, _ := openJournal(t, log, "a")
			go w.Write(t.Context(), []byte(`"intent"`))
			time.Sleep(time.Millisecond)
			log.full.Store(5) // attempts: all of one append
			if err := w.Append(false, []byte(`"outcome"`))(t.Context()); err != nil {
				t.Fatalf("a record that nobody waits for: %v", err)
			}
			time.Sleep(time.Minute)
			var err error
			switch next {
			case "intent":
				err = w.Write(t.Context(), []byte(`"next"`))
			case "reset":
				err = w.Reset(t.Context())
			case "finish":
				err = w.Finish(t.Context())
			}
			if !errors.Is(err, errFull) {
				t.Errorf("%s: %v", next, err)
			}
		})
	}
}

var errFull = errors.New("no space left on device")

// fullLog has no space for a while.
type fullLog struct {
	diskLog
	full atomic.Int32 // attempts
}

func (l *fullLog) Append(ctx context.Context, number uint64, data []byte, durable bool) error {
	if l.full.Add(-1) >= 0 {
		return errFull
	}
	return l.diskLog.Append(ctx, number, data, durable)
}

// TestAllRecordsOfManyAreStored: whoever waits and whoever does not, all records are there in the end, those of one
// caller in their order.
func TestAllRecordsOfManyAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &diskLog{Log: &statebackendtest.Log{KeepsNothing: true}}
		w, _ := openJournal(t, log, "a")
		var wg sync.WaitGroup
		for worker := range 10 {
			wg.Go(func() {
				for i := range 100 {
					time.Sleep(time.Duration((worker*7+i*13)%5) * time.Millisecond)
					line := fmt.Appendf(nil, `"%d %d"`, worker, i)
					if err := w.Append((worker+i)%3 == 0, line)(t.Context()); err != nil {
						t.Errorf("Append: %v", err)
					}
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		records, err := journal.Read(t.Context(), log)
		if err != nil || len(records) != 1000 {
			t.Fatalf("%d records (%v)", len(records), err)
		}
		next := [10]int{}
		for _, r := range records {
			var worker, i int
			if _, err := fmt.Sscanf(string(r.Line), `"%d %d"`, &worker, &i); err != nil || next[worker] != i {
				t.Fatalf("%s comes after %d records of its caller (%v)", r.Line, next[worker], err)
			}
			next[worker]++
		}
	})
}

// TestOneCallerDoesNotServeForEver: a caller returns when its record is stored, though others
// never stop to write.
func TestOneCallerDoesNotServeForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slowLog{new(statebackendtest.Log)}
		w, _ := openJournal(t, log, "a")
		ctx, cancel := context.WithCancel(t.Context())
		var others sync.WaitGroup
		start := time.Now()
		var mine time.Duration
		others.Go(func() {
			write(t, w, `"mine"`)
			mine = time.Since(start)
		})
		for range 5 {
			others.Go(func() {
				for ctx.Err() == nil {
					time.Sleep(300 * time.Millisecond)
					write(t, w, `"other"`)
				}
			})
		}
		time.Sleep(time.Minute)
		cancel()
		others.Wait()
		if mine > 3*time.Second {
			t.Errorf("a record that takes a second was confirmed after %s", mine)
		}
	})
}

// TestNobodyIsWaitedForTwice: the pause of the leader has an end, even if a caller comes back in the
// very moment in which it is over, and is served and does not come again.
func TestNobodyIsWaitedForTwice(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			log := &diskLog{Log: new(statebackendtest.Log)}
			w, _ := openJournal(t, log, "a")
			for range 2 { // two callers who are served, and away
				if err := w.Append(false, []byte(`"away"`))(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			both := w.Append(false, []byte(`"one"`))
			if err := w.Append(false, []byte(`"two"`))(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := both(t.Context()); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				time.Sleep(time.Millisecond)
				if err := w.Append(false, []byte(`"back"`))(t.Context()); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() { write(t, w, `"leader"`) })
			wg.Wait()
		})
	}
}

// TestCallersComeBackOneByOne: callers who come back one after the other, as they do where the processor is
// what is scarce, share an append all the same; the last one is not waited for longer than a few pauses.
func TestCallersComeBackOneByOne(t *testing.T) {
	for _, c := range []struct {
		apart time.Duration // between two callers
		syncs int           // for 100 rounds
	}{
		{300 * time.Microsecond, 110},
		{900 * time.Microsecond, 400},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := &diskLog{Log: new(statebackendtest.Log)}
			w, _ := openJournal(t, log, "a")
			log.syncs = 0
			var wg sync.WaitGroup
			for worker := range 10 {
				wg.Go(func() {
					for range 100 {
						time.Sleep(time.Duration(worker) * c.apart)
						write(t, w, `"one"`)
					}
				})
			}
			wg.Wait()
			if log.syncs > c.syncs {
				t.Errorf("1,000 durable records, %s apart, took %d durable appends", c.apart, log.syncs)
			}
		})
	}
}

// TestRecordsKeepTheirOrder: records are stored in the order in which they were handed over,
// whoever waits first, and whichever are to be durable.
func TestRecordsKeepTheirOrder(t *testing.T) {
	for _, first := range []bool{true, false} {
		log := new(statebackendtest.Log)
		w, _ := openJournal(t, log, "a")
		one := w.Append(first, []byte("1"))
		two := w.Append(!first, []byte("2"))
		for _, stored := range []func(context.Context) error{two, one} {
			if err := stored(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		wantRecords(t, log, "a:1 a:2")
	}
}

var _ statebackend.Log = (*diskLog)(nil)
