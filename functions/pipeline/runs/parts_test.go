package runs

import (
	"testing"
)

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
