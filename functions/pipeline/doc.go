// Package pipeline is the course of a pull request, from the webhook that announces it to the result
// of its apply. This package has what all parts of it share: messages, the record of a pull request,
// and the interfaces of the stores. Read this page first. It takes ten minutes.
//
// # The figure
//
//	GitHub ── webhook ──> intake            Is the signature genuine? Is the repository served? Is it new?
//	                         │              One message is sent, and GitHub gets its answer within a second.
//	                         ▼
//	        [events queue, one group for each pull request]
//	                         │
//	                         ▼
//	                      dispatch          One function for each kind of message: a push, a command, a merge.
//	                         │              The gate decides. Each touched project gets a run, and a message.
//	                         ▼
//	        [plans queue, one group for each project of a pull request]
//	                         │
//	                         ▼
//	                      planrun           Checks out the merge, plans in a process of its own, saves the plan.
//	                         │              report writes the comment and the checks.
//	                         ▼
//	        [applies queue, one group for each state]
//	                         │
//	                         ▼
//	                      applyrun          The gate decides again, with the state locked. The engine applies.
//
//	reconcile, every few minutes: finds lost webhooks, dead processes and forgotten runs, and has them handled.
//
// # The walk
//
// Alice opens a pull request that changes the project network.
//
// Package intake checks the webhook's signature and sends a message of the kind [Pushed]. It reads
// nothing else, so it can answer at once.
//
// Package dispatch takes the message. Package gatefacts reads what the gate needs: the pull request, the
// permission of its author, the settings of the base branch. Package admission is the gate: a pure function
// from these facts to a decision with reasons. Package planrun then finds the projects that the trial merge
// touches. The trial merge is GitHub's own merge of the head and the base branch. For each project it writes a
// record, a runs.Run in the phase Queued, and sends a message of the kind [ToPlan].
//
// Another process takes that message. It checks out the merge and has package executor plan the project, in a
// child process with limits (package subprocess). If that takes more than a few seconds, it also records how far the
// plan is, and sends SyncComments with only that progress to write. It stores the plan, moves the run to the phase Planned, and
// sends [SyncComments]. Package report writes the status comment and the check runs, always from the records
// and never from what somebody remembers.
//
// If the base branch asks for the tests of network, another message, [ToTest], was sent with ToPlan. Its handler
// runs the tests without any rights, and writes a check run of their own.
//
// Alice comments "lockstep apply". The road is the same: intake, dispatch, gate. The run moves to ApplyQueued
// and a message of the kind [ToApply] joins the queue of the project's state. Package applyrun locks the state and
// asks the gate once more, with the facts of that moment. Then the engine applies the saved plan, and a journal
// beside the state records each change before and after it is made. Every few seconds, the process also records how
// far it is and which changes are under way. As often as GitHub's limits permit, it sends SyncComments with only
// that progress to write. The run moves to Applied.
//
// When Alice merges, plans that wait for the merge are queued for their apply. Open plans of other pull requests on
// the same state are made again and compared (package replanning): an equal plan stays approved.
//
// # The rooms
//
//	pipeline        this package: messages, pull requests, interfaces of the stores
//	intake          webhooks become messages
//	dispatch        each message goes to its handler
//	gatefacts       reads the facts that the gate decides by
//	admission       the gate; requirementrules decides the conditions of require blocks
//	planrun         a push or a command becomes runs, a run becomes a plan
//	applyrun        applies a plan, unlocks, recovers, and settles closed pull requests
//	replanning      makes a waiting plan again and compares it; openplans finds such plans
//	report          the status comment, answers and check runs; requiredcheck decides the check "lockstep"
//	integrations    hooks, notifications, deployments on GitHub, automerge
//	shadowing       plans beside another tool, and compares; shadow reads the comments of that tool
//	steps           programs of step blocks in the checkouts of plans and applies
//	drift           looks for drift, plans after applies, and writes the issues about both
//	locking, stopping    the commands "lockstep lock" and "lockstep stop"
//	runs, ledger    the record of a run with its phases; all records with their keys
//	jobs, executor  one project in a checkout: the interface, and the engine behind it
//	subprocess, buildrunner    a run in a child process; a plan or an apply in a build of AWS CodeBuild
//	reconcile       finds work that nobody would come back to
//	awsstore, localstore, tenants    the stores on AWS, in a directory, and shared by several Apps
//
// This package does not know the technology of the stores, the engine, and the language of configurations. So the
// function behind the webhook, which links it, stays small and starts quickly.
//
// # The rules
//
// The code of the pipeline keeps these rules. Each names a test that fails without it.
//
//  1. A message says only that something may have happened. It may come twice, late, or after newer ones. A handler
//     reads the present facts and can be repeated after any death. (TestEveryMessageTwice, TestDeathAtEachCall,
//     TestHistories)
//  2. One writer moves a run. A run changes its phase by a conditional write: of two workers, one succeeds and the other
//     gives up. A new head raises the run's Attempt, and whoever plans an older one drops it. (TestTakenOnce,
//     TestPushWhilePlanning)
//  3. Comments have one writer, too: messages of the events queue. Workers write results into records and send a
//     message. (TestSyncsOfManyPlans)
//  4. Every plan, apply and unlock passes the gate, whichever way it came in. Grants are those of the base branch, read at
//     that moment. A pull request grants itself nothing. (TestGate, TestGrantsAreTheBase, TestForkGrantsItselfNothing)
//  5. An apply is of a plan that somebody has seen. The comment showed the plan before the command was written, by GitHub's
//     clock, or the command names the plan by its hash. A merge applies only what was shown before it. (TestUnseenPlan,
//     TestMergedBeforeItIsShown)
//  6. A plan is what it was. Its hash is in the saved plan, in the record and in a check run that only the App writes. An apply
//     with hashes that differ is refused. A check run that projects share has the hash of each, which the process that made the
//     plan has sealed. (TestExchangedPlan, TestExchangedSharedPlan, TestSharedPlanPutBack, TestExchangedPlanByATwin,
//     TestExchangedPlanByARepeatedMessage)
//  7. A plan belongs to its files, its modules and its state. If the state was written since, the apply plans again with the
//     state locked: an equal plan goes on, a different one waits for an apply of its own. (TestSameAfterAWrite,
//     TestDifferentAfterAWrite)
//  8. The base branch decides where a state is. A record names the project that owns the address, and no other repository
//     gets it. (TestNoPullRequestMovesProjects, TestClaims)
//  9. While an applied pull request is not merged, nobody else applies to its state: the other plan could revert it.
//     (TestBlockedPlan)
//  10. Nothing is applied half and forgotten. An apply has a record before its first change. If its process dies, the next
//     one goes on from the journal, with the same lock. Three deaths without progress end it. (TestApplyThatDies,
//     TestContinueInVain)
//  11. An apply that runs out of time hands itself over ([HandOver]). It begins no more changes, and the same message starts the
//     next process, which has a higher fence: an older process that wakes up finds that and stops. (TestLongApply,
//     TestContinueTwice)
//  12. An error is returned only if another try may help. Everything else is reported where its reader looks: in the answer,
//     the status, and the check. (TestFinalApply, TestGitHubStaysDown)
//  13. A repository is its ID. Names are for people and for grants, and may belong to somebody else tomorrow.
//     (TestNamesChangeHands, TestTransferredAndBack)
//  14. The check "lockstep" of a head has the worst conclusion of all pull requests with that head, and only the App's own check
//     counts. (TestOneHeadTwoPulls, TestNobodyTurnsItGreen)
//
// # What a death means
//
//	before the run is saved       nothing happened but writes that are repeated
//	Queued, message not sent      the event comes again, finds its run, and sends the message
//	Planning                      planned again, under another number; files of the first try are swept
//	Planned, not announced        the message comes again and announces the plan
//	ApplyQueued, Applying         without an apply record nothing had begun: it begins again
//	apply record, no outcome      the next process goes on from the journal beside the state
//	Continuing                    the same, at once
//	apply record with outcome     the rest is written from there
//
// Start reading at intake.Intake.Receive, dispatch.Pipeline.Handle and admission.Decide.
package pipeline
