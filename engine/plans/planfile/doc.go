// Package planfile is the codec of saved plans: a [plans.Plan] with everything
// that an apply needs besides the providers, in one file.
//
// The file is a zip archive, as Terraform's are, but its contents are Lockstep's
// own and are read by the same version of Lockstep only:
//
//	lockstep.json   who wrote it: format and engine version
//	plan            the plan, in binary, with tables of what many changes share
//	state-prev      the state as it was read (format 4)
//	state-prior     the resources that refreshing changed (format 4)
//	lock.hcl        the dependency lock file
//	config/...      the files of the configuration that was planned
//
// The order of steps is not in the file: package order derives it from the changes. Nor are schemas: values
// have their types with them. Sensitive values are in the file in clear text, as in stock plan files, so only
// the owner may read the file.
//
// The package refuses to know where plans are kept, how they are encrypted, and whether a plan is still
// valid. Start at [Write] and [Decode].
package planfile
