package comment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// TestKeptReplies holds that a refusal is kept with its reasons.
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
}

// TestRepliesOfALaterVersion holds that replies and reasons of kinds that this version does not have are told as such, and that reasons
// are kept as they are: a version that is put in the place of a later one reads its records.
func TestRepliesOfALaterVersion(t *testing.T) {
	t.Parallel()
	r, err := UnmarshalReply([]byte(`{"reconsidered":{"Project":"net"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "**Lockstep failed internally**: another version of Lockstep wrote the result `reconsidered`, which this version does not know. To try again, write the command in a new comment. If that fails, too, tell the operator of Lockstep."
	if diff := cmp.Diff(want, Markdown(r)); diff != "" || VerdictOn([]Reply{r}) != Bad {
		t.Errorf("%s, verdict %v", diff, VerdictOn([]Reply{r}))
	}
	const kept = `{"refused":{"Command":{"Verb":"apply"},"Project":"app","Reasons":[{"moon":{"Phase":"full"}}]}}`
	if r, err = UnmarshalReply([]byte(kept)); err != nil {
		t.Fatal(err)
	}
	want = "**Not applied** `app`:\n\n- Another version of Lockstep gave a reason that this version does not know: `moon`.\n"
	if diff := cmp.Diff(want, Markdown(r)); diff != "" {
		t.Error(diff)
	}
	data, err := MarshalReply(r)
	if err != nil || !strings.Contains(string(data), `"Reasons":[{"moon":{"Phase":"full"}}]`) {
		t.Errorf("kept as %s, %v", data, err)
	}
}
