package operation

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestUnresolvedAction: an apply has died while an action was invoked. The action is reported until a person decides: it is
// done, and not pending any more, or the next plan invokes it.
func TestUnresolvedAction(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"it is done": false, "it is to be invoked again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := journaled{new(statebackendtest.Fake), new(statebackendtest.Log)}
			w, _, err := journal.Open(t.Context(), b.log, "run")
			if err != nil {
				t.Fatal(err)
			}
			caller, action := parsed(t, addrs.ParseAbsResourceInstance, "terraform_data.a"), parsed(t, addrs.ParseAction, `action.lab_notify.n["k"]`)
			at := addrs.ResourceInstanceObject{Instance: caller}
			owed := []states.PendingAction{{Action: action.String(), Event: "AfterCreate"}, {Action: action.String(), Event: "AfterUpdate"}}
			object := (&states.Object{Status: states.Ready, AttrsJSON: []byte(`{"id":"1"}`)}).WithPendingActions(owed)
			j := journaling.New("run", w)
			if err := j.Begin(journaling.Start{Stored: states.Empty(), Prior: states.Empty(), Lineage: "lineage"}); err != nil {
				t.Fatal(err)
			}
			j.Edit(at, addrs.AbsProviderConfig{Provider: addrs.BuiltinTerraform}, nil, object)
			intent := journaling.InvocationIntent(&plans.Invocation{Addr: action, Caller: caller, Event: config.AfterCreate})
			if _, err := j.Intent(t.Context(), intent); err != nil {
				t.Fatal(err)
			}
			o, ds := openedWith(t, b, &Lock{Operation: "recover"}, "")
			if text := ds.Error() + warningsOf(ds); !strings.Contains(text, "1 action may have been invoked") || !strings.Contains(text, `action.lab_notify.n["k"], started at`) || !strings.Contains(text, "(AfterCreate of terraform_data.a)") {
				t.Errorf("it was not reported: %s", text)
			}
			if waiting := o.Recovery.Waiting(); len(o.Recovery.Unresolved) != 1 || len(waiting) != 1 || waiting[0].String() != caller.String() {
				t.Errorf("unresolved: %v, left out: %v", o.Recovery.Unresolved, waiting)
			}
			if unknown, err := o.Settle(t.Context(), again, caller.String()); err != nil || len(unknown) > 0 || len(o.Recovery.Unresolved) > 0 {
				t.Fatalf("settled: %v, %v", unknown, err)
			}
			want := owed
			if !again {
				want = owed[1:]
			}
			if ds := o.OpenState(t.Context(), b, statebackend.DefaultWorkspace, nil); len(ds) > 0 {
				t.Fatal(ds)
			}
			if got := o.State.Current.Object(at).PendingActions(); len(got) != len(want) || got[0] != want[0] {
				t.Errorf("pending: %v, want %v", got, want)
			}
		})
	}
}

// TestReinvoked: a plan with targets, or one that destroys, invokes no actions of an event whose end is unknown.
func TestReinvoked(t *testing.T) {
	t.Parallel()
	a, b := parsed(t, addrs.ParseAbsResourceInstance, "q.a"), parsed(t, addrs.ParseAbsResourceInstance, "q.b")
	r := Recovery{Unresolved: []journaling.Open{{Intent: journaling.InvocationIntent(&plans.Invocation{Caller: a, Event: config.BeforeDestroy})}}}
	for want, inv := range map[int][]*plans.Invocation{
		0: {{Caller: b, Event: config.BeforeDestroy}, {Caller: a, Event: config.AfterDestroy}, {Caller: a}},
		1: {{Caller: a, Event: config.BeforeDestroy}, {Caller: a, Event: config.BeforeDestroy, Index: 1}},
	} {
		if ds := r.Reinvoked(&plans.Plan{Invocations: inv}); len(ds) != want {
			t.Errorf("%d errors, want %d: %v", len(ds), want, ds)
		}
	}
}

// TestAdviceOnActions holds that a person reads only what is true: an action before a change is invoked again with the change, and
// one after a destruction by no plan. A key with a quote ends no argument of a command.
func TestAdviceOnActions(t *testing.T) {
	t.Parallel()
	const forget, retry, invoke = "recover -forget 'q.a[\"x'\\'';id\"]'", "recover -retry 'q.a[\"x'\\'';id\"]'", "apply -invoke='action.q.n'"
	const before = "The next plan that makes the change invokes the action again."
	for event, want := range map[config.Event][]string{
		config.AfterCreate: {forget, retry}, config.AfterUpdate: {forget, retry}, config.BeforeCreate: {before, forget}, config.BeforeUpdate: {before, forget},
		config.BeforeDestroy: {before, forget}, config.AfterDestroy: {forget, invoke}, "": {forget, invoke},
	} {
		text := Doubts([]journaling.Open{{Intent: journaling.Intent{Address: `q.a["x';id"]`, Action: "invoke", Invokes: "action.q.n", Event: string(event)}}}, states.Empty(), 1)
		for _, part := range []string{forget, retry, invoke, before} {
			if strings.Contains(text, part) != slices.Contains(want, part) {
				t.Errorf("%s: %q: %s", event, part, text)
			}
		}
	}
}

func parsed[A any](t *testing.T, parse func(string) (A, error), s string) A {
	t.Helper()
	a, err := parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func warningsOf(ds diags.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(d.Summary + ": " + d.Detail + "\n")
	}
	return b.String()
}
