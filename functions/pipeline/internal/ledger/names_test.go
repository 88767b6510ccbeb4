package ledger

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/pacing"
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

// TestRecordNames holds the names under which earlier versions of Lockstep wrote fields that have
// other names in Go now: records and messages outlive an upgrade.
func TestRecordNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value any
		want  string
	}{
		{Answer{Name: "7", Replies: []Reply{{ID: "a", Data: []byte(`{"pending":{}}`)}}, Synced: true},
			`{"Pull":{"Installation":0,"Repo":{"id":0},"Number":0},"Name":"7","Message":"","Parts":[{"ID":"a","Reply":{"pending":{}},"Body":{"Key":"","Repo":"","Number":0,"SHA":""}}],"Told":true}`},
		{pacing.Pace{}, `{"Asked":null,"Told":{"ID":"","At":"0001-01-01T00:00:00Z"}}`},
		{pipeline.Message{ID: "7", Kind: pipeline.SyncComments, Answer: "merge"}, `{"ID":"7","Kind":"tell","Pull":{"Installation":0,"Repo":{"id":0},"Number":0},"Ask":"merge"}`},
	} {
		if got := string(pipeline.Encode(test.value)); got != test.want {
			t.Errorf("%T: %s\nwant %s", test.value, got, test.want)
		}
	}
	if got, want := strings.Join([]string{PushAnswer, MergeAnswer, CloseAnswer, CheckAnswer, AutomergeAnswer, RerunAnswer}, " "), "push merge close check automerge rerun"; got != want {
		t.Errorf("the answers are %s, want %s", got, want)
	}
}
