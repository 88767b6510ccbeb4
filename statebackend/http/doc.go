// Package http keeps a state behind a REST address: the backend "http", which GitLab and
// others serve. It refuses to know the server: only the protocol below.
//
//	GET      the state; 204 and 404 say that there is none
//	POST     the new state, with ?ID= the lock's
//	LOCK     the lock's information; 423 and 409 carry the holder's
//	UNLOCK   the lock's information
//
// Source: https://developer.hashicorp.com/terraform/language/backend/http
//
// # What the protocol lacks
//
// A write has no condition. [workspace.Put] reads the state first and refuses to write
// over another version, but a writer without the lock can come between the two: only the
// lock keeps honest writers apart, and only where the server has one. A server that checks
// the lock's ID refuses the write of whoever lost the lock. There is one state an address,
// so there are no workspaces but the default one, and the holder of a lock is known to
// those only whom it refuses.
//
// Start at [Open].
package http
