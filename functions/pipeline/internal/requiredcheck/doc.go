// Package requiredcheck decides about the check run "lockstep" on the head of each pull request. A branch rule
// can require it. It exists even if the pull request changes no project.
//
// [Of] returns the state of a head from the facts about one pull request. [Conclude] returns the status and
// conclusion of the check run. A check run belongs to a commit. So a [Head] has entries for all pull requests
// with this head commit, and [Head.Worst] is shown: no pull request can make the check of another one pass.
//
// The package does not know records or GitHub's API. Package comment writes the texts. Start reading at [Of];
// testdata/heads.txt is the table of cases.
package requiredcheck
