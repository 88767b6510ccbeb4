// Package stopping ends plans and applies that are under way, when a person comments "lockstep stop".
//
//	Stopper   a command -> gate -> an order in the ledger, for each plan and apply under way
//	Watch     a context for the work, that ends when the ledger has an order
//
// A stop does not wait behind the work that it is to end: whoever handles comments writes the
// order, and whoever plans or applies looks for it every few seconds, and at the start of each
// process. An order names one plan or apply by its number, so it never ends a later one.
//
// The package refuses to know how work ends: a plan is dropped, an apply ends as at a deadline.
// Start at [Stopper.Stop] and [Watch].
package stopping
