package preparing

import (
	"context"
	"errors"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// A lister is a backend that can report whether its workspaces can be listed.
type lister interface {
	List(ctx context.Context) error
}

// reachable returns an error if the states of a backend cannot be read. The order of checks and the words are
// Terraform's, because programs parse them. Unlike in Terraform, credentials that may not list the bucket may
// still read a state.
func reachable(a *cli.App, b statebackend.Backend, workspace string) diags.Diagnostics {
	var unlisted error
	if l, ok := b.(lister); ok {
		unlisted = l.List(a.Ctx)
	}
	if unlisted == nil || errors.Is(unlisted, statebackend.ErrDenied) {
		_, ds := stateIn(a.Ctx, b, workspace)
		if unlisted == nil || !ds.HasErrors() {
			return ds
		}
	}
	text := unlisted.Error()
	if statebackend.Untrusted(unlisted) {
		return diags.FromError("Failed to get existing workspaces", unlisted)
	}
	return diags.Errorf(nil, "Failed to get existing workspaces: "+strings.ToUpper(text[:1])+text[1:],
		"Lockstep cannot work without the bucket of the states. Check its name and region in the backend block, and your credentials with `aws sts get-caller-identity`.")
}
