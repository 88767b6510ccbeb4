// Package upgrade plays days on which Lockstep is upgraded: an earlier version has played the first half, and the present one plays the
// second half with its records, messages, plans and states. It has tests only.
//
// A story is a file of testdata/stories: the files of the base branch, the steps of the first half, and those of the second one with
// their trace, the lines that begin with "=". A directory for each version has a file for each story, with all that is there after the first
// half: the acts of people and of Lockstep on GitHub, by which package githubtest gets to the same state;
// records, messages and artifacts; states with their journals. Where the second half has another trace then, the file has it. Time is that of
// testing/synctest, so that leases and locks are as old as they were.
//
//	push WHO BRANCH FILE=TEXT ...   "res(NAME)" in TEXT is a resource, "bad(NAME)" one whose apply fails; "-" deletes, "@NAME" is a file
//	                                of the story
//	pull WHO BRANCH FILE=TEXT ...   the same, and a pull request of it
//	say WHO NUMBER TEXT             a comment, whose answers are traced; "$PLAN PROJECT" at its end is the hash of the plan
//	merge | close | reopen | approve | enqueue WHO NUMBER
//	land                            GitHub's merge queue merges the first pull request
//	hold KIND ... | release         messages of these kinds are not handled until the release
//	dies N EFFECT                   the process ends with its Nth effect that has EFFECT in its name
//	redeliver                       GitHub delivers all webhooks again
//	round | wait DURATION           the janitor's round
//	show NUMBER | records PREFIX    traces the status comment, or records
//	~STEP                           nothing is delivered or handled after it
//
// It refuses to know what is right: a person reads the traces when they are written. The option -record writes down the first
// halves as the present version plays them. Start at TestUpgrade.
package upgrade
