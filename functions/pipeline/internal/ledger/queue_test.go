package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestQueue follows the queue of a state: applies join it in their order, each once, and leave it. Of those that are
// over, by their runs, nobody is told, and the next one to join removes them.
func TestQueue(t *testing.T) {
	t.Parallel()
	ld := Ledger{Records: &memory.Store{}}
	of := func(number int) runs.Run {
		r := net
		r.Pull.Number, r.Asked.Try, r.Asked.By, r.Phase = number, 1, "alice", runs.ApplyQueued
		return r
	}
	save := func(r runs.Run) {
		t.Helper()
		s, err := ld.Read(t.Context(), r.Key())
		if err == nil {
			_, err = ld.Save(t.Context(), Versioned{r, s.Version})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(numbers, stored string) {
		t.Helper()
		queue, err := ld.Queue(t.Context(), of(0))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := ld.Records.Get(t.Context(), of(0).QueueKey())
		if err != nil {
			t.Fatal(err)
		}
		all, err := readQueue(rec.Value)
		if got := listed(queue); err != nil || got != numbers || listed(all) != stored {
			t.Fatalf("queued are %s of %s, want %s of %s (%v)", got, listed(all), numbers, stored, err)
		}
	}
	for _, number := range []int{8, 7, 9, 7} {
		save(of(number))
		if err := ld.Join(t.Context(), of(number)); err != nil {
			t.Fatal(err)
		}
	}
	want("8 7 9", "8 7 9")
	done := of(8)
	done.Phase = runs.Applied
	save(done) // its process died before it left
	want("7 9", "8 7 9")
	save(of(10))
	if err := ld.Join(t.Context(), of(10)); err != nil {
		t.Fatal(err)
	}
	want("7 9 10", "7 9 10")
	other := of(7)
	other.Project = "other"
	if queue, err := ld.Queue(t.Context(), other); err != nil || len(queue) > 0 {
		t.Fatalf("the queue of another state: %v, %v", queue, err)
	}
	if _, err := ld.Records.Put(t.Context(), other.QueueKey(), []byte("{"), ""); err != nil {
		t.Fatal(err)
	}
	if err := ld.Join(t.Context(), other); err == nil || !strings.Contains(err.Error(), "read queue/5/other@default: the record is damaged") {
		t.Errorf("a damaged record: %v", err)
	}
}

func listed(queue []runs.Turn) string {
	var out []string
	for _, t := range queue {
		out = append(out, fmt.Sprint(t.Pull.Number))
	}
	return strings.Join(out, " ")
}

func readQueue(value []byte) ([]runs.Turn, error) {
	queue, err := decode[[]runs.Turn](pipeline.Record{Key: "queue/5/net", Value: value})
	if queue == nil {
		return nil, err
	}
	return *queue, err
}
