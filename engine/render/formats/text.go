package formats

import "github.com/lockstep-iac/lockstep/engine/plans"

// jsonText is a plan or a state being written as JSON, with the facts that its parts share.
type jsonText struct {
	jsonWriter
	shapes shapes // of the schemas met so far
	// planned holds the spans of the values after each change, which are written twice.
	planned map[*plans.ResourceChange]plannedText
	// unsigned is set if there is no negative zero, as in Terraform's plan files.
	unsigned bool
}
