package shadow

import (
	"encoding/json"
	"fmt"
)

// An After is what is known about a project once the other tool may have applied it.
type After struct {
	// Serial and Lineage are those of the state. Serials of different lineages cannot be compared.
	Serial  uint64
	Lineage string
	// Objects are the addresses in the state. Left are the changes of a new plan of the merged configuration: those that
	// the other tool did not make, or that have become necessary since.
	Objects map[string]bool
	Left    []Change
}

// AfterOf returns the state and the rest of the plan from the JSON of a new plan.
func AfterOf(data []byte, serial uint64, lineage string) (After, error) {
	p, err := FromJSON(data)
	if err != nil {
		return After{}, err
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return After{}, fmt.Errorf("read a plan: %w", err)
	}
	a := After{Serial: serial, Lineage: lineage, Objects: map[string]bool{}, Left: p.Changes}
	a.collect(d.Prior.Values.Root)
	return a, nil
}

func (a After) collect(m module) {
	for _, r := range m.Resources {
		if r.Mode == "managed" {
			a.Objects[r.Address] = true
		}
	}
	for _, child := range m.Children {
		a.collect(child)
	}
}

// Applied says whether the other tool's apply has made the changes of Lockstep's plan. The plan was made from the state
// with the given serial and lineage. Applied is for a plan that was not compared with a comment.
func Applied(ours Plan, serial uint64, lineage string, now After) Agreement {
	switch {
	case ours.Failed:
		return Agreement{Verdict: Unknown, Why: "Lockstep's plan has failed, so there is nothing to compare with the state"}
	case len(ours.Changes) == 0:
		return noneApplied(ours, serial, lineage, now)
	case now.Lineage == lineage && now.Serial == serial:
		return Agreement{Verdict: Unknown, Why: "nobody has applied the plan yet: the state has not changed"}
	}
	left := map[string]Change{}
	for _, c := range now.Left {
		left[c.Address] = c
	}
	var all []Difference
	for _, c := range ours.Changes {
		d := Difference{Address: c.Address, Ours: c.say(), Cause: notTrue}
		here := now.Objects[c.Address]
		gone := c.Action == destroy || c.Action == forget
		switch {
		case gone && here:
			d.Theirs = "still in the state"
		case !gone && !here:
			d.Theirs = "not in the state"
		case !gone && left[c.Address].Address != "":
			d.Theirs = fmt.Sprintf("a new plan still wants to %s it", left[c.Address].say())
		default:
			continue
		}
		all = append(all, d)
	}
	if len(all) > 0 {
		return agreement(all)
	}
	return Agreement{Verdict: Agree}
}

// noneApplied returns the verdict about a plan that changes no object.
func noneApplied(ours Plan, serial uint64, lineage string, now After) Agreement {
	same := now.Lineage == lineage && now.Serial == serial
	switch {
	case same && ours.Outputs:
		return Agreement{Verdict: Unknown, Why: "nobody has applied the plan yet: the state has not changed"}
	case same || ours.Outputs:
		return Agreement{Verdict: Agree}
	}
	return Agreement{Verdict: Unknown, Why: "the state has changed although Lockstep's plan had no changes: somebody may have applied something else"}
}
