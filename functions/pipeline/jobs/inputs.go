package jobs

import "github.com/lockstep-iac/lockstep/functions/places"

// A Linked is another project whose outputs are inputs of the job. Place is the address of its state: as on the
// base branch, or as granted to the pull request. If there is no address, Nowhere is the reason for people. The
// job can read that state only if the credentials of its own providers permit it.
type Linked struct {
	Project string
	Place   places.Place `json:",omitzero"`
	Nowhere string       `json:",omitempty"`
}
