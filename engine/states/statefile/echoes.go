package statefile

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// The output of a terraform_data repeats its input, and is a secret wherever that is one. No state lists it: for
// Terraform 1.11.4 the object would be one to update. So its paths are added when a state is read, and left out when it
// is written.

// repeatsInput reports whether a resource is a terraform_data.
func repeatsInput(r addrs.Resource) bool {
	return r.Mode == addrs.Managed && r.Type == "terraform_data"
}

// withOutput returns the sensitive paths of an object with those of its output.
func withOutput(paths []cty.Path) []cty.Path {
	if len(paths) == 0 {
		return paths
	}
	return states.SortPaths(slices.Concat(withoutOutput(paths), marks.Echo(paths, "input", "output")))
}

// withoutOutput returns the sensitive paths of an object that a state lists.
func withoutOutput(paths []cty.Path) []cty.Path {
	return slices.DeleteFunc(slices.Clone(paths), func(p cty.Path) bool {
		return len(p) > 0 && p[0] == (cty.GetAttrStep{Name: "output"})
	})
}
