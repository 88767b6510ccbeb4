package jobs

import "github.com/lockstep-iac/lockstep/functions/places"

// A Linked is another project whose outputs are inputs of the job. Place is the address of its state, from the
// base branch or as granted to the pull request. Without an address, Nowhere has the reason for people. The
// credentials of the job's own providers decide whether the job may read that state.
type Linked struct {
	Project string
	Place   places.Place `json:",omitzero"`
	Nowhere string       `json:",omitempty"`
}
