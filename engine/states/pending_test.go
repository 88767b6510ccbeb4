package states

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestPendingActions: they are kept beside members that somebody else has written, and leave no trace once they are done.
func TestPendingActions(t *testing.T) {
	t.Parallel()
	plain := &Object{Extra: map[string]json.RawMessage{"theirs": json.RawMessage(`1`)}}
	list := []PendingAction{{"action.a.b", "AfterCreate"}, {`action.a.c["k"]`, "AfterUpdate"}}
	o := plain.WithPendingActions(list)
	if got := o.PendingActions(); !slices.Equal(got, list) || len(plain.PendingActions()) > 0 || string(o.Extra["theirs"]) != "1" {
		t.Errorf("%v of %s", got, o.Extra)
	}
	if o.WithPendingActions(list) != o || (&Object{}).WithPendingActions(nil).Extra != nil {
		t.Error("an object that stays the same was copied")
	}
	if done := o.WithPendingActions(nil); done.PendingText() != nil || len(done.Extra) != 1 {
		t.Errorf("left: %s", done.Extra)
	}
	if damaged := (&Object{Extra: map[string]json.RawMessage{pendingMember: json.RawMessage(`{}`)}}); damaged.PendingActions() != nil {
		t.Error("a list was made of what is none")
	}
	if (*Object)(nil).PendingActions() != nil {
		t.Error("no object has pending actions")
	}
}
