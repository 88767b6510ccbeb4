package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

func TestJournal(t *testing.T) {
	statebackendtest.RunLog(t, func(t *testing.T) func() statebackend.Log {
		path := filepath.Join(t.TempDir(), ".terraform.tfstate.journal")
		return func() statebackend.Log { return &journalFile{path: path} }
	})
}

// TestJournalCutAnywhere cuts a journal after each of its bytes, as a crash in an append does:
// the whole segments are there, and the next append follows them.
func TestJournalCutAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := &journalFile{path: path}
	ends := []int64{0}
	for n, data := range []string{"one\nrecord\n", "\nsegment 9 9 99999999\n", "three"} {
		if err := j.Append(t.Context(), uint64(n+1), []byte(data), true); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, j.end)
	}
	j.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		for want+1 < len(ends) && ends[want+1] <= int64(cut) {
			want++
		}
		j := &journalFile{path: path}
		if segments, err := j.Segments(t.Context(), nil); err != nil || len(segments) != want {
			t.Fatalf("cut after %d bytes: %d segments, want %d (%v)", cut, len(segments), want, err)
		}
		if err := j.Append(t.Context(), uint64(want+1), []byte("next"), true); err != nil {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		segments, err := j.Segments(t.Context(), nil)
		if err != nil || len(segments) != want+1 || string(segments[want].Data) != "next" {
			t.Fatalf("cut after %d bytes: after an append there are %d segments (%v)", cut, len(segments), err)
		}
		j.Close()
	}
}

// TestJournalEdited changes each byte of a segment that others follow: that is damage, and
// nothing is written over it.
func TestJournalEdited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := &journalFile{path: path}
	for n := range uint64(3) {
		if err := j.Append(t.Context(), n+1, []byte("some record\n"), true); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range len(whole) / 3 {
		edited := append([]byte(nil), whole...)
		edited[at] ^= 0x20
		if err := os.WriteFile(path, edited, 0o600); err != nil {
			t.Fatal(err)
		}
		j := &journalFile{path: path}
		_, err := j.Segments(t.Context(), nil)
		var damaged *statebackend.DamagedError
		if !errors.As(err, &damaged) {
			t.Fatalf("byte %d (%q) was changed: the error is %v", at, whole[at], err)
		}
		if err := j.Append(t.Context(), 4, []byte("next"), true); !errors.As(err, &damaged) {
			t.Fatalf("byte %d was changed: an append returned %v", at, err)
		}
		j.Close()
		if now, _ := os.ReadFile(path); string(now) != string(edited) {
			t.Fatalf("byte %d was changed: the damaged journal was written over", at)
		}
	}
}
