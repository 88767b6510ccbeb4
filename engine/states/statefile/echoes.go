package statefile

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// The output of a terraform_data repeats its input, and is sensitive wherever the input is. State files do
// not list these paths of the output: if they did, Terraform 1.11.4 would update the object. So they are
// added when a state is read, and left out when a state is written.

// repeatsInput reports whether a resource is a terraform_data, whose output repeats its input.
func repeatsInput(r addrs.Resource) bool {
	return r.Mode == addrs.Managed && r.Type == "terraform_data"
}

// withOutput returns the sensitive paths, and in addition a path of the output for each path of the input.
func withOutput(paths []cty.Path) []cty.Path {
	if len(paths) == 0 {
		return paths
	}
	return states.SortPaths(slices.Concat(withoutOutput(paths), marks.Echo(paths, "input", "output")))
}

// withoutOutput returns the sensitive paths except the paths of the output, as a state file lists them.
func withoutOutput(paths []cty.Path) []cty.Path {
	return slices.DeleteFunc(slices.Clone(paths), func(p cty.Path) bool {
		return len(p) > 0 && p[0] == (cty.GetAttrStep{Name: "output"})
	})
}
