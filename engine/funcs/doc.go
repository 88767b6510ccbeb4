// Package funcs has the built-in functions of Terraform 1.11 in a table by name. Each is also in the table
// with the prefix `core::`. Start at [Table], and at [Scope], which has everything that a function can access
// besides its arguments: a base directory, files, a clock, a source of randomness.
//
// The package does not know the configuration: references, modules and provider-defined functions belong to
// the evaluator. It has no state either: the table is built once for each run and shared. Every call is pure,
// apart from what it accesses through the Scope.
//
// If Terraform takes a function from go-cty's stdlib, this package does, too. stdlib.go has the exceptions,
// where the library has changed since 1.11.4. Names, parameters, messages, marks and the treatment of unknown
// values are those observed in Terraform 1.11.4: testdata/expressions has its answers, one expression on a
// line, for the values in testdata/fixtures. These differences are intended:
//
//   - where 1.11.4 reports a crash inside a function, we report a plain error;
//   - a message never shows a sensitive or ephemeral argument, and marks
//     are not lost if an argument of templatefile is unknown;
//   - matchkeys with an unknown element in the search set returns an unknown
//     list, not an empty one, which an apply would contradict;
//   - a negative subnet number is refused, not wrapped around, and cidrsubnets
//     works at the start of the address space;
//   - yamldecode also merges a sequence of mappings by `<<`, and refuses documents that
//     are nested too deep or grow without bounds by aliases; uuid sets the
//     version bits of RFC 4122;
//   - base64gunzip, cidrcontains and urldecode are OpenTofu's.
package funcs
