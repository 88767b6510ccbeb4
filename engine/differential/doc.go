// Package differential compares what two tools make of the same configurations:
// random ones ([Generate]), of terraform_data, locals, modules, functions, conditions,
// provisioners and repetition, and random edits of them, with moved, removed and import
// blocks, options such as -target, and mistakes. Both plan, and the plans are compared as
// JSON; then both apply, and the states are compared ([Case.Compare]). A case that
// differs is made small ([Case.Shrink]) and printed as txtar.
//
// It runs programs, and links nothing of the engine: it knows no more than what can
// be seen from outside. It needs the stock tool, so nothing but tests uses it.
package differential
