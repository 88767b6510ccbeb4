package runs

import (
	"testing"
)

// TestPartsHash holds that each part is in the hash.
func TestPartsHash(t *testing.T) {
	t.Parallel()
	full := func() PlanParts {
		return PlanParts{
			Inputs: "i", Modules: map[string]string{"m": "1"}, State: before, Providers: map[string]string{"p": "1"},
			Variables: "v", Ephemeral: []string{"e"}, Engine: "1", Saved: "s", PlannedOn: map[string]string{"net@default": "h"}, Outputs: "o",
		}
	}
	seen := map[string]string{full().Hash(): "nothing"}
	for name, change := range map[string]func(*PlanParts){
		"inputs":         func(p *PlanParts) { p.Inputs = "j" },
		"a module":       func(p *PlanParts) { p.Modules["m"] = "2" },
		"another module": func(p *PlanParts) { p.Modules = map[string]string{"n": "1"} },
		"an option":      func(p *PlanParts) { p.Options = []string{"-destroy"} },
		"lineage":        func(p *PlanParts) { p.State.Lineage = "m" },
		"serial":         func(p *PlanParts) { p.State.Serial++ },
		"version":        func(p *PlanParts) { p.State.Version = "w" },
		"a provider":     func(p *PlanParts) { p.Providers["p"] = "2" },
		"variables":      func(p *PlanParts) { p.Variables = "w" },
		"ephemerals":     func(p *PlanParts) { p.Ephemeral = []string{"f"} },
		"more of them":   func(p *PlanParts) { p.Ephemeral = []string{"e", "f"} },
		"the engine":     func(p *PlanParts) { p.Engine = "2" },
		"the saved plan": func(p *PlanParts) { p.Saved = "t" },
		"another plan":   func(p *PlanParts) { p.PlannedOn["net@default"] = "i" },
		"no plan":        func(p *PlanParts) { p.PlannedOn = nil },
		"its outputs":    func(p *PlanParts) { p.Outputs = "p" },
		"lines":          func(p *PlanParts) { p.Engine = "1\"\nsaved \"s" },
	} {
		p := full()
		change(&p)
		if same, ok := seen[p.Hash()]; ok {
			t.Errorf("%s and %s have the same hash", name, same)
		}
		seen[p.Hash()] = name
	}
}
