// Package http keeps a state behind a REST address: the backend "http", which GitLab and
// others serve. It refuses to know the server: only the protocol below.
//
//	GET      the state; 204 and 404 say that there is none
//	POST     the new state, with ?ID= the lock's
//	LOCK     the lock's information; 200 is a lock, 423 and 409 carry the holder's
//	UNLOCK   the lock's information
//
// Source: https://developer.hashicorp.com/terraform/language/backend/http
//
// # Gaps of the protocol
//
// A write has no condition. [workspace.Put] reads the state first and refuses to write
// over another version, but a writer without the lock can come between the two. So only
// the lock keeps writers apart, and only where the server has one. A server that checks
// the lock's ID refuses the write of a holder who lost the lock.
//
// An address has one state, so the default workspace is the only one. The holder of a lock
// cannot be asked for: it is in the response to a Lock that is refused.
//
// Start at [Open].
package http
