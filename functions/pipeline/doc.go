// Package pipeline is the story of a pull request, from the webhook that
// announces it to the result of its apply.
//
// # The road
//
//	webhook          Receive   a true delivery of a repository that is served, once, becomes a
//	                           message; answered at once
//	events queue     pushed    gate -> trial merge -> projects -> runs Queued, checks, messages to plans
//	                           (policies that it changes are compiled: see rehearsing)
//	                 rerun     each pull request of the commit, by the records: commanded
//	                 commanded answered before? too old, or too many? -> each line: the same, or
//	                           runs ApplyQueued, or unlock, or help
//	                 closed    plans that wait for the merge go to applies; the rest is dropped and deleted
//	                 settled   an apply's pull request is closed: messages for the open plans on its state
//	                 tell      applies that waited for others go on, and the comments are made again from
//	                           the records
//	plans queue      plan      checkout of the merge -> Engine.Plan -> kept -> Planned, check, tell
//	                 check     an open plan, made again and compared: it stays, or another takes its place;
//	                           one that failed is queued again
//	applies queue    apply     gate -> the files still the same? -> Engine.Apply, which asks the gate
//	                           again with the state locked -> Applied, check, tell; pushed,
//	                           if the head moved meanwhile
//	dead letters     Abandon   the task has failed, and people are told
//
// # The house
//
//	pipeline    this package: messages, pull requests, and the sockets that keep things
//	intake      webhooks in; strangers and replays stay out
//	dispatch    a message or command to the chapter that handles it
//	planrun     a chapter: a push or command becomes runs, a run becomes a plan
//	applyrun    a chapter: a plan is applied; locks are released; a closed pull request is settled
//	building    hands an apply to a build that has hours, and looks at it
//	report      status, answers and check runs, made from records
//	checking    the check run of a head, from the standings of its projects
//	facts    everything that the gate decides by, read just before
//	openplans   finds the plans that wait on a state to which another pull request was applied
//	rechecking  a chapter: such a plan is made again, and compared
//	stopping    "lockstep stop": orders, and the work that looks for them
//	runs        the record of a run, and the rules: the gate
//	ledger      the records: runs, answers, leases, the last apply to each state
//	jobs        one project in a checkout, for an engine; executor is the engine
//	reconcile   finds the webhooks, heads, comments, merges and runs that nobody would come back to
//	awsstore, localstore   the sockets on AWS, and in a directory
//	sharing     the sockets for several Apps, each with a part of its own
//
// Everything that decides is pure. Package admission is the gate: it decides every plan, apply
// and unlock, whichever way it came in, and returns its reasons. A Phase of package runs knows its
// successors. Everything that acts is behind a small interface. This package refuses to
// know the technology behind them, the engine, and the language of configurations: the
// webhook's function, which links this package, is small.
//
// # One writer
//
// A runs.Run, the record of one project of one pull request, moves from phase to phase by
// conditional writes: of two workers, one moves it and the other gives up. A new head
// raises its Attempt: whoever plans an older one finds that, drops it, and stops a plan
// in the making. Comments are written by messages of the events queue only, which
// handles those of a pull request one after the other; workers write their results
// into records (runs, and answers) and send a message to tell it.
//
// # The meaning of a death
//
// A message may come twice, late, or after newer ones, and a process may die at any
// point. So nothing is believed of a message but that it came, and every step can be
// done again:
//
//	before the run is saved       nothing happened but writes that are repeated: checks, answers
//	Queued, message not sent      the event comes again, finds its own run, and sends it
//	Planning                      planned again, under another number: the artifacts of the
//	                              first belong to nobody, and are swept
//	Planned, nothing announced    the message comes again and announces it
//	ApplyQueued, Applying         with no apply record nothing was begun, and it begins again
//	apply record, no outcome      the next process goes on from the journal beside the state;
//	                              after some deaths in which it did not get on the run has failed
//	Continuing                    the same, at once: the process before has handed over
//	apply record with one         the rest is written down from there
//
// # An apply longer than a process
//
// Near the end of its time a process begins no more changes, asks providers to end the calls under
// way, kills what is left, and writes into the apply record that it rests. The message
// itself is what it hands over (HandOver): it comes again at once, first of its group, and the next
// process takes the record with a higher fence, and the state's lock as the same run. So three
// hours of changes are a dozen processes, one answer and one check, which tell how far it is. A
// process that is killed before it rests costs the wait until its certain end. Whoever takes
// the record is the only one to write it from then on: a message that is handed over twice, or a
// process that wakes up late, finds a higher fence and does nothing.
//
// Where the base branch's environment names a build as the runner, and the deployment has it, the same message is handed to
// one (package buildrunner): its process has the same lease and fence, and an end that is hours away. The message keeps its
// place, and whoever receives it looks at the build.
//
// The gate is not asked again: the apply was allowed for its content, and half of it is worse than
// none or all. "lockstep stop" ends it, and so does the end of the service for its repository. A
// stop ends it between two changes, releases the lock, and leaves the plan with its rest: another
// "lockstep apply" goes on, past the whole gate again, and a new plan takes its place.
// Where no process gets on, three attempts are the end.
//
// Where a project depends on others of the same pull request, its apply is accepted before its time, and waits in the
// record of its run until those are applied, or until one of them will not be (runs.Order, applyrun.Waves). One that is
// destroyed waits for those that depend on it instead.
//
// A check of an open plan that dies is done again, by its message or the janitor's: it changes nothing
// that an apply believes, which plans again itself with the state locked.
//
// The lease of a message has the time of its process' certain end; whoever finds one that is
// over calls Abandon. A handler returns an error only if doing the same again may help:
// a *github.FinalError or a *StateError is answered, and with it
// the message is done. Everything that a person has to mend is reported where they look: in
// the answer, in the status, and in the check runs.
//
// # A repository that moves
//
// A repository is its ID: records, messages and requests to GitHub have it, and names are for people and for grants. Its name and
// the installation that has it are those of the last look (gatefacts.Reader.Look), whatever a message or record says, and so
// is the question whether it is served. Where a message comes to nobody, since the repository is another account's by now, it
// is handled there if the pull request is known here, and again where it is back by then; whatever else is lost on the way the janitor
// finds under the new name. A message that came to nobody is kept, and sent again once the repository is within reach (ledger.Undeliverable),
// but for an apply that is not begun, which is told as not applied.
//
// # The bonds of a plan
//
// An apply is of the plan that its author can have seen: our comment showed it before theirs
// was written, by GitHub's clock, or theirs names it by its hash. A merge applies the plan that was shown before it; one that it
// has overtaken is dropped, and what was merged is planned of the base branch (runs.Overtaken), and so is one without changes whose files
// the merge has changed. One that lacks nothing but what the clock or people bring waits after the merge (runs.Run.Late), for the same plan
// of the same files: it is asked for again with each event of its pull request and by the janitor, which has a list of such ones, and the
// base branch decides as it is then. The hash is in three
// hands, and in the way of an apply if they do not agree: the saved plan's own, the
// record's, where it is over the named parts of the plan (runs.PlanParts), and that in the check run on GitHub, which only our App writes and which is
// never changed to follow a record. A plan is of a merge: GitHub's
// trial merge of a named pair, the head and the tip of the base branch. It belongs to the
// head, to the files that it depends on, to the remote modules as they were fetched,
// and to a state: its lineage, serial and version.
// It is applied where the files are the same still, merged into the base branch as it is
// now, or in the commit that the pull request became; that it is another commit does not
// matter. Where the state was written since, or blocks of the configuration that the plan does not
// depend on have changed, or the version of Lockstep or a provider's package, the apply makes the plan
// again with the state locked, and package comparing compares it: the same plan is applied under
// the same approval, and its hash is in the check run beside the approved one's; another one takes
// the place of the plan, with the difference, and waits for an apply of its own (admission.Decision.PlanAgain), and for approvals of
// its own, where they are required (runs.Run.Replaced). Grants are read at the base commit, as it is when it is planned, and
// again when it is applied; and the base is the default branch, or one that the default
// branch's settings name: any other could be its author's own. While a pull request that
// was applied is not merged, others on the same state can be planned, but not applied:
// they would revert it.
//
// The address of a state, and its locks, are those of the base commit, too (admission.PlaceFor):
// a pull request's own backend block counts as far as it is the same, or as the base
// commit allows it. Where a plan moves the state, applies and locks at the address that it leaves count, too, and its own there
// (runs.Run.From), and at those that the base branch had before (runs.Run.Before). A record names the owner of an address: it is
// claimed before the first plan that reads it, or before the first apply, where the base commit does not have it yet, and
// no other repository gets it until whoever runs Lockstep gives it free (Release). Another project of the repository may come to an
// address that the owner has left, and destroys nothing that the state still has (admission.Placing.Destroys); nor does the removal of the
// owner from then on. The base branch
// is asked once more when the state is locked; of a project that a merge into it has removed its last commit
// that had it is the answer (runs.Had).
//
// Each head has a check run "lockstep", which a branch rule can require, and each project one beside
// it. A check run belongs to a commit: where two pull requests have the same head, each
// check has the worst conclusion of both (requiredcheck.Head, runs.CheckRecord), and one that is merged holds no open one. The former has one
// writer for each pull request, as its comments have, and a record of all pull requests with that head.
//
// Start at intake.Intake.Receive, dispatch.Pipeline.Handle and admission.Decide.
package pipeline
