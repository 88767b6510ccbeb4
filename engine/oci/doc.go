// Package oci reads artifacts of OCI registries, as OpenTofu uses them for modules and providers
// (https://opentofu.org/docs/cli/oci_registries/). The protocol, its authentication and the files of credentials
// are those of the library oras (https://oras.land).
//
// Everything that a registry says is checked: the size of a document before it is read, the digest of each
// content, and each URL against a hosts.Policy. The package does not know modules and providers. Start at
// [Client.Open].
package oci
