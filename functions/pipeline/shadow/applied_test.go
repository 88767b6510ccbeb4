package shadow

import (
	"fmt"
	"strings"
	"testing"
)

// TestApplied is a table of plans and of what is there after the merge: objects in the state, and changes that a new plan
// still wants. A plan is a list of an action and an address each.
func TestApplied(t *testing.T) {
	t.Parallel()
	changes := func(text string) (out []Change) {
		for x := range strings.SplitSeq(text, ", ") {
			action, address, ok := strings.Cut(x, " ")
			if ok {
				out = append(out, Change{Address: address, Action: Action(action)})
			}
		}
		return out
	}
	for _, x := range []struct {
		name, plan, state, left string
		serial                  uint64
		lineage                 string
		outputs                 bool
		want                    string
	}{
		{"all of it", "create a, update b, replace c, destroy d, forget e", "a b c", "", 4, "l", false, "agree"},
		{"in a new state", "create a", "a", "", 1, "other", false, "agree"},
		{"an object is missing", "create a, create b", "a", "create b", 4, "l", false, "differ b: not in the state"},
		{"an update is missing", "update a", "a", "update a", 4, "l", false, "differ a: a new plan still wants to update it"},
		{"an object is still there", "destroy a", "a", "destroy a", 4, "l", false, "differ a: still in the state"},
		{"nobody has applied", "create a", "", "create a", 3, "l", false, "unknown nobody has applied the plan yet"},
		{"no changes, and none were made", "", "a", "", 3, "l", false, "agree"},
		{"no changes, and some were made", "", "a b", "", 4, "l", false, "unknown the state has changed although"},
		{"outputs only", "", "a", "", 4, "l", true, "agree"},
		{"outputs only, not applied", "", "a", "", 3, "l", true, "unknown nobody has applied the plan yet"},
	} {
		now := After{Serial: x.serial, Lineage: x.lineage, Objects: map[string]bool{}, Left: changes(x.left)}
		for address := range strings.FieldsSeq(x.state) {
			now.Objects[address] = true
		}
		a := Applied(Plan{Counted: true, Changes: changes(x.plan), Outputs: x.outputs}, 3, "l", now)
		got := fmt.Sprint(a.Verdict, " ", a.Why)
		for _, d := range a.Differences {
			got += d.Address + ": " + d.Theirs
		}
		if !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
	if a := Applied(Plan{Failed: true}, 3, "l", After{}); a.Verdict != Unknown {
		t.Errorf("a failed plan: %+v", a)
	}
}

// TestAfterOf reads the objects of all modules from a plan as JSON, and what is left to do.
func TestAfterOf(t *testing.T) {
	t.Parallel()
	a, err := AfterOf([]byte(`{"prior_state":{"values":{"root_module":{"resources":[{"address":"a","mode":"managed"},{"address":"data.d","mode":"data"}],"child_modules":[{"resources":[{"address":"module.m.b","mode":"managed"}]}]}}},"resource_changes":[{"address":"a","mode":"managed","change":{"actions":["no-op"]}},{"address":"c","mode":"managed","change":{"actions":["create"]}}]}`), 7, "l")
	if err != nil || len(a.Objects) != 2 || !a.Objects["a"] || !a.Objects["module.m.b"] || len(a.Left) != 1 || a.Left[0].Address != "c" || a.Serial != 7 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := AfterOf([]byte("{"), 7, "l"); err == nil {
		t.Error("no error for damaged JSON")
	}
}
