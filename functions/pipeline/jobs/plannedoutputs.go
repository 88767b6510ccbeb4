package jobs

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
)

// A PlannedOutputs has the outputs that another project's state will have when that project's plan, in the same
// pull request, is applied. It contains nothing else of that plan. A configuration may read the outputs only if
// the credentials of its own providers permit it to read the state.
type PlannedOutputs struct {
	Project string
	Target  string // the target of its run
	Place   string // the address of its state, by places.Place.String
	// Plan is the hash of the other project's plan. It is "" if there is none: the outputs in the state are
	// then used.
	Plan string `json:",omitempty"`
	// Failed is set if the plan of this other project has failed.
	Failed bool `json:",omitempty"`
	// Outputs are the outputs from [PlanResult]. They are secret.
	Outputs []byte `json:",omitempty"`
}

// Outputs returns the planned outputs, by the addresses of the states to which they belong.
func Outputs(all []PlannedOutputs) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range all {
		out[f.Place] = f.Outputs
	}
	return out
}

// PlannedOn returns the plans whose outputs a plan has used, by target; "" means the outputs in the state.
// asked are the addresses of states that the plan has read. note is the note about that.
func PlannedOn(all []PlannedOutputs, asked []string) (on map[string]string, note notes.Foreseen) {
	for _, f := range all {
		if !slices.Contains(asked, f.Place) {
			continue
		}
		if on == nil {
			on = map[string]string{}
		}
		on[f.Target] = f.Plan
		switch {
		case f.Plan != "":
			note.Plans = append(note.Plans, f.Project)
		case f.Failed:
			note.Failed = append(note.Failed, f.Project)
		}
	}
	return on, note
}
