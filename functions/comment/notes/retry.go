package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Repeated tells of projects whose last plan failed after the merge, and had options, which a retry has again; plain are the commands
// for plans without. It is one sentence, or none.
func Repeated(projects, plain []string) []string {
	if len(plain) == 0 {
		return nil
	}
	n := min(len(plain), 10)
	return []string{fmt.Sprintf("A retry of %s uses the options of the last plan again. For a plan without them, comment %s.",
		markdown.Few(projects[:n], len(plain)-n), markdown.Few(plain[:n], len(plain)-n))}
}
