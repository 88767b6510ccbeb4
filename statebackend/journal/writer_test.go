package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

func openJournal(t *testing.T, log statebackend.Log, run string) (*journal.Writer, string) {
	t.Helper()
	w, records, err := journal.Open(t.Context(), log, run)
	if err != nil {
		t.Fatalf("Open(%s): %v", run, err)
	}
	return w, lines(records)
}

func lines(records []journal.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, r.Run+":"+string(r.Line))
	}
	return strings.Join(all, " ")
}

func write(t *testing.T, w *journal.Writer, records ...string) {
	t.Helper()
	if err := w.Write(t.Context(), bytesOf(records)...); err != nil {
		t.Fatalf("Write: %v", err)
	}
}

func bytesOf(records []string) [][]byte {
	var all [][]byte
	for _, r := range records {
		all = append(all, []byte(r))
	}
	return all
}

func wantRecords(t *testing.T, log statebackend.Log, want string) {
	t.Helper()
	records, err := journal.Read(t.Context(), log)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	if got := lines(records); got != want {
		t.Fatalf("the records are %q, want %q", got, want)
	}
}

func TestRecordsOutliveTheirRun(t *testing.T) {
	log := new(statebackendtest.Log)
	a, before := openJournal(t, log, "a")
	if before != "" {
		t.Fatalf("a new journal has records: %s", before)
	}
	write(t, a, "1", "2")
	write(t, a, "3")
	b, before := openJournal(t, log, "b")
	if before != "a:1 a:2 a:3" {
		t.Fatalf("the next run found %q", before)
	}
	write(t, b, "4")
	wantRecords(t, log, "a:1 a:2 a:3 b:4")
	if err := b.Reset(t.Context(), []byte("2")); err != nil {
		t.Fatal(err)
	}
	write(t, b, "5")
	wantRecords(t, log, "b:2 b:5")
}

// TestTheFence: a run whose journal was taken over begins nothing more, and its outcomes count.
func TestTheFence(t *testing.T) {
	log := new(statebackendtest.Log)
	a, _ := openJournal(t, log, "a")
	write(t, a, `"intent"`)
	b, before := openJournal(t, log, "b")
	if before != `a:"intent"` {
		t.Fatalf("the next run found %q", before)
	}
	var fenced *journal.FencedError
	for range 2 {
		if err := a.Write(t.Context(), []byte(`"another"`)); !errors.As(err, &fenced) || fenced.Run != "b" {
			t.Fatalf("the first run's write returned %v", err)
		}
	}
	if err := a.WriteLate(t.Context(), []byte(`"outcome"`)); err != nil {
		t.Fatalf("WriteLate: %v", err)
	}
	write(t, b, `"on"`)
	wantRecords(t, log, `a:"intent" a:"outcome" b:"on"`)
}

// TestFencedAfterTheEnd: the fence outlives the journal's records, where a process outlives its lock.
func TestFencedAfterTheEnd(t *testing.T) {
	log := new(statebackendtest.Log)
	a, _ := openJournal(t, log, "a")
	write(t, a, "1")
	b, _ := openJournal(t, log, "b")
	if err := b.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	var fenced *journal.FencedError
	if err := a.Write(t.Context(), []byte("2")); !errors.As(err, &fenced) {
		t.Fatalf("a run that woke up after the end wrote: %v", err)
	}
	wantRecords(t, log, "")
}

func TestFinishLeavesNothingWhereLocksEnd(t *testing.T) {
	log := &statebackendtest.Log{KeepsNothing: true}
	a, _ := openJournal(t, log, "a")
	write(t, a, "1")
	if err := a.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if segments, _ := log.Segments(t.Context(), nil); len(segments) != 0 {
		t.Fatalf("%d segments are left", len(segments))
	}
	if err := a.Write(t.Context(), []byte("2")); err == nil {
		t.Fatal("a journal that was finished took a record")
	}
}

// slowLog takes a second for an append.
type slowLog struct{ *statebackendtest.Log }

func (l slowLog) Append(ctx context.Context, number uint64, data []byte, durable bool) error {
	time.Sleep(time.Second)
	return l.Log.Append(ctx, number, data, durable)
}

// TestWritesShareSegments: those who come while a segment is on its way go with the next.
func TestWritesShareSegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := new(statebackendtest.Faults)
		log := slowLog{&statebackendtest.Log{Faults: faults}}
		w, _ := openJournal(t, log, "a")
		faults.Forget()
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				for j := range 10 {
					if err := w.Write(t.Context(), fmt.Appendf(nil, "%d", 10*i+j)); err != nil {
						t.Errorf("Write: %v", err)
					}
				}
			})
		}
		wg.Wait()
		records, err := journal.Read(t.Context(), log)
		if err != nil || len(records) != 1000 {
			t.Fatalf("%d records (%v)", len(records), err)
		}
		if n := len(faults.Writes()); n > 21 {
			t.Fatalf("1,000 writes of 100 at a time took %d appends", n)
		}
	})
}

// TestFaults loses each write of two runs, with its answer or alone, once or until the process
// gives up and another one goes on: no record that was confirmed is lost, none is there twice.
func TestFaults(t *testing.T) {
	for _, fault := range []statebackendtest.Fault{statebackendtest.Failed, statebackendtest.Persisted} {
		for _, times := range []int{1, 100} {
			for at := range 9 {
				t.Run(fmt.Sprintf("%s/%d times/write %d", fault, times, at), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { faultAt(t, fault, times, at) })
				})
			}
		}
	}
}

func faultAt(t *testing.T, fault statebackendtest.Fault, times, at int) {
	broken := true
	log := &statebackendtest.Log{Faults: &statebackendtest.Faults{Decide: func(n int, _ string) statebackendtest.Fault {
		if broken && n >= at && n < at+times {
			return fault
		}
		return statebackendtest.None
	}}}
	var confirmed, tried []string
	for run := range 3 {
		broken = broken && run < 2
		w, _, err := journal.Open(t.Context(), log, fmt.Sprint("run", run))
		if err != nil {
			broken = false // another process, later
			continue
		}
		for i := range 3 {
			line := fmt.Sprintf(`"%d.%d"`, run, i)
			tried = append(tried, line)
			if err := w.Write(t.Context(), []byte(line)); err == nil {
				confirmed = append(confirmed, line)
			}
		}
		broken = broken && run < 1
	}
	records, err := journal.Read(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	var stored []string
	for _, r := range records {
		stored = append(stored, string(r.Line))
	}
	for _, line := range confirmed {
		if !slices.Contains(stored, line) {
			t.Errorf("%s was confirmed, and is not in %v", line, stored)
		}
	}
	for i, line := range stored {
		if !slices.Contains(tried, line) || slices.Contains(stored[i+1:], line) {
			t.Errorf("%s is stored twice, or was never written: %v", line, stored)
		}
	}
}

// TestDamage: a journal that was changed is noticed, and nothing is written to it.
func TestDamage(t *testing.T) {
	edit := func(n int, old, new string) func([]statebackend.Segment) []statebackend.Segment {
		return func(s []statebackend.Segment) []statebackend.Segment {
			s[n].Data = []byte(strings.Replace(string(s[n].Data), old, new, 1))
			return s
		}
	}
	for _, test := range []struct {
		name   string
		change func([]statebackend.Segment) []statebackend.Segment
		want   string
	}{
		{"a record was edited", edit(1, `"one"`, `"eins"`), "the journal memory is damaged at record group 3: the group before it is not the one that it was written after"},
		{"a record is no JSON", edit(3, `"three"`, `"three`), "the journal memory is damaged at record group 4: record 1 is not a line of JSON"},
		{"a header is none", edit(2, `{`, `[`), "the journal memory is damaged at record group 3: its first line is not a header"},
		{"a segment was removed", func(s []statebackend.Segment) []statebackend.Segment { return slices.Delete(s, 2, 3) }, "the journal memory is damaged at record group 4: the group before it is missing"},
		{"the first was removed", func(s []statebackend.Segment) []statebackend.Segment { return s[1:] }, "the journal memory is damaged at record group 2: the groups before it are missing"},
		{"a segment has another number", edit(3, `"number":4`, `"number":5`), "the journal memory is damaged at record group 4: its header has the number 5"},
		{"a newer format", edit(3, `"format":1`, `"format":2`), "the journal memory has format 2, and this version of Lockstep reads formats up to 1: use the version that wrote it, or a newer one"},
		{"no format", edit(3, `"format":1,`, ``), "the journal memory is damaged at record group 4: its header has no format"},
	} {
		t.Run(test.name, func(t *testing.T) {
			faults := new(statebackendtest.Faults)
			log := &statebackendtest.Log{Faults: faults}
			w, _ := openJournal(t, log, "a")
			for _, line := range []string{`"one"`, `"two"`, `"three"`} {
				write(t, w, line)
			}
			log.Edit(test.change)
			faults.Forget()
			_, _, err := journal.Open(t.Context(), log, "b")
			if err == nil || err.Error() != test.want {
				t.Errorf("Open: %v\nwant  %s", err, test.want)
			}
			if writes := faults.Writes(); len(writes) > 0 {
				t.Errorf("a damaged journal was written: %v", writes)
			}
		})
	}
}

// TestLateOutcomesSurviveTheHeir: an outcome that comes in after the heir has read the journal is kept by
// his Reset and his Finish: he has not seen it.
func TestLateOutcomesSurviveTheHeir(t *testing.T) {
	for _, reset := range []bool{true, false} {
		log := new(statebackendtest.Log)
		a, _ := openJournal(t, log, "a")
		write(t, a, `"intent"`)
		b, _ := openJournal(t, log, "b")
		if err := a.WriteLate(t.Context(), []byte(`"outcome"`)); err != nil {
			t.Fatal(err)
		}
		write(t, b, `"on"`)
		want := `b:"intent" b:"outcome"`
		var err error
		if reset {
			err = b.Reset(t.Context(), []byte(`"intent"`))
		} else {
			err, want = b.Finish(t.Context()), `b:"outcome"`
		}
		if err != nil {
			t.Fatal(err)
		}
		wantRecords(t, log, want)
	}
}
