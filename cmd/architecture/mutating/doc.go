// Package mutating measures how much of the code its own tests hold: it changes one thing in a
// package, runs that package's tests, and reports the changes that no test noticed. It has tests
// only, and nothing imports it.
//
//	make mutate PACKAGES="./engine/internal/order ./statebackend/..." N=100 SEED=1
//
// A mutant is one such change: a condition negated, a comparison moved by one, an operator
// exchanged, a statement, an error or a case left out, a constant changed. The mutants of all
// packages are shuffled by the seed, and the first N that compile are run, one after the other,
// so that the same seed chooses the same mutants as long as the code is the same.
//
// A mutant is killed if the tests fail or do not end in time. A survivor is either a test that
// is missing or an equivalent: a change without an effect that anybody could observe. The
// package cannot tell these apart; a person judges each survivor.
//
// A mutant may do anything to files and processes. So the tests run under Landlock, which lets
// them write to a temporary directory and signal their own processes only; without it, on older
// kernels and other systems, nothing is run.
//
// It does not know the packages it changes. Defences against attacks have mutants of their
// own, written by hand, in functions/internal/threats. Start at operators_test.go.
package mutating
