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
// Which step comes after which is not in it: package order derives that from the
// changes. Nor are schemas: values carry their types. Sensitive values are in it
// in clear, as in stock plan files, so files are made readable for their owner only.
//
// The package refuses to know where plans are kept, how they are encrypted, and whether one still
// holds. Start at [Write] and [Decode].
package planfile
