package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// MergeRefused reports that GitHub refuses to merge a pull request all of whose projects are applied.
type MergeRefused struct {
	Method string // "merge", "squash" or "rebase"
	Why    string // GitHub's words
	Remedy string // a sentence in Markdown; "" if none is known
}

func (n MergeRefused) markdown() string {
	text := fmt.Sprintf("**Applied, but not merged.** All projects are applied, and `automerge` in lockstep.hcl asks for the merge (method %s), but GitHub refuses it: %s.", markdown.Code(n.Method), markdown.Code(strings.TrimSuffix(n.Why, ".")))
	if n.Remedy != "" {
		text += " " + n.Remedy
	}
	return text + " Merge the pull request yourself once that is mended: the base branch does not have what was applied yet."
}
