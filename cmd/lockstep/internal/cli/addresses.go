package cli

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// ParseTarget parses an address from the command line: a module, a resource, or an instance of a resource.
func ParseTarget(text string) (addrs.Target, diags.Diagnostics) {
	t, err := addrs.ParseTarget(text)
	if err != nil {
		return t, diags.FromError("Invalid address", err)
	}
	return t, nil
}

// ParseInstance parses the address of a resource instance, such as `lab_thing.a[0]`.
func ParseInstance(text string) (addrs.AbsResourceInstance, diags.Diagnostics) {
	r, err := addrs.ParseAbsResourceInstance(text)
	if err != nil {
		return r, diags.FromError("Invalid address", err)
	}
	return r, nil
}
