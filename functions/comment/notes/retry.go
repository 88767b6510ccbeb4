package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Repeated returns the note about projects whose last plan after the merge had options and failed: `lockstep
// retry` uses the same options. plain are the commands for plans without options. The result is nil if plain is
// empty.
func Repeated(projects, plain []string) []string {
	if len(plain) == 0 {
		return nil
	}
	n := min(len(plain), 10)
	return []string{fmt.Sprintf("A retry of %s uses the options of the last plan again. For a plan without them, comment %s.",
		markdown.Few(projects[:n], len(plain)-n), markdown.Few(plain[:n], len(plain)-n))}
}
