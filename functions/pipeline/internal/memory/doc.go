// Package memory has records, artifacts and a queue in memory, for tests. It is for packages that need the
// stores of the pipeline, and for stories of the whole. It keeps their contracts, which package lambdatest
// tests.
//
// A [Gate] is between the pipeline and its environment. It decides about each call, which is an [Effect]. The
// call can fail, or happen and be reported as failed, as when a process dies. Something else can happen before
// or after it. Package storytest has a gate before GitHub.
//
// This package refuses to know what is stored. Start reading at [Store] and [Gate].
package memory
