// Package funcs is the table of Terraform 1.11's built-in functions, by Terraform's
// names, each also under its `core::` name. Start at [Table], and at [Scope], which
// is the whole world of a function: a base directory, a window on
// files, a clock, a source of randomness.
//
// The package refuses to know the configuration: no references, no modules, no
// provider-defined functions; they are the evaluator's. It keeps no state either:
// the table is built once per run, is shared, and every call is pure but for the
// windows in the Scope.
//
// Where Terraform takes a function from go-cty's stdlib, so do we, narrowed in
// stdlib.go where the library has since moved on from 1.11.4. Names,
// parameters, messages, marks and the treatment of unknown values are those of
// Terraform 1.11.4 as observed: testdata/expressions holds its answers, an
// expression a line, among the values of testdata/fixtures. Differences that are
// meant:
//
//   - where 1.11.4 reports a crash inside a function, we report a plain error;
//   - a sensitive or ephemeral argument is never shown in a message, and marks
//     are not lost where an argument of templatefile is not known;
//   - matchkeys with an element of the search set that is not known gives an
//     unknown list, not an empty one, which an apply would contradict;
//   - a negative subnet number is refused, not wrapped around, and cidrsubnets
//     works at the start of the address space;
//   - yamldecode merges a sequence of mappings by `<<`, too, and refuses documents that
//     are nested too deep or grow without bounds by aliases; uuid sets the
//     version bits of RFC 4122;
//   - base64gunzip, cidrcontains and urldecode are OpenTofu's.
package funcs
