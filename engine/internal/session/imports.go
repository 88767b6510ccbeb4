package session

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// ImportID evaluates the ID of an import block. known is false if there is no telling yet.
func ImportID(e *eval.Evaluator, im *config.Import, s eval.Scope) (id string, known bool, ds diags.Diagnostics) {
	v, ds := e.Expr(im.ID, s)
	if ds.HasErrors() {
		return "", false, ds
	}
	bad := func(detail string) (string, bool, diags.Diagnostics) {
		return "", false, append(ds, BadImportID(im, detail)...)
	}
	if marks.Contains(v, marks.Ephemeral) {
		return bad("The import ID value is ephemeral, which means that it can be different in each run.")
	}
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown():
		return "", false, ds
	case v.IsNull() || v.Type() != cty.String && v.Type() != cty.Number:
		return bad("The import ID must be a string that is not null.")
	case v.Type() == cty.Number:
		return v.AsBigFloat().Text('f', -1), true, ds
	case v.AsString() == "":
		return bad("The import ID is an empty string, which is no object's ID.")
	}
	return v.AsString(), true, ds
}

// BadImportID is an error in the ID of an import block.
func BadImportID(im *config.Import, detail string) diags.Diagnostics {
	return diags.Errorf(im.ID.Range().Ptr(), "Invalid import id argument", "%s", detail)
}
