// Package mutating measures how well tests check the code: it makes one change in a package, runs that
// package's tests, and reports the changes that no test noticed. It has tests only, and nothing imports it.
//
//	make mutate PACKAGES="./engine/internal/order ./statebackend/..." N=100 SEED=1
//
// A mutant is one such change: a negated condition, a comparison moved by one, an exchanged operator, a deleted
// statement, error or case, a changed constant. The seed determines the order of the mutants of all packages.
// The first N that compile are run, one after another. The same seed chooses the same mutants as long as the
// code is the same.
//
// A mutant is killed if the tests fail or exceed their time limit. A surviving mutant means one of two things:
// a test is missing, or the change has no effect that anybody could observe. The package cannot distinguish
// them; a person judges each survivor.
//
// A mutant may do anything to files and processes. So the tests run under Landlock, which lets them only write
// to a temporary directory and signal their own processes. Without Landlock, on older kernels and other
// systems, nothing is run.
//
// The package does not know the packages that it changes. Defences against attacks have their own mutants,
// written by hand, in functions/internal/threats. Start at operators_test.go.
package mutating
