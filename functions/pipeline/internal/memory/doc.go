// Package memory has records, artifacts and a queue in memory, for tests. Tests of packages that need the
// stores use it, and so do tests of the whole pipeline (package storytest). It fulfils the contracts of the
// stores, which package lambdatest tests.
//
// A [Gate] is between the pipeline and its environment. It decides about each call, which is an [Effect]. The
// gate can make the call fail. It can also carry out the call and report a failure, as if the process had died.
// And it can do something else before or after the call. Package storytest puts a gate between the pipeline and
// GitHub.
//
// This package does not know what is stored. Start reading at [Store] and [Gate].
package memory
