package formats

import "github.com/lockstep-iac/lockstep/engine/plans"

// jsonText is the JSON of a plan or a state while it is written, with data that its parts share.
type jsonText struct {
	jsonWriter
	shapes shapes // shapes of the schemas used so far
	// planned has the places of the values after each change, which are written twice.
	planned map[*plans.ResourceChange]plannedText
	// unsigned means that negative zero is written as 0, as in Terraform's plan files.
	unsigned bool
}
