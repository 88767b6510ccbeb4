// Package install installs provider plugins and finds installed ones.
//
// [Installer.Ensure] is the work of `init`: it selects a version of each required
// provider (package constraint), asks sources for its package (registries, network
// mirrors and filesystem mirrors, chosen by the CLI configuration: package cliconfig),
// verifies, unpacks or links the package below the data directory, and records the
// selection and its checksums in the lock file (package lockfile). [Installed] is for
// every other command: it finds the packages that init has installed, verifies them
// against the lock file, and makes no request. [Installer.Checksums] and
// [Installer.Mirror] fetch packages for any platforms, the first for their checksums,
// the second to fill a mirror directory.
//
// Layout, checksums, protocols and the decisions are Terraform's (1.11, tried), so
// that both can take turns in a working directory. Differences, each for safety or
// speed: a locked version is not looked up again; packages are unpacked beside their
// final directory and renamed; links and absolute paths in archives are refused; plain
// http and link-local addresses are refused.
//
// The package starts no provider and knows no schema. It works sequentially, so none
// of its values may be used by several goroutines at once.
package install
