// Package storytest plays stories of the whole pipeline in milliseconds, from tables of text. GitHub is package
// githubtest's. Records, artifacts and queues are in memory. The engine does what the story says.
//
// The result of a story is a trace of all effects, in their order: each write to a record with the fields that
// it changes, each artifact and message, each job of the engine, and each edit on GitHub. So a test fails for a
// write that is missing, superfluous or too early, even if nobody would see it on the pull request.
//
// A story is a paragraph. A line "= ..." is a line of the trace, as the option -update writes it. Other lines
// are steps:
//
//	# a comment
//	name of the story
//	  base FILE TEXT          a file of the base branch; "\n" in it ends a line
//	  pull WHO BRANCH [FILE TEXT]     a push to a branch, and a pull request for it
//	  push WHO BRANCH FILE TEXT       "gone" deletes the file
//	  say WHO NUMBER TEXT             a comment; its answer is printed in full
//	  merge | close | reopen WHO NUMBER
//	  retarget WHO NUMBER BRANCH
//	  draft WHO BRANCH | ready WHO NUMBER
//	  edit WHO NUMBER TEXT            changes the comments of somebody
//	  rerun WHO BRANCH                "Re-run" of the first check
//	  redeliver N | replay N [EVENT]  the Nth webhook, or the "last", comes again, from GitHub or from somebody else
//	  branch NAME                     a branch beside the base branch
//	  approve WHO NUMBER              a review
//	  engine CALL PROJECT RESULT      the result of the next such call: see engine_test.go
//	  fail | lose CALL                the next such call fails: see trace_test.go
//	  dies CALL                       its process dies with it, and another one handles the message
//	  stuck KIND                      the process of the next such message dies, and the message is gone
//	  lost                            the next webhook is lost
//	  look PROJECT                    a look for drift, as at the project's turn
//	  issue NUMBER                    prints an issue in full
//	  round DURATION                  the janitor's round, after this time
//	  show NUMBER                     prints the status comment in full
//	  checks BRANCH                   prints the check runs at its head, with their texts
//	  exchange | remove KEY           somebody exchanges or removes an artifact
//	  loud NUMBER                     the number of projects that are reported one by one
//	  serves TEXT                     the owners and repositories that are served
//	  ~STEP                           a step whose trace is not printed
//
// This package does not know what is right: a person reads the trace when it is written. It is for tests
// only. Start reading at TestStories. TestFaults plays the same stories with a fault at each call that a
// package makes. [Hub] is for other tests, too.
package storytest
