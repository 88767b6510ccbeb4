// Package shadowing plans projects in shadow mode, and compares the plans with those of the tool that applies.
//
//	queue.go     Shadower.Queue: a record and a message for each project that a push touches
//	plan.go      Shadower.Plan: makes one plan, with the rights of a plan
//	compare.go   Shadower.Compare: reads the comments of the other tool, compares, and writes the check
//
// Such a plan is no run: it is not saved, and the apply function finds nothing to apply. The gate also refuses each apply of
// the project. Nothing here takes a lock, writes a state or a comment, or merges. What the package does write is its records
// and one neutral check for each head.
//
// The package does not know the formats of comments: package shadow reads them. Start reading at [Shadower.Queue].
package shadowing
