// Package s3 keeps states as objects in an S3 bucket, with locks and digests in
// a DynamoDB table, in lock objects, or both: Terraform's and OpenTofu's s3
// backend, byte for byte, with conditions on every write. It knows AWS; it does
// not know what a state says. Start with [Open] for the configuration, and with
// workspace.go for the protocol.
//
// # Where things are
//
//	<key>                                state of the default workspace
//	<workspace_key_prefix>/<name>/<key>  state of another ("env:" by default)
//	<state's key>.tflock                 lock object
//
// The items in the table are described in package dynamodb, the lock object in
// package lockfile.
//
// # Which locks are taken
//
// The item, if the backend block names a table; the object, always. Where the
// block does not say use_lockfile, the object is there so that tools whose
// block does respect us; if we have no right to write it, that is worth a note,
// and not an error.
//
// What stock tools do is taken from the source of Terraform 1.11 and OpenTofu
// 1.10 (internal/backend/remote-state/s3), read for facts.
package s3
