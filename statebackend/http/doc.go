// Package http keeps a state at a REST address. It is the backend "http", which GitLab and others serve. It
// depends only on the protocol below, not on a particular server.
//
//	GET      the state; 204 and 404 mean that there is none
//	POST     the new state, with the lock's ID in ?ID=
//	LOCK     the lock's information; 200: locked; 423 and 409 return the holder's information
//	UNLOCK   the lock's information
//
// Source: https://developer.hashicorp.com/terraform/language/backend/http
//
// # Gaps of the protocol
//
// A write has no condition. [workspace.Put] reads the state first, and refuses to replace another version.
// But a writer without the lock can write between the two requests. So only the lock keeps writers apart, and
// only if the server has a lock. A server that checks the lock's ID refuses the write of a holder who lost
// the lock.
//
// An address has one state, so "default" is the only workspace. The protocol has no request for the holder of
// a lock: only the refusal of a Lock names the holder.
//
// Start at [Open].
package http
