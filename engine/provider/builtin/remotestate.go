package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A RemoteState function reads the root module's outputs from the state of a workspace in a backend. config
// is the argument of the data source: an object, a map, or null. While planning, a part of the outputs may be
// unknown: the data source is then read again in the apply. If there is no state, the error wraps
// [ErrNoState]. The function may be called by many goroutines at once.
type RemoteState func(ctx context.Context, backendType string, config cty.Value, workspace string) (map[string]cty.Value, error)

// ErrNoState means that the backend can be read, but has no state.
var ErrNoState = errors.New("no stored state was found for the given workspace in the given backend")

// remoteStateType is the data source that reads another configuration's outputs:
// https://developer.hashicorp.com/terraform/language/state/remote-state-data
const remoteStateType = "terraform_remote_state"

// defaultWorkspace is the workspace that is read if the configuration names none.
const defaultWorkspace = "default"

var remoteStateSchema = &schema.Schema{Block: &schema.Block{
	Attributes: map[string]*schema.Attribute{
		"backend": {
			Type: cty.String, Required: true, Markdown: true,
			Description: "The type of the backend that holds the state, for instance `s3`.",
		},
		"config": {
			Type: cty.DynamicPseudoType, Optional: true, Markdown: true,
			Description: "The backend's arguments, as in its block.",
		},
		"defaults": {
			Type: cty.DynamicPseudoType, Optional: true, Markdown: true,
			Description: "Values for outputs that the state does not have.",
		},
		"outputs": {
			Type: cty.DynamicPseudoType, Computed: true, Markdown: true,
			Description: "An object of all outputs of the root module.",
		},
		"workspace": {
			Type: cty.String, Optional: true, Markdown: true,
			Description: "The workspace whose state is read; \"default\" if not set.",
		},
	},
}}

// backends are all backend types of the language, including those that cannot be read here.
// Source: https://developer.hashicorp.com/terraform/language/backend
var backends = []string{"azurerm", "consul", "cos", "gcs", "http", "inmem", "kubernetes", "local", "oss", "pg", "remote", "s3"}

func validateRemoteState(config cty.Value) diags.Diagnostics {
	var out diags.Diagnostics
	if v := config.GetAttr("backend"); v.IsKnown() && (v.IsNull() || !slices.Contains(backends, v.AsString())) {
		// Do not show the value: it may be sensitive.
		out = append(out, diags.Diagnostic{
			Severity:  diags.Error,
			Summary:   "Invalid backend configuration",
			Detail:    fmt.Sprintf("There is no such backend type. Set \"backend\" to one of: %s.", strings.Join(backends, ", ")),
			Attribute: cty.GetAttrPath("backend"),
		})
	}
	if v := config.GetAttr("workspace"); v.IsKnown() && !v.IsNull() && v.AsString() == "" {
		out = append(out, diags.Diagnostic{
			Severity:  diags.Error,
			Summary:   "Invalid workspace name",
			Detail:    "The workspace of a remote state must not be empty. Leave out \"workspace\", or set it to null, to read the workspace \"default\".",
			Attribute: cty.GetAttrPath("workspace"),
		})
	}
	for _, name := range []string{"config", "defaults"} {
		if v := config.GetAttr(name); v.IsKnown() && !v.IsNull() && !keyed(v.Type()) {
			out = append(out, diags.Diagnostic{
				Severity:  diags.Error,
				Summary:   "Invalid remote state arguments",
				Detail:    "The value of \"" + name + "\" must be an object or a map.",
				Attribute: cty.GetAttrPath(name),
			})
		}
	}
	return out
}

func readRemoteState(ctx context.Context, remote RemoteState, config cty.Value) (cty.Value, diags.Diagnostics) {
	if ds := validateRemoteState(config); ds.HasErrors() {
		return cty.NilVal, ds
	}
	workspace := defaultWorkspace
	if v := config.GetAttr("workspace"); !v.IsNull() {
		workspace = v.AsString()
	}
	outputs := map[string]cty.Value{}
	if v := config.GetAttr("defaults"); !v.IsNull() {
		for name, value := range v.AsValueMap() {
			outputs[name] = value
		}
	}
	if remote == nil {
		return cty.NilVal, diags.Errorf(nil, "Remote state is not available",
			"This command cannot read the states of other configurations.")
	}
	stored, err := remote(ctx, config.GetAttr("backend").AsString(), config.GetAttr("config"), workspace)
	if err != nil {
		return cty.NilVal, remoteStateFailed(err)
	}
	for name, value := range stored {
		outputs[name] = value
	}
	values := config.AsValueMap()
	values["outputs"] = cty.ObjectVal(outputs)
	return cty.ObjectVal(values), nil
}

func remoteStateFailed(err error) diags.Diagnostics {
	if errors.Is(err, ErrNoState) {
		return diags.Diagnostics{{
			Severity:  diags.Error,
			Summary:   "Unable to find remote state",
			Detail:    "No stored state was found for the given workspace in the given backend.",
			Attribute: cty.GetAttrPath("workspace"),
		}}
	}
	return diags.FromError("Unable to read remote state", err)
}

func keyed(ty cty.Type) bool { return ty.IsObjectType() || ty.IsMapType() }
