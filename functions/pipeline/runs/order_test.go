package runs

import (
	"testing"
)

// TestWaiting holds what becomes of an apply that waits.
func TestWaiting(t *testing.T) {
	r := Run{Project: "app", Phase: Planned, PlanHash: planHash, Try: 2, Actor: "alice", Answer: "5", ApplyFor: "old"}
	w := r.Await(Waiting{For: "comment", By: "bob", Answer: "7", Plan: planHash})
	if !w.Waiting() || w.Actor != "alice" || w.ThenApply != 3 {
		t.Errorf("accepted: %+v", w)
	}
	woken := w.Wake("message")
	if woken.Waiting() || woken.Phase != ApplyQueued || woken.Try != 3 || woken.Actor != "bob" || woken.Answer != "7" || woken.ApplyFor != "comment" || woken.Waits.Woken != "message" {
		t.Errorf("its turn: %+v", woken)
	}
	if w.Waits.Woken != "" || woken.To(Applying).Waits != nil || woken.To(Planned).Waiting() {
		t.Errorf("afterwards: %+v", woken.To(Applying))
	}
	if over := w.GiveUp(); over.Waiting() || over.Phase != Planned || over.Try != 3 || over.coming() {
		t.Errorf("over: %+v", over)
	}
	if w.To(Queued).Waits != nil || w.To(Dropped).Waits != nil {
		t.Error("it waits on without its plan")
	}
}
