package runs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
)

// A writer is a process that moves a run on and writes its check run, one step after another: see report.Reporter.PutCheck.
type writer struct {
	value string // of the run: the conclusion that the check run is to show
	step  int
	first bool
	own   CheckRecord
	id    int64
}

// A board is a run, the record of its check run, and its check runs on GitHub, the oldest first. The ID of one is its place, from 1.
type board struct {
	run    string
	record CheckRecord
	shown  []string
}

// do takes a writer's next step, and reports whether it was the last one.
func (b *board) do(w *writer) bool {
	w.step++
	switch w.step {
	case 1: // moves the run, and notes that it is about to write
		b.run = w.value
		w.first = b.record.ID == 0 && !b.record.Asked
		b.record.Key, b.record.Asked, b.record.Shown = "run", true, ""
		b.record.Status, b.record.Conclusion = statusOf(w.value), github.Conclusion(w.value)
	case 2:
		w.own = b.record
	case 3: // changes the check run that it knows, or looks for one
		switch {
		case w.own.ID != 0 && !w.own.MayHaveDuplicates():
			w.id = w.own.ID
			b.shown[w.id-1] = w.value
			w.step++
		case (!w.first || w.own.ID != 0) && len(b.shown) > 0:
			w.id = int64(len(b.shown))
			for i := range b.shown {
				b.shown[i] = "ended"
			}
			b.shown[w.id-1] = w.value
			w.step++
		}
	case 4: // makes one, which those who have looked before do not see
		b.shown = append(b.shown, w.value)
		w.id = int64(len(b.shown))
	case 5:
		again := false
		b.record, _, again = b.record.AfterWrite(w.own, CheckRecord{ID: w.id, Status: statusOf(w.value), Conclusion: github.Conclusion(w.value), Shown: github.Conclusion(w.value)})
		if !again {
			return true
		}
		w.value, w.step = b.run, 0
	}
	return false
}

func statusOf(value string) github.CheckStatus {
	if value == "" {
		return github.CheckQueued
	}
	return github.CheckCompleted
}

// TestWritten plays processes that write the check run of one run at the same time, in any order of their steps, and holds that
// people see the run as it is at last, in the newest one, and that no older one is left queued.
func TestWritten(t *testing.T) {
	twins := 0
	for seed := range uint64(50_000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var b board
		var all []*writer
		for _, value := range []string{"", "neutral", "success", "failure"}[:2+random.IntN(3)] {
			all = append(all, &writer{value: value})
		}
		for steps := 0; len(all) > 0; steps++ {
			if steps > 1000 {
				t.Fatalf("seed %d: they write for ever", seed)
			}
			i := random.IntN(len(all))
			if b.do(all[i]) {
				all = slices.Delete(all, i, i+1)
			}
		}
		if len(b.shown) > 1 {
			twins++
		}
		if last := b.shown[len(b.shown)-1]; last != b.run {
			t.Fatalf("seed %d: people see %q of a run that is %q: %q", seed, last, b.run, b.shown)
		}
		if slices.Contains(b.shown[:len(b.shown)-1], "") {
			t.Fatalf("seed %d: an older one is queued for ever: %q", seed, b.shown)
		}
	}
	if twins < 1000 {
		t.Errorf("only %d of the plays had two check runs", twins)
	}
}
