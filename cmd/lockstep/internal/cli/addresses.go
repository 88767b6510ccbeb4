package cli

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// ParseTarget reads an address of the command line: a module, a resource, or one
// instance of it.
func ParseTarget(text string) (addrs.Target, diags.Diagnostics) {
	t, err := addrs.ParseTarget(text)
	if err != nil {
		return t, diags.FromError("Invalid address", err)
	}
	return t, nil
}

// ParseInstance reads the address of a resource instance.
func ParseInstance(text string) (addrs.AbsResourceInstance, diags.Diagnostics) {
	r, err := addrs.ParseAbsResourceInstance(text)
	if err != nil {
		return r, diags.FromError("Invalid address", err)
	}
	return r, nil
}
