// Package differential compares the results of two tools for the same configurations. The configurations are
// random ([Generate]): terraform_data, local values, modules, functions, conditions, provisioners and
// repetition. Then come random edits, with moved, removed and import blocks, options such as -target, and
// mistakes. Both tools plan, and the plans are compared as JSON. Then both apply, and the states are compared
// ([Case.Compare]). A case that differs is reduced ([Difference.Shrink]) and printed as txtar.
//
// The package runs programs and imports nothing of the engine: it refuses to know more than their outputs and
// files. It needs the stock tool, so only tests use it.
package differential
