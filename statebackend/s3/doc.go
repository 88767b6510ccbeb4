// Package s3 keeps states as objects in an S3 bucket. Locks are in a DynamoDB table, in lock objects, or
// both; digests are in the table. The package is compatible with the s3 backend of Terraform and OpenTofu
// byte for byte, and every write has a condition. It depends on AWS, and does not know the content of a
// state. Start with [Open] for the configuration, and with workspace.go for the protocol.
//
// # Where things are
//
//	<key>                                state of the default workspace
//	<workspace_key_prefix>/<name>/<key>  state of another workspace (the prefix is "env:" by default)
//	<state's key>.tflock                 lock object, with the lease unless there is a table
//
// The items in the table are described in package dynamodb, the lock object in package lockfile.
//
// # Which locks are taken
//
// The lock item is taken if the backend block names a table; the lock object, always. If the block lacks
// use_lockfile, the object is for other tools whose block has it. If the permission to write the object is
// missing then, there is a note, and no error.
//
// Source: Terraform 1.11 and OpenTofu 1.10, internal/backend/remote-state/s3, for the behaviour of the stock
// tools.
package s3
