// Package memory has records, artifacts and a queue in memory. Tests of packages that need the stores use it,
// and so do tests of the whole pipeline (package storytest). It fulfils the contracts of the stores, which
// package lambdatest tests.
//
// A [Gate] can be placed between the pipeline and its environment. It decides about each call, which is an
// [Effect]:
//   - It can make the call fail.
//   - It can carry out the call and report a failure, as if the process had died.
//   - It can do something else before or after the call.
//
// Package storytest places a gate between the pipeline and GitHub. The package does not know what is stored.
// Start reading at [Store] and [Gate].
package memory
