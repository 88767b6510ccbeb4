// Package install installs provider plugins and finds installed ones.
//
// [Installer.Ensure] does the work of `init`. It selects a version of each required provider (package
// constraint), and gets its package from sources: registries, and mirrors in directories, on servers and in OCI
// registries, as the CLI configuration says (package cliconfig). It verifies the package, and unpacks or links it below the data
// directory. It records the version and the checksums in the lock file (package lockfile). [Installed] is for
// every other command: it finds the packages that init has installed, verifies them against the lock file,
// and makes no request. [Installer.Checksums] and [Installer.Mirror] fetch packages for any platforms, the
// first for their checksums, the second to fill a mirror directory.
//
// Layout, checksums, protocols and decisions are those of Terraform (1.11, tried), so that both tools can be
// used in one working directory. There are differences, for safety or speed: a locked version is not looked
// up again; packages are unpacked beside their final directory and renamed; links and absolute paths in
// archives are refused; plain http and link-local addresses are refused.
//
// The package starts no provider and knows no schema. It works sequentially: none of its values is safe for
// concurrent use.
package install
