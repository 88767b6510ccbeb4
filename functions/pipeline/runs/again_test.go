package runs

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// TestPlanAgain holds when a plan is made again: if every reason is one that an equal plan settles,
// and not twice.
func TestPlanAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Request)
		want   bool
	}{
		"nothing moved":         {func(*Request) {}, false},
		"the state":             {func(q *Request) { q.State.Serial++ }, true},
		"a first state":         {func(q *Request) { q.Run.State = StateID{} }, true},
		"another lineage":       {func(q *Request) { q.State.Lineage = "m" }, false},
		"a state that is gone":  {func(q *Request) { q.State = &StateID{} }, false},
		"the version":           {func(q *Request) { q.OtherVersion = true }, true},
		"the version and state": {func(q *Request) { q.OtherVersion = true; q.State.Serial++ }, true},
		"the state and head":    {func(q *Request) { q.State.Serial++; q.Pull.Head.SHA = headTwo }, false},
		"files around":          {func(q *Request) { q.Around = []string{"x"} }, true},
		"files":                 {func(q *Request) { q.Differ = []string{"x"} }, false},
		"the place": {func(q *Request) {
			q.State.Serial++
			q.Placing = &Placing{Reasons: reasons.List{reasons.PlaceKeptElse{}}}
		}, false},
		"it was made again": {func(q *Request) { q.State.Serial++; q.Again = &Again{State: *q.State} }, false},
	} {
		q := allowed()
		test.change(&q)
		if got := Gate(q); got.PlanAgain() != test.want {
			t.Errorf("%s: %v, reasons %+v", name, got.PlanAgain(), got.Reasons)
		}
	}
}

// TestSettled holds that a decision which allows an apply by a plan made again has the reasons for
// that, for people, and one that refuses has them in its reason.
func TestSettled(t *testing.T) {
	t.Parallel()
	q := allowed()
	q.State.Serial, q.OtherVersion = 4, true
	q.Again = &Again{State: *q.State, Equal: true, Hash: headTwo}
	if d := Gate(q); !d.Allowed() || len(d.Settled()) != 2 {
		t.Errorf("%+v", d)
	}
	q.Again.Equal = false
	d := Gate(q)
	if r, ok := d.Reasons[0].(reasons.PlanDiffers); !ok || len(r.Since) != 2 || r.Plan != headTwo || d.Stale() {
		t.Errorf("%+v", d)
	}
}

// TestPartsHash holds that each part is in the hash.
func TestPartsHash(t *testing.T) {
	t.Parallel()
	full := func() Parts {
		return Parts{
			Inputs: "i", Modules: map[string]string{"m": "1"}, State: before, Providers: map[string]string{"p": "1"},
			Variables: "v", Ephemeral: []string{"e"}, Engine: "1", Saved: "s", PlannedOn: map[string]string{"net@default": "h"}, Outputs: "o",
		}
	}
	seen := map[string]string{full().Hash(): "nothing"}
	for name, change := range map[string]func(*Parts){
		"inputs":         func(p *Parts) { p.Inputs = "j" },
		"a module":       func(p *Parts) { p.Modules["m"] = "2" },
		"another module": func(p *Parts) { p.Modules = map[string]string{"n": "1"} },
		"an option":      func(p *Parts) { p.Options = []string{"-destroy"} },
		"lineage":        func(p *Parts) { p.State.Lineage = "m" },
		"serial":         func(p *Parts) { p.State.Serial++ },
		"version":        func(p *Parts) { p.State.Version = "w" },
		"a provider":     func(p *Parts) { p.Providers["p"] = "2" },
		"variables":      func(p *Parts) { p.Variables = "w" },
		"ephemerals":     func(p *Parts) { p.Ephemeral = []string{"f"} },
		"more of them":   func(p *Parts) { p.Ephemeral = []string{"e", "f"} },
		"the engine":     func(p *Parts) { p.Engine = "2" },
		"the saved plan": func(p *Parts) { p.Saved = "t" },
		"another plan":   func(p *Parts) { p.PlannedOn["net@default"] = "i" },
		"no plan":        func(p *Parts) { p.PlannedOn = nil },
		"its outputs":    func(p *Parts) { p.Outputs = "p" },
		"lines":          func(p *Parts) { p.Engine = "1\"\nsaved \"s" },
	} {
		p := full()
		change(&p)
		if same, ok := seen[p.Hash()]; ok {
			t.Errorf("%s and %s have the same hash", name, same)
		}
		seen[p.Hash()] = name
	}
}
