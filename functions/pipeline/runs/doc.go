// Package runs is what is known of the plans and applies of pull requests, and the rules
// about them: data, and decisions without effects.
//
// A [Run] is one project of one pull request, in one [Phase]. [Gate] decides whether it
// may be planned, applied or unlocked, from values that its caller has read just before.
// [Conclude] and [Worse] say what a check run has to say of it.
//
// The package refuses to know where records, artifacts and pull requests are, and does
// nothing itself. Start at [Run] and [Gate].
package runs
