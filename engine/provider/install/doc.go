// Package install brings providers to disk, and tells where they are.
//
// [Installer.Ensure] is the work of `init`: it selects a version of each required
// provider (package constraint), asks sources for its package (registries, network
// mirrors, filesystem mirrors, as the CLI configuration says: package cliconfig),
// verifies, unpacks or links it below the data directory, and records in the lock
// file what it selected and by which checksums (package lockfile). [Installed] is
// for every other command: it finds what init has left there, verified against the
// lock file, and asks nobody. [Installer.Checksums] and [Installer.Mirror] bring packages for
// any platforms, the one for their checksums, the other into a directory that is a mirror.
//
// Layout, checksums, protocols and the decisions are Terraform's (1.11, tried), so
// that both can take turns in a working directory. Differences, each for safety or
// speed: a locked version is not looked up again; packages are unpacked beside their
// place and renamed; links and absolute paths in archives are refused; plain http
// and link-local addresses are refused.
//
// The package starts no provider and knows no schema. It works sequentially, so none
// of its values may be used by several goroutines at once.
package install
