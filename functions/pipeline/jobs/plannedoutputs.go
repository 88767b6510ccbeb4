package jobs

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
)

// A PlannedOutputs has the outputs that another project's state will have once that project's plan in the
// same pull request is applied. It contains no other part of that plan. The credentials of a configuration's
// own providers decide whether it may read the outputs, as for the state.
type PlannedOutputs struct {
	Project string
	Target  string // the target of its run
	Place   string // the address of its state, by places.Place.String
	// Plan is the hash of the plan. It is "" if there is none: then the outputs in the state are used.
	Plan string `json:",omitempty"`
	// Failed is set if the plan of the other project failed.
	Failed bool `json:",omitempty"`
	// Outputs are the outputs from [PlanResult]. They are secret.
	Outputs []byte `json:",omitempty"`
}

// Outputs returns the planned outputs, by the addresses of their states.
func Outputs(all []PlannedOutputs) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range all {
		out[f.Place] = f.Outputs
	}
	return out
}

// PlannedOn returns the plans whose outputs a plan used, by target; "" means the outputs in the state. asked
// are the addresses that the plan has read.
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
