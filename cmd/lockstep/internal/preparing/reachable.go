package preparing

import (
	"context"
	"errors"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// A lister is a backend with a method that checks whether its workspaces can be listed.
type lister interface {
	List(ctx context.Context) error
}

// reachable returns an error if the states of a backend cannot be read. It makes the same checks as Terraform,
// in the same order and with the same words, because programs parse the words. One check is more lenient:
// credentials that cannot list the bucket are accepted if they can read the state.
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
