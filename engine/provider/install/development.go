package install

import "github.com/lockstep-iac/lockstep/engine/addrs"

// FindExecutable returns the plugin of a provider in a package's directory: the file
// named `terraform-provider-TYPE`, perhaps with `_v` and a version behind it.
func FindExecutable(dir string, p addrs.Provider) (string, error) { return executable(dir, p) }
