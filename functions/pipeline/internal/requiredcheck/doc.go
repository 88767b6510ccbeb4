// Package requiredcheck decides about the check run that a branch rule can require: one named
// "lockstep" on the head of each pull request, whether or not it touches a project.
//
// [Of] makes the standing of a head from the facts of one pull request, [Conclude] the status and
// conclusion of the check run. A check run belongs to a commit: [Head] has the entries of all pull
// requests with that head, and its [Head.Worst] is shown, so that no pull request turns the check of
// another one green.
//
// The package refuses to know records and GitHub's API, and has no words: those are in package
// comment. Start at [Of]; testdata/heads.txt is the table.
package requiredcheck
