// Package requiredcheck decides about the check run "lockstep" on the head of each pull request. A branch rule
// can require it. It exists whether or not the pull request touches a project.
//
// [Of] returns the state of a head from the facts of one pull request. [Conclude] returns the status and
// conclusion of the check run. A check run belongs to a commit. So [Head] has the entries of all pull requests
// with that head, and [Head.Worst] is shown: no pull request can make the check of another one pass.
//
// This package does not know records and GitHub's API. Package comment writes the texts. Start reading at
// [Of]; testdata/heads.txt is the table of cases.
package requiredcheck
