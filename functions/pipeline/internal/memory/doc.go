// Package memory has records, artifacts and a queue in memory, for tests: of a package that needs the sockets of the
// pipeline, and of stories of the whole. It keeps their contracts, which package lambdatest tests. Each call is
// an [Effect] about which the test decides: it can fail, or happen and be reported as failed, as
// the call of a process that dies.
//
// It refuses to know what is stored. Start at [Store].
package memory
