package ledger

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

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
		{runs.Pace{}, `{"Asked":null,"Told":{"ID":"","At":"0001-01-01T00:00:00Z"}}`},
		{pipeline.Message{ID: "7", Kind: pipeline.SyncComments, Answer: "merge"}, `{"ID":"7","Kind":"tell","Pull":{"Installation":0,"Repo":{"id":0},"Number":0},"Ask":"merge"}`},
	} {
		if got := string(pipeline.Encode(test.value)); got != test.want {
			t.Errorf("%T: %s\nwant %s", test.value, got, test.want)
		}
	}
	if r := string(pipeline.Encode(runs.Run{Answer: "merge"})); !strings.Contains(r, `"Ask":"merge"`) {
		t.Errorf("a run without the name of its answer: %s", r)
	}
}
