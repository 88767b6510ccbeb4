package admission

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs/runstest"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// TestInOrder is the table of the gate's rule about the order of applies: of an apply of app.
func TestInOrder(t *testing.T) {
	for _, c := range []struct{ name, base, head, runs, want string }{
		{"no order", "", "", "app:planned net:planned", ""},
		{"applied", "app>net", "app>net", "app:planned net:applied", ""},
		{"without changes", "app>net", "app>net", "app:planned net:unchanged", ""},
		{"a part without changes", "app>net", "app>net", "app:planned net:target/unchanged", "OutOfOrder [net] again [net]"},
		{"no drift", "app>net", "app>net", "app:planned net:drift/unchanged", "OutOfOrder [net] again [net]"},
		{"a part to be applied", "app>net", "app>net", "app:planned net:target/planned", "OutOfOrder [net]"},
		{"a part being applied", "app>net", "app>net", "app:planned net:target/applying", "Awaits [net]"},
		{"a part applied", "app>net", "app>net", "app:planned net:target/applied", "OutOfOrder [net] again [net]"},
		{"drift applied", "app>net", "app>net", "app:planned net:drift/applied", "OutOfOrder [net] again [net]"},
		{"no drift of what is applied", "app>net", "app>net", "app:planned net:upheld/drift/unchanged", ""},
		{"drift of what is applied", "app>net", "app>net", "app:planned net:upheld/drift/planned", "OutOfOrder [net]"},
		{"drift applied of what is applied", "app>net", "app>net", "app:planned net:upheld/drift/applied", ""},
		{"a plan failed of what is applied", "app>net", "app>net", "app:planned net:upheld/target/plan-failed", ""},
		{"an end, where the plan for that of an applied dependent failed", "net>app", "net>app", "-app:planned -net:upheld/plan-failed", "OutOfOrder [net] again [net]"},
		{"merged after a part was applied", "app>net", "", "app:planned net:target/dropped/applied", "OutOfOrder [net] again [net]"},
		{"a part of what the pull request does not touch", "app>net", "app>net", "app:planned net:beside/target/unchanged", ""},
		{"a part applied of what the pull request does not touch", "app>net", "app>net", "app:planned net:beside/drift/applied", ""},
		{"not of the pull request", "app>net", "app>net", "app:planned", ""},
		{"planned", "app>net", "app>net", "app:planned net:planned", "OutOfOrder [net]"},
		{"an edge that the pull request removes", "app>net", "", "app:planned net:planned", "OutOfOrder [net]"},
		{"an edge that the pull request adds", "", "app>net", "app:planned net:planned", "OutOfOrder [net]"},
		{"the other way", "net>app", "net>app", "app:planned net:planned", ""},
		{"being planned", "app>net", "", "app:planned net:planning", "OutOfOrder [net]"},
		{"its plan failed", "app>net", "", "app:planned net:plan-failed", "OutOfOrder [net] again [net]"},
		{"its apply failed", "app>net", "", "app:planned net:apply-failed", "OutOfOrder [net] again [net]"},
		{"its apply was stopped", "app>net", "", "app:planned net:stopped", "OutOfOrder [net]"},
		{"out of date", "app>net", "", "app:planned net:stale", "OutOfOrder [net] again [net]"},
		{"of another head", "app>net", "", "app:planned net:superseded", ""},
		{"queued", "app>net", "", "app:planned net:apply-queued", "Awaits [net]"},
		{"being applied", "app>net", "", "app:planned net:applying", "Awaits [net]"},
		{"handed over", "app>net", "", "app:planned net:continuing", "Awaits [net]"},
		{"accepted", "app>net", "", "app:planned net:planned+", "Awaits [net]"},
		{"stopped, and accepted again", "app>net", "", "app:planned net:stopped+", "Awaits [net]"},
		{"to be planned and applied", "app>net", "", "app:planned net:queued+", "Awaits [net]"},
		{"one of two is coming", "app>net app>db", "", "app:planned net:applying db:planned", "OutOfOrder [db]"},
		{"both are coming", "app>net app>db", "", "app:planned net:applying db:planned+", "Awaits [db net]"},
		{"through one that the pull request does not change", "app>svc svc>net", "app>svc svc>net", "app:planned net:planned", "OutOfOrder [net]"},
		{"through one that the pull request removes", "app>svc svc>net", "", "app:planned net:planned", "OutOfOrder [net]"},
		{"one of two workspaces", "app>net", "", "app:planned net:applied net:planned", "OutOfOrder [net]"},
		{"the other of two workspaces", "app>net", "", "app:planned net:planned net:applied", "OutOfOrder [net]"},
		{"one of two is coming, the other is not", "app>net", "", "app:planned net:planned net:applying", "OutOfOrder [net]"},
		{"both workspaces are coming", "app>net", "", "app:planned net:applying net:apply-queued net:applied", "Awaits [net]"},
		{"merged before it was applied", "app>net", "", "app:planned net:dropped/planned", "OutOfOrder [net]"},
		{"merged after it was applied", "app>net", "", "app:planned net:dropped/applied", ""},
		{"merged while it was planned", "app>net", "", "app:planned net:dropped/queued+", "OutOfOrder [net]"},
		{"turned round", "app>net", "net>app", "app:planned net:planned", "InCycle [app net app]"},
		{"turned round, and applied", "app>net", "net>app", "app:planned net:applied", "InCycle [app net app]"},
		{"a cycle of others", "dns>mx", "mx>dns", "app:planned mx:planned dns:planned", ""},
		{"behind a cycle of others", "dns>mx app>dns", "mx>dns", "app:planned mx:planned dns:planned", "InCycle [dns mx dns]"},
		{"what is destroyed", "app>net", "app>net", "app:planned -net:planned", ""},
		{"what is to be planned to its end", "app>net", "app>net", "app:planned -net:planning", "OutOfOrder [net] again [net]"},
		{"what is to be planned to its end, and applied", "app>net", "app>net", "app:planned -net:queued+", "OutOfOrder [net] again [net]"},
		{"the plan to whose end failed", "app>net", "app>net", "app:planned -net:plan-failed", "OutOfOrder [net] again [net]"},
		{"what is at its end", "app>net", "app>net", "app:planned -net:applied", "OutOfOrder [net] again [net]"},
		{"what has nothing to be destroyed", "app>net", "app>net", "app:planned -net:unchanged", ""},
		{"what is being destroyed", "app>net", "app>net", "app:planned -net:applying", "OutOfOrder [net] again [net]"},
		{"the plan to whose end failed, and the pull request does not touch it", "app>net", "app>net", "app:planned -net:beside/plan-failed", ""},
		{"the plan to whose end failed, and it is applied", "app>net", "app>net", "app:planned -net:upheld/plan-failed", ""},
		{"the plan of whose removal failed", "app>net", "", "app:planned x-net:plan-failed", ""},
		{"one of two workspaces, the plan to whose end failed", "app>net", "app>net", "app:planned -net:plan-failed net:applied", "OutOfOrder [net] again [net]"},
		{"what is removed", "app>net", "", "app:planned x-net:planned", ""},
		{"through one that is destroyed", "app>svc svc>net", "app>svc svc>net", "app:planned -svc:planned net:planned", "OutOfOrder [net]"},
		{"through one that is removed", "app>svc svc>net", "", "app:planned x-svc:planned net:planned", "OutOfOrder [net]"},
		{"one of two workspaces is removed", "app>net", "app>net", "app:planned x-net:planned net:planned", "OutOfOrder [net]"},
		{"what is removed, where another workspace is applied", "app>net", "app>net", "app:planned x-net:planned net:applied", ""},
		{"an end", "net>app", "net>app", "-app:planned", ""},
		{"an end before that of a dependent", "net>app", "net>app", "-app:planned -net:planned", "OutOfOrder [net]"},
		{"an end before the change of a dependent", "net>app", "net>app", "-app:planned net:planned", "OutOfOrder [net]"},
		{"a removal before that of a dependent", "net>app", "", "x-app:planned x-net:planned", "OutOfOrder [net]"},
		{"a removal before the change of what has depended on it", "net>app", "", "x-app:planned net:planned", "OutOfOrder [net]"},
		{"a removal before a dependent at some distance", "svc>app net>svc", "", "x-app:planned net:planned", "OutOfOrder [net]"},
		{"a removal before a dependent that has failed", "net>app", "", "x-app:planned net:apply-failed", "OutOfOrder [net] again [net]"},
		{"a removal after its dependents", "net>app svc>app", "", "x-app:planned net:applied x-svc:applied", ""},
		{"a removal after a part of a dependent", "net>app svc>app", "", "x-app:planned net:target/applied x-svc:target/applied", "OutOfOrder [net svc] again [net svc]"},
		{"a removal beside a dependent without drift", "net>app svc>app", "", "x-app:planned net:drift/unchanged x-svc:drift/unchanged", "OutOfOrder [net svc] again [net svc]"},
		{"a removal beside a dependent without changes", "net>app", "", "x-app:planned net:unchanged", ""},
		{"an end whose dependent is coming", "net>app", "net>app", "-app:planned -net:applying", "Awaits [net]"},
		{"an end, and what it depends on", "app>net", "app>net", "-app:planned net:planned -net:planned", ""},
		{"a removal beside the other workspace", "", "", "x-app:planned app:planned", ""},
	} {
		q := allowed()
		q.Run.Project, q.Order = "app", runstest.Order(c.base, c.head, c.runs)
		q.Run.Spec.Removed = strings.HasPrefix(c.runs, "x-app")
		if q.Run.Spec.Options.Destroy = strings.HasPrefix(c.runs, "-app"); q.Run.Spec.Removed {
			q.Run.Spec.Options.Destroy = true
		}
		d := Decide(q)
		got := ""
		for _, r := range d.Reasons {
			switch r := r.(type) {
			case reasons.Awaits:
				got += fmt.Sprint("Awaits ", r.On)
			case reasons.OutOfOrder:
				if got += fmt.Sprint("OutOfOrder ", r.Left); len(r.Again) > 0 {
					got += fmt.Sprint(" again ", r.Again)
				}
			case reasons.InCycle:
				got += fmt.Sprint("InCycle ", r.Projects)
			default:
				got += fmt.Sprintf("%T", r)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if _, waits := d.WaitsForProjects(); waits != strings.HasPrefix(c.want, "Awaits") {
			t.Errorf("%s: waits %t", c.name, waits)
		}
	}
	if q := allowed(); Decide(q).Allowed() {
		q.Run.Project, q.Run.Spec.Head, q.Order = "app", headTwo, runstest.Order("app>net", "", "app:planned net:applying")
		if _, waits := Decide(q).WaitsForProjects(); waits {
			t.Error("a plan of another head waits")
		}
	}
}

// TestAwaited is the table of what ends the wait of an apply.
func TestAwaited(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Request)
		want   string
	}{
		{"it is its turn", func(q *Request) { q.Order = runstest.Order("app>net", "", "app:planned net:applied") }, ""},
		{"nothing has changed", func(*Request) {}, "Awaits"},
		{"nobody applies what it waits for any more", func(q *Request) { q.Order = runstest.Order("app>net", "", "app:planned net:apply-failed") }, "OutOfOrder"},
		{"another head", func(q *Request) { q.Pull.Head.SHA = headTwo }, "HeadMoved"},
		{"another plan", func(q *Request) { q.Run.Plan.Hash = headTwo }, "OtherPlan"},
		{"another plan without changes", func(q *Request) { q.Run.Plan.Hash, q.Run.Plan.Applyable = headTwo, false }, "NothingToDo OtherPlan"},
		{"closed", func(q *Request) { q.Pull.Open = false }, "NotOpen"},
		{"merged", func(q *Request) { q.Pull.Open, q.Pull.Merged = false, true }, "NotOpen"},
		{"on merge", func(q *Request) {
			q.Entry, q.Pull.Open, q.Pull.Merged, q.Run.Spec.ApplyOn = ByMerge, false, true, project.OnMerge
		}, "Awaits"},
		{"another plan on merge", func(q *Request) {
			q.Entry, q.Pull.Open, q.Pull.Merged, q.Run.Spec.ApplyOn, q.Run.Plan.Hash = ByMerge, false, true, project.OnMerge, headTwo
		}, "PlanRenewed"},
	} {
		q := allowed()
		q.Run.Project, q.Order = "app", runstest.Order("app>net", "", "app:planned net:applying")
		q.Run = q.Run.WithWaiting(runs.Waiting{For: "comment", By: "bob", Answer: "7", Plan: planHash, On: []string{"net"}})
		if !q.Run.Waiting() || q.Run.Standing() != comment.Awaiting {
			t.Fatalf("%s: it does not wait", c.name)
		}
		if no := phase(&q); no == nil {
			t.Errorf("%s: it can be asked for twice", c.name)
		}
		c.change(&q)
		var got []string
		for _, r := range DecideWaiting(q).Reasons {
			got = append(got, strings.TrimPrefix(fmt.Sprintf("%T", r), "reasons."))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestHeld holds which applies of a merge wait: those that nothing is in the way of but what the clock or people end.
func TestHeld(t *testing.T) {
	t.Parallel()
	required := func(rule rulings.Rule, merged bool) reasons.Reason {
		return reasons.Required{Verb: comment.Apply, Merged: merged, Tree: rulings.Ruling{Rule: rule, Outcome: rulings.Fails}}
	}
	locked := func(merged bool) reasons.Reason { return reasons.LockedByAnother{Number: 8, Merged: merged} }
	after := reasons.Awaits{Project: "app", On: []string{"net"}}
	for name, test := range map[string]struct {
		all  reasons.List
		want string
	}{
		"nothing":                       {nil, "[] false"},
		"another project":               {reasons.List{after}, "[net] false"},
		"a window":                      {reasons.List{required(rulings.Windows, true)}, "[] true"},
		"a window, for a comment":       {reasons.List{required(rulings.Windows, false)}, "[] false"},
		"a window, and another project": {reasons.List{after, required(rulings.Windows, true)}, "[net] true"},
		"too many changes":              {reasons.List{required(rulings.MaxChanges, true)}, "[] false"},
		"a lock":                        {reasons.List{locked(true)}, "[] true"},
		"a lock, for a comment":         {reasons.List{locked(false)}, "[] false"},
		"a lock and a window":           {reasons.List{locked(true), required(rulings.Windows, true)}, "[] true"},
		"a window, and other files":     {reasons.List{reasons.InputsMoved{Merged: true}, required(rulings.Windows, true)}, "[] false"},
		"a window, and a failed plan":   {reasons.List{required(rulings.Windows, true), reasons.PlanIsBad{Merged: true}}, "[] false"},
	} {
		held, on, ok := Decision{Reasons: test.all}.WaitsAfterMerge()
		if got := fmt.Sprint(on, ok); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if ok && strings.Contains(held.Reasons.Markdown(), "lockstep apply") {
			t.Errorf("%s: people are told\n%s", name, held.Reasons.Markdown())
		}
	}
}
