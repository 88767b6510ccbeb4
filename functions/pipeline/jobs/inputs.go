package jobs

import "github.com/lockstep-iac/lockstep/functions/places"

// A Linked is another project, whose outputs the job's has as inputs. Its state is at Place, as the base branch knows it,
// or as it was granted to the pull request; without one Nowhere is the reason, for people. Whether the job may read it is
// decided by the credentials of its own providers.
type Linked struct {
	Project string
	Place   places.Place `json:",omitzero"`
	Nowhere string       `json:",omitempty"`
}
