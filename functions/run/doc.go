// Package run is the story of a pull request: what happens from the webhook that
// announces it to the result of its apply.
//
// # The road
//
//	webhook   Receive     a true delivery, once, becomes a Message on a queue; answered at once
//	worker    Handle      a message: the pull request is read again, and then
//	            plan      gate -> checkout at the head -> projects -> Engine.Plan of each -> saved -> the status comment
//	            apply     gate -> checkout -> Engine.Apply, which asks the gate again with the state locked -> the answer
//	            close     saved plans are deleted
//
// Everything that decides is pure: [Gate] decides every plan, apply and unlock,
// whichever way it came in, and returns its reasons; [Phase.May] says what may follow
// what. Everything that acts is behind a small interface in needs.go: GitHub, the
// records, the artifacts, the queue, the engine. The package refuses to know which
// technology is behind them (runlocal: files; mains choose), what a plan is made of,
// and the language of configurations.
//
// # What may go wrong
//
// A message may come twice, late, or after newer ones, and a process may die at any
// point. So nothing is believed of a message but that it came: the pull request, the
// permission of who asks and the state are read when they are needed. A [Run], the
// record of one project of one pull request, moves from phase to phase by conditional
// writes: of two workers, one moves it and the other gives up. What is done to the
// world is noted before and after under a key of its own ([Effect]): what is noted as
// done is not done again, and an apply that was begun is never begun again.
//
// A handler returns an error only if doing the same again may help. Everything that a
// person has to mend is said where they look, in a comment.
//
// # What is bound to what
//
// A saved plan belongs to a head SHA and to a state: its lineage, serial and version.
// An apply is refused when one of them moved, saying which. While a pull request that
// was applied is not merged, others on the same state can be planned, but not
// applied: they would revert it. Plans are of the head as it is, not of its merge with
// the base branch, so a branch that is behind shows what it lacks as to be undone; the
// tip of the base is kept with the run.
//
// Start at [Pipeline.Receive], [Pipeline.Handle] and [Gate].
package run
