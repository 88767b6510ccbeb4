// Package statefile encodes and decodes Terraform's state files, format version 4: it turns bytes into a
// [states.State] and back.
//
// It writes as Terraform 1.11.4 would, byte by byte. It reads files of Terraform 0.12 and newer, and of
// OpenTofu. Members that it does not know are kept and written back. Reading scans the text once and decodes
// almost nothing: attributes stay text, dependencies are checked but not expanded.
//
// The package refuses to know where state files are kept, who may write them, and what their objects mean.
// The format was learnt by trying Terraform 1.11.4 and from the public sources of Terraform and OpenTofu
// (internal/states/statefile). Start at [Read] and [Write].
package statefile
