// Package shadow compares Lockstep's plans with those of another tool, in projects with mode = "shadow". There the other
// tool applies, and Lockstep only plans beside it.
//
//	plan.go        a plan, reduced to what both tools say about it
//	terraform.go   reads a plan from the text that Terraform and OpenTofu print
//	source.go      reads plans from the comments of another tool; each tool has a file with its format
//	compare.go     Compare: do two plans agree, and if not, why
//	applied.go     Applied: does the state after the other tool's apply fit the plan
//	record.go      the record of a comparison
//	summary.go     many records as one report
//
// A comment of another tool is hostile: its text comes from a pull request, and its author may lie. So Lockstep only
// compares the comment with its own plan. A lie shows up as a difference. Nothing that Lockstep does depends on a
// comment.
//
// The package reads records, and has no other effects. It does not know GitHub. Start reading at [Compare].
package shadow
