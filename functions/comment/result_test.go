package comment

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// TestCallsAreBad holds that a reply that calls somebody is none of success.
func TestCallsAreBad(t *testing.T) {
	calling := 0
	for name := range kinds {
		r, err := kinds.Decode([]byte(`{"` + name + `":{}}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "refused" {
			r = Refused{Reasons: reasons.List{reasons.NothingToDo{}, reasons.NoPlan{}}}
		}
		if !Calls(r) {
			continue
		}
		calling++
		if VerdictOn([]Reply{r}) != Bad {
			t.Errorf("%s calls somebody, and is not bad", name)
		}
	}
	if calling != 5 {
		t.Errorf("%d kinds of replies call somebody", calling)
	}
	for _, why := range []reasons.Reason{reasons.NothingToDo{}, reasons.WasStopped{By: "alice"}} {
		if Calls(Refused{Reasons: reasons.List{why}}) {
			t.Errorf("a refusal calls somebody, since %T", why)
		}
	}
}

// TestResultMarkers holds that a result is not taken for its answer, nor for that of another one.
func TestResultMarkers(t *testing.T) {
	a := Answer{Name: "33", Replies: []Reply{Broken{Reason: "3 attempts failed or were interrupted"}}}
	result, pointer := a.Result(33, 65536), a.Pointer(44)
	if !strings.HasPrefix(result, ResultMarker("33")) || strings.HasPrefix(result, AnswerMarker("33")) || strings.HasPrefix(result, ResultMarker("3")) {
		t.Errorf("the marker of %s", result)
	}
	if !strings.HasPrefix(pointer, AnswerMarker("33")) || !strings.Contains(pointer, "#issuecomment-44") {
		t.Errorf("the pointer %s", pointer)
	}
	if short := a.Result(33, 80); len(short) > 80 {
		t.Errorf("a result of %d bytes", len(short))
	}
}
