package runs

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// TestWaiting holds what becomes of an apply that waits.
func TestWaiting(t *testing.T) {
	r := Run{ID: ID{Project: "app"}, Phase: Planned, Asked: Asked{Try: 2, By: "alice", Answer: "5", ApplyFor: "old"}, Plan: Plan{PlanSummary: comment.PlanSummary{Hash: planHash}}}
	w := r.WithWaiting(Waiting{For: "comment", By: "bob", Answer: "7", Plan: planHash})
	if !w.Waiting() || w.Asked.By != "alice" || w.Asked.ThenApply != 3 {
		t.Errorf("accepted: %+v", w)
	}
	woken := w.QueueWaiting("message")
	if woken.Waiting() || woken.Phase != ApplyQueued || woken.Asked.Try != 3 || woken.Asked.By != "bob" || woken.Asked.Answer != "7" || woken.Asked.ApplyFor != "comment" || woken.Asked.Waits.Woken != "message" {
		t.Errorf("its turn: %+v", woken)
	}
	if w.Asked.Waits.Woken != "" || woken.To(Applying).Asked.Waits != nil || woken.To(Planned).Waiting() {
		t.Errorf("afterwards: %+v", woken.To(Applying))
	}
	if over := w.WithoutWaiting(); over.Waiting() || over.Phase != Planned || over.Asked.Try != 3 || over.coming() {
		t.Errorf("over: %+v", over)
	}
	if w.To(Queued).Asked.Waits != nil || w.To(Dropped).Asked.Waits != nil {
		t.Error("it waits on without its plan")
	}
}
