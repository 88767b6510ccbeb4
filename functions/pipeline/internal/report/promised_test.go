package report

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// TestPromised is a table of answers: the replies that were promised, and all that were there then, those that are there, "ID kind", the promises
// from then on, and whether the result is a comment of its own.
func TestPromised(t *testing.T) {
	kinds := map[string]comment.Reply{
		"pending": comment.Pending{}, "done": comment.Done{}, "failed": comment.Failed{}, "refused": comment.Refused{Reasons: reasons.List{reasons.NoPlan{}}},
		"renewed": comment.PlanRenewal{}, "broken": comment.Broken{}, "superseded": comment.PlanSuperseded{}, "stopped": comment.StoppedApply{}, "nothing": comment.Refused{Reasons: reasons.List{reasons.NothingToDo{}}},
	}
	for _, test := range []struct {
		name, promised, replies, want string
		apart                         bool
	}{
		{"refused at once", "", "a refused", "", false},
		{"failed before anybody was told that it began", "", "a failed", "", false},
		{"begun", "", "a pending", "a", false},
		{"one is refused at once, and one begun", "", "a refused, b pending", "b", false},
		{"and that one is done", "b", "a refused, b done", "b", false},
		{"done", "a", "a done", "a", false},
		{"failed", "a", "a failed", "a", true},
		{"refused after it was accepted", "a", "a refused", "a", true},
		{"another plan than approved", "a", "a renewed", "a", true},
		{"nothing to apply", "a", "a nothing", "a", false},
		{"a newer plan", "a", "a superseded", "a", false},
		{"stopped by a person", "a", "a stopped", "a", false},
		{"failed, and others are not done", "a b", "a failed, b pending", "a b", false},
		{"all are there", "a b", "a failed, b done", "a b", true},
		{"given up, in the place of all", "a b", "0 broken", "a b", true},
		{"given up at once", "", "0 broken", "", false},
		{"one is refused at once, and the others are done", "b/a b", "a refused, b done", "b", false},
		{"given up beside one that is done", "a/a", "a done, 0 broken", "a", true},
		{"refused later, beside one that is done", "a/a", "a done, b refused", "a", true},
		{"done later, beside one that is done", "a/a", "a done, b done", "a", false},
	} {
		before, first, _ := strings.Cut(test.promised, "/")
		a := ledger.Answer{Promised: strings.Fields(before), First: strings.Fields(first)}
		var replies []comment.Reply
		for _, r := range strings.Split(test.replies, ", ") {
			id, kind, _ := strings.Cut(r, " ")
			a.Replies = append(a.Replies, ledger.Reply{ID: id})
			replies = append(replies, kinds[kind])
		}
		got := promised(a, replies)
		if strings.Join(got.Promised, " ") != test.want || got.Apart != test.apart {
			t.Errorf("%s: %s, apart %t", test.name, got.Promised, got.Apart)
		}
		got.Replies, replies = []ledger.Reply{{ID: "later"}}, []comment.Reply{comment.Done{}}
		if promised(got, replies).Apart != test.apart {
			t.Errorf("%s: it did not stay so", test.name)
		}
	}
}
