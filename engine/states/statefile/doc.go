// Package statefile is the codec of Terraform's state files, format version 4, and nothing else:
// bytes to [states.State] and back.
//
// It writes as Terraform 1.11.4 would, byte by byte. It reads files of Terraform 0.12 to the
// newest, and of OpenTofu. Members that it does not know are kept as they are and written back.
// Reading scans the text once and decodes next to nothing: attributes stay text, dependencies are
// checked but not expanded.
//
// The package refuses to know where state files are kept, who may write them and which meaning
// their objects have. The format was learnt by trying Terraform 1.11.4 and from the public sources
// of Terraform and OpenTofu (internal/states/statefile). Start at [Read] and [Write].
package statefile
