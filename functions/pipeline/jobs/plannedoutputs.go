package jobs

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
)

// A PlannedOutputs is the state of another project as a plan of the same pull request will make it. Of that plan it
// has the outputs only. Whether a configuration may read them is decided by the credentials of its own providers, as for
// the state.
type PlannedOutputs struct {
	Project string
	Target  string // of its run
	Place   string // of its state, by places.Place.String
	// Plan is the hash of the plan; "" if there is none: then the state's outputs count.
	Plan string `json:",omitempty"`
	// Failed is set if its plan has failed.
	Failed bool `json:",omitempty"`
	// Outputs are those of [PlanResult]. They are secret.
	Outputs []byte `json:",omitempty"`
}

// Outputs returns the planned outputs, by the places of their states.
func Outputs(all []PlannedOutputs) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range all {
		out[f.Place] = f.Outputs
	}
	return out
}

// PlannedOn returns the plans whose outputs a plan was made with, by target, "" where those of the state counted;
// asked are the places that it has read.
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
