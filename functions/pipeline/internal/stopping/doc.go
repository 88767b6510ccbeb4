// Package stopping ends plans and applies that are in progress, after a person has commented "lockstep stop".
//
//	Stopper   a command -> gate -> an order in the ledger, for each plan and apply in progress
//	Watch     a context for the work, which ends when the ledger has an order
//
// A stop does not wait in the queue of the work that it ends. The handler of comments writes the order. A
// process that plans or applies checks for an order when it starts, and then every few seconds. An order
// contains the number of a plan or apply, so it never ends a later one.
//
// The package does not know how work ends: a plan is dropped, and an apply ends as at a deadline. Start reading
// at [Stopper.Stop] and [Watch].
package stopping
