package jobs

// A Foreseen is the state of another project as a plan of the same pull request will make it. Of that plan it
// has the outputs only. Whether a configuration may read them is decided by the credentials of its own providers, as for
// the state.
type Foreseen struct {
	Target string // of its run
	Place  string // of its state, by places.Place.String
	// Plan is the hash of the plan; "" if there is none: then the state's outputs count.
	Plan string `json:",omitempty"`
	// Outputs are those of [PlanResult]. They are secret.
	Outputs []byte `json:",omitempty"`
}
