package shadow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// An Action is what a plan does with an object.
type Action string

// These are the actions. A plan that only reads an object does nothing with it.
const (
	create  Action = "create"
	update  Action = "update"
	replace Action = "replace"
	destroy Action = "destroy"
	forget  Action = "forget"
	keep    Action = "keep" // for an object that is only moved or imported
)

// A Change is what a plan does with one object.
type Change struct {
	Address string
	Action  Action
	// From is the former address of a moved object; "" for any other.
	From string `json:",omitempty"`
	// Imported is set for an object that the plan imports.
	Imported bool `json:",omitempty"`
}

// Counts are the numbers in the line "Plan: 1 to import, 2 to add, 3 to change, 4 to destroy." A replacement counts as an
// addition and as a destruction.
type Counts struct {
	Import  int `json:",omitempty"`
	Add     int `json:",omitempty"`
	Change  int `json:",omitempty"`
	Destroy int `json:",omitempty"`
}

// String returns the counts in the words of Terraform, without "Plan:".
func (c Counts) String() string {
	text := fmt.Sprintf("%d to add, %d to change, %d to destroy", c.Add, c.Change, c.Destroy)
	if c.Import > 0 {
		text = fmt.Sprintf("%d to import, %s", c.Import, text)
	}
	return text
}

// A Plan is what a tool says about its plan of a project.
type Plan struct {
	// Changes are sorted by address. Cut is set if some may be missing.
	Changes []Change `json:",omitempty"`
	Cut     bool     `json:",omitempty"`
	// Counts are the numbers in the summary. Counted is set if the plan has a summary, or says that it has no
	// changes.
	Counts  Counts `json:",omitzero"`
	Counted bool   `json:",omitempty"`
	// Outputs is set if the plan changes outputs. If OutputsUnknown is set, nobody knows whether it
	// does.
	Outputs        bool `json:",omitempty"`
	OutputsUnknown bool `json:",omitempty"`
	// Failed is set if there is no plan, because planning failed.
	Failed bool `json:",omitempty"`
}

// maxChanges limits the changes of a plan that are kept. The others still count in Counts.
const maxChanges = 2000

// maxAddress limits the length of an address in bytes.
const maxAddress = 1024

// add adds a change. If there are too many changes, or the change is too long, it leaves the change out
// and sets Cut.
func (p *Plan) add(c Change) {
	if len(p.Changes) >= maxChanges || len(c.Address) > maxAddress || len(c.From) > maxAddress {
		p.Cut = true
		return
	}
	p.Changes = append(p.Changes, c)
}

// sort sorts the changes by address.
func (p *Plan) sort() {
	slices.SortFunc(p.Changes, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), strings.Compare(string(a.Action), string(b.Action)))
	})
}

// counted returns the counts of the listed changes.
func (p Plan) counted() (c Counts) {
	for _, x := range p.Changes {
		if x.Imported {
			c.Import++
		}
		switch x.Action {
		case create:
			c.Add++
		case update:
			c.Change++
		case destroy:
			c.Destroy++
		case replace:
			c.Add++
			c.Destroy++
		}
	}
	return c
}

// document is the part of a plan as JSON that this package reads. Source:
// https://developer.hashicorp.com/terraform/internals/json-format#plan-representation
type document struct {
	Changes []struct {
		Address  string `json:"address"`
		Previous string `json:"previous_address"`
		Mode     string `json:"mode"`
		Deposed  string `json:"deposed"`
		Change   struct {
			Actions   []string        `json:"actions"`
			Importing json.RawMessage `json:"importing"`
		} `json:"change"`
	} `json:"resource_changes"`
	Outputs map[string]struct {
		Actions []string `json:"actions"`
	} `json:"output_changes"`
	Prior struct {
		Values struct {
			Root module `json:"root_module"`
		} `json:"values"`
	} `json:"prior_state"`
}

// A module is a module in a state as JSON.
type module struct {
	Resources []struct {
		Address string `json:"address"`
		Mode    string `json:"mode"`
	} `json:"resources"`
	Children []module `json:"child_modules"`
}

// FromJSON returns the plan that Lockstep has made, from its JSON.
func FromJSON(data []byte) (Plan, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return Plan{}, fmt.Errorf("read a plan: %w", err)
	}
	p := Plan{Counted: true}
	for _, x := range d.Changes {
		c := Change{Address: x.Address, Action: actionOf(x.Change.Actions), Imported: len(x.Change.Importing) > 0 && string(x.Change.Importing) != "null"}
		if x.Previous != x.Address {
			c.From = x.Previous
		}
		if x.Deposed != "" {
			c.Address += fmt.Sprintf(" (deposed object %s)", x.Deposed)
		}
		if x.Mode == "data" || c.Action == "" || c.Action == keep && c.From == "" && !c.Imported {
			continue
		}
		p.add(c)
	}
	p.sort()
	p.Counts = p.counted()
	for _, x := range d.Outputs {
		p.Outputs = p.Outputs || actionOf(x.Actions) != keep
	}
	return p, nil
}

// actionOf returns the action for the actions in a plan as JSON; "" for one that is not compared.
func actionOf(actions []string) Action {
	switch strings.Join(actions, " ") {
	case "no-op":
		return keep
	case "create":
		return create
	case "update":
		return update
	case "delete":
		return destroy
	case "delete create", "create delete", "create forget":
		return replace
	case "forget":
		return forget
	}
	return ""
}
