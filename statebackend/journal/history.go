package journal

import (
	"context"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// history is the content of a journal when it was read.
type history struct {
	records []Record // since the last reset
	last    uint64   // the number of the last segment; 0: there is none
	prev    string   // its SHA-256
	fence   uint64   // the highest fence
}

// Read returns the records of a journal that are still needed, in order. It does not change the journal.
func Read(ctx context.Context, log statebackend.Log) ([]Record, error) {
	h, err := Look(ctx, log)
	return h.Records(), err
}

// A History is the content of a journal when it was read. [Continue] writes to the journal from there.
type History struct{ at history }

// Look reads a journal as [Read] does. Its History also has what [Continue] needs.
func Look(ctx context.Context, log statebackend.Log) (History, error) {
	h, err := read(ctx, log)
	return History{h}, err
}

// Records returns the records that are still needed, in order.
func (h History) Records() []Record { return h.at.records }

func read(ctx context.Context, log statebackend.Log) (history, error) {
	segments, err := log.Segments(ctx, isReset)
	if err != nil {
		return history{}, err
	}
	var h history
	for i, s := range segments {
		if err := h.add(log.Place(), s, i == 0); err != nil {
			return history{}, err
		}
	}
	return h, nil
}

// isReset reports whether a segment resets the journal: then no segment before it is needed. For an unreadable
// segment it returns false, and the caller reports the error.
func isReset(s statebackend.Segment) bool {
	head, _, err := decode("", s)
	return err == nil && head.Reset
}

// add checks the next segment, and adds its records to the history. The first segment that was kept has no
// checksum to compare with, since the segment before it may have been dropped.
func (h *history) add(place string, s statebackend.Segment, first bool) error {
	head, lines, err := decode(place, s)
	if err != nil {
		return err
	}
	damaged := func(reason string) error {
		return &statebackend.DamagedError{Place: place, Number: s.Number, Reason: reason}
	}
	switch {
	case !first && s.Number != h.last+1:
		return damaged("the group before it is missing")
	case !first && head.Prev != h.prev, first && s.Number == 1 && head.Prev != "":
		return damaged("the group before it is not the one that it was written after")
	case first && s.Number > 1 && !head.Reset:
		return damaged("the groups before it are missing")
	}
	if head.Reset {
		h.records = nil
	}
	for _, line := range lines {
		h.records = append(h.records, Record{Run: head.Run, Line: line})
	}
	h.last, h.prev, h.fence = s.Number, sum(s.Data), max(h.fence, head.Fence)
	return nil
}
