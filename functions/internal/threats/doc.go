// Package threats is the table of attacks on Lockstep, and the proof that each defence is
// held by a test. It has tests only, and nothing else imports it.
//
// testdata/threats.txt names each threat in a sentence. The other files there are rows: a
// threat, an attack, which is a test, a defence, which is a file, and a mutant: the
// defence weakened by an edit of a line or two. A row is proved when the attack's test
// passes with the code as it is, and fails with the mutant.
//
//	threat: strangers
//	attack: ./functions/pipeline TestStrangersAreNotServed/by_name
//	defence: functions/pipeline/serves.go
//	- 	if !s.match(repo) {
//	+ 	if false {
//
// Records are separated by blank lines; lines that begin with # are comments. An attack is
// a package and a pattern as -run takes it, whose first part is the whole name of a test.
// Lines with - are a text that the file contains exactly once, those with + replace it; without
// them it is deleted. An edit may follow another, and after another defence line the edits are
// of that file. "copy: yes" runs the attack in a copy of the
// repository, for files that Go's -overlay does not reach; "quick: yes" makes the mutant
// one of the few that run with all other tests.
//
// The package refuses to know the defences: it reads texts, and runs go test. Start
// at notation_test.go; `make mutants` runs all rows.
package threats
