package testfiles

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

// checkExpected checks that the expected failures of a run refer to objects with conditions: variables,
// outputs, checks, resources and data sources.
func checkExpected(r *Run) (ds hcl.Diagnostics) {
	for _, t := range r.ExpectFailures {
		if d := checkable(t); d != nil {
			ds = append(ds, d)
		}
	}
	return ds
}

// checkable returns an error if a reference is not to an object with conditions; otherwise nil.
func checkable(t hcl.Traversal) *hcl.Diagnostic {
	const invalid = "Invalid reference"
	word, root := t.RootName(), t[0].SourceRange()
	switch word {
	case "var", "output", "check", "path", "terraform", "local", "each", "count", "module", "run":
		if len(t) == 1 {
			return diags.HCLError(&root, invalid, "%q must be followed by a dot and a name.", word)
		}
	case "self":
	case "data", "ephemeral":
		if len(t) < 3 {
			return diags.HCLError(t.SourceRange().Ptr(), invalid, "%q must be followed by a type and a name, each behind a dot.", word)
		}
	default:
		if len(t) < 2 {
			return diags.HCLError(&root, invalid, "The type of a resource must be followed by a dot and the resource's name.")
		}
		if _, ok := t[1].(hcl.TraverseAttr); !ok {
			return diags.HCLError(t[1].SourceRange().Ptr(), invalid, "The type of a resource must be followed by a dot and the resource's name.")
		}
	}
	switch word {
	case "path", "terraform", "local", "each", "count", "module", "run", "self":
		at := t[:traversals.ObjectSteps(t)].SourceRange()
		return diags.HCLError(&at, "Invalid `expect_failures` reference", "This object has no conditions that could fail. A run can expect failures of variables, outputs, checks, resources and data sources.")
	}
	return nil
}
