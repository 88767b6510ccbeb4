// Package memory has records, artifacts and a queue in memory, for tests: of a package that needs the sockets of the
// pipeline, and of stories of the whole. It keeps their contracts, which package lambdatest tests.
//
// A [Gate] stands between the pipeline and what is around it, whatever that is. It decides about each call, an [Effect]: the
// call can fail, happen and be reported as failed, as that of a process that dies, or have something happen before
// or after it. Package storytest has the gate before GitHub.
//
// It refuses to know what is stored. Start at [Store] and [Gate].
package memory
