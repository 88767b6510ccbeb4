package comment

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// TestKeptReplies holds that a refusal is kept with its reasons, and that replies are read in which an earlier version
// kept reasons as texts.
func TestKeptReplies(t *testing.T) {
	t.Parallel()
	kept := Refused{Command{Verb: Apply}, "network", reasons.List{reasons.NothingToDo{}, reasons.NotOnMerge{Project: "network"}}}
	data, err := MarshalReply(kept)
	if err != nil {
		t.Fatal(err)
	}
	r, err := UnmarshalReply(data)
	if diff := cmp.Diff(Reply(kept), r); diff != "" || err != nil {
		t.Errorf("%v%s", err, diff)
	}
	r, err = UnmarshalReply([]byte(`{"refused":{"Command":{"Verb":"apply"},"Project":"app","Reasons":[{"Text":"The plan is stale.","Remedy":"Plan again."},{"Text":"So it is.","Remedy":""}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "**Not applied** `app`:\n\n- The plan is stale.\n- So it is.\n\nPlan again.\n"
	if diff := cmp.Diff(want, Markdown(r)); diff != "" {
		t.Error(diff)
	}
}
