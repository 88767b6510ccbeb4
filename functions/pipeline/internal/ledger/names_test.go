package ledger

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
)

// TestDamagedRecords holds that the error about a record that cannot be read names it.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	ld := Ledger{Records: &memory.Store{}}
	for _, key := range []string{applyRecordKey(net), lookKey(pull)} {
		if _, err := ld.Records.Put(t.Context(), key, []byte("{"), ""); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := ld.ApplyRecord(t.Context(), net)
	if err == nil || !strings.Contains(err.Error(), "read "+applyRecordKey(net)+": the record is damaged") {
		t.Errorf("the record of an apply: %v", err)
	}
	if _, err := ld.LastLook(t.Context(), pull); err == nil || !strings.Contains(err.Error(), "read "+lookKey(pull)+": the record is damaged") {
		t.Errorf("a look: %v", err)
	}
	if _, err := ld.Records.Put(t.Context(), net.Key(), []byte(`{"Phase":"half applied"}`), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := ld.Read(t.Context(), net.Key()); err == nil || !strings.Contains(err.Error(), `it is "half applied", which this version`) {
		t.Errorf("a run in a phase of another version: %v", err)
	}
}
