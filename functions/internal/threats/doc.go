// Package threats has the table of attacks on Lockstep, and proves that a test checks each defence. It has
// tests only, and nothing else imports it.
//
// testdata/threats.txt describes each threat in a sentence. The other files there contain rows. A row has a
// threat, an attack (a test), a defence (a file), and a mutant: an edit of a line or two that weakens the
// defence. A row is proved if two things are true: the test passes with the code as it is, and the test fails
// with the mutant.
//
//	threat: strangers
//	attack: ./functions/pipeline TestStrangersAreNotServed/by_name
//	defence: functions/pipeline/serves.go
//	- 	if !s.match(repo) {
//	+ 	if false {
//
// The notation:
//   - Blank lines separate records. Lines that begin with # are comments.
//   - An attack is a package and a pattern for go test's -run. The first part of the pattern is the whole name
//     of a test.
//   - Lines with - are a text that the file contains exactly once. Lines with + replace that text; without them
//     the text is deleted.
//   - A row may have several edits. After another defence line, the edits apply to that file.
//   - "copy: yes" runs the attack in a copy of the repository, for files that Go's -overlay does not reach.
//   - "quick: yes" makes the mutant one of the few that run with all other tests.
//
// The package does not know the defences: it reads texts and runs go test. Start at notation_test.go; `make
// mutants` runs all rows.
package threats
