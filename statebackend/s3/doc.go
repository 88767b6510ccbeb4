// Package s3 keeps states as objects in an S3 bucket, with locks and digests in
// a DynamoDB table, in lock objects, or both: Terraform's and OpenTofu's s3
// backend, byte for byte, with conditions on every write. It knows AWS; it
// refuses to know the content of a state. Start with [Open] for the
// configuration, and with workspace.go for the protocol.
//
// # Where things are
//
//	<key>                                state of the default workspace
//	<workspace_key_prefix>/<name>/<key>  state of another ("env:" by default)
//	<state's key>.tflock                 lock object, with the lease unless there is a table
//
// The items in the table are described in package dynamodb, the lock object in
// package lockfile.
//
// # Which locks are taken
//
// The item, if the backend block names a table; the object, always. If the block
// lacks use_lockfile, the object is for other tools whose block has it. Without
// the permission to write the object there is then a note, and no error.
//
// Source: Terraform 1.11 and OpenTofu 1.10, internal/backend/remote-state/s3, for
// the behaviour of the stock tools.
package s3
