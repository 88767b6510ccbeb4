// Package differential compares the results of two tools for the same configurations. The
// configurations are random ([Generate]): terraform_data, locals, modules, functions,
// conditions, provisioners and repetition, then random edits of them, with moved, removed
// and import blocks, options such as -target, and mistakes. Both tools plan, and the plans
// are compared as JSON; then both apply, and the states are compared ([Case.Compare]). A
// case that differs is reduced ([Difference.Shrink]) and printed as txtar.
//
// The package runs programs and links nothing of the engine: it refuses to know more than
// their outputs and files. It needs the stock tool, so nothing but tests uses it.
package differential
