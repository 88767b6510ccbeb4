// Package runs is the plans and applies of pull requests as data, and the rules about them:
// decisions without effects.
//
// A [Run] is one project of one pull request, in one [Phase]. [Gate] decides whether it may be
// planned, applied or unlocked, from evidence that its caller has just read; each rule is a row of
// one table. A decision contains rules and facts, and package comment has the words. [Conclude] and
// [Instead] choose the conclusion of a check run.
//
// The package refuses to know the stores of records and artifacts, and GitHub. Start at [Run] and
// [Gate].
package runs
