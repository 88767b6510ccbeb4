package opening

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// A saved plan contains the settings of the state's backend. Init has recorded them from the backend block and
// from -backend-config. If they contain credentials, so does the plan, as in Terraform. Relative paths in
// them are stored as written. So they are relative to the directory in which the plan is applied.

// Backend returns the backend and workspace of the state, to store in a plan.
func (o *Operation) Backend() (plans.Backend, diags.Diagnostics) {
	attributes, err := valueOf(o.Settings.Attributes)
	if err != nil {
		return plans.Backend{}, diags.FromError("The plan cannot name its backend", err)
	}
	return plans.Backend{Type: o.Settings.Type, Workspace: o.Workspace, Config: attributes}, nil
}

// plannedSettings returns the settings of the backend that a plan contains.
func plannedSettings(b plans.Backend) (*workdir.Settings, diags.Diagnostics) {
	s := &workdir.Settings{Type: b.Type}
	const summary = "Saved plan names no backend"
	if b.Config == cty.NilVal {
		return nil, diags.Errorf(nil, summary, "The plan does not say where its state lives. Make a new plan.")
	}
	src, err := ctyjson.Marshal(b.Config, b.Config.Type())
	if err == nil {
		err = json.Unmarshal(src, &s.Attributes)
	}
	if err != nil {
		return nil, diags.Errorf(nil, summary, "The settings of the backend in the plan are damaged: %s. Make a new plan.", err)
	}
	return s, nil
}

// valueOf returns the attributes of a backend as one cty value.
func valueOf(attributes map[string]any) (cty.Value, error) {
	given := map[string]any{}
	for name, v := range attributes {
		if v != nil {
			given[name] = v
		}
	}
	src, err := json.Marshal(given)
	if err != nil {
		return cty.NilVal, err
	}
	t, err := ctyjson.ImpliedType(src)
	if err != nil {
		return cty.NilVal, err
	}
	return ctyjson.Unmarshal(src, t)
}

// isFor returns an error if the selected workspace is not the workspace for which the plan was made.
func (o *Operation) isFor(was plans.Backend) diags.Diagnostics {
	if was.Workspace == o.Workspace {
		return nil
	}
	return diags.Errorf(nil, "Saved plan is for another state", "The plan was made for the workspace %q, and %q is selected. To apply it, first run \"lockstep workspace select %s\", or set TF_WORKSPACE=%s.",
		was.Workspace, o.Workspace, was.Workspace, was.Workspace)
}
