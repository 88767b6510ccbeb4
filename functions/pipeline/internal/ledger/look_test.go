package ledger

import (
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
)

// TestSeenOfAHead is a table of looks, one after the other, and the time since which the head is known: that of the
// first look at it, so that a later look takes nobody's comment for one from before the push.
func TestSeenOfAHead(t *testing.T) {
	t.Parallel()
	ld := Ledger{Records: &memory.Store{}}
	at := func(minute int) time.Time {
		if minute < 0 {
			return time.Time{}
		}
		return time.Date(2026, time.March, 2, 12, minute, 0, 0, time.UTC)
	}
	for i, look := range []struct {
		head       string
		seen, want int // minutes, -1 for none
	}{
		{"a", -1, -1}, {"a", 3, 3}, {"a", 5, 3}, {"a", -1, 3}, {"b", 7, 7}, {"a", 9, 9}, {"b", -1, -1},
	} {
		if err := ld.SaveLook(t.Context(), Look{Pull: pull, Head: look.head, Seen: at(look.seen)}); err != nil {
			t.Fatal(err)
		}
		got, err := ld.LastLook(t.Context(), pull)
		if err != nil || !got.Seen.Equal(at(look.want)) || got.Head != look.head {
			t.Errorf("look %d at %s: seen at %v, want %v; %v", i, look.head, got.Seen, at(look.want), err)
		}
	}
	l, written := Look{Seen: at(3)}, at(3)
	for add, want := range map[time.Duration]bool{-time.Second: false, 0: false, time.Second: true} {
		if l.Before(written.Add(add)) != want {
			t.Errorf("%v after it was seen: %t", add, !want)
		}
	}
	if (Look{}).Before(written) {
		t.Error("a head that nobody has seen was there")
	}
}
