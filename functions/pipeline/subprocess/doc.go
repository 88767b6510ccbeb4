// Package subprocess gives each run a process of its own for the work that a pull request's files can
// make go wrong: reading checkouts, trying policies, planning, applying, unlocking. [Engine] is the parent's side, a
// pipeline.Engine and pipeline.Projects; [Main] is the child's, where another pipeline.Engine does
// the work.
//
// The parent keeps to itself the App's key, the credentials of queues, records and artifacts, and
// the webhook's secret. The child has only the needs of its run: the job, the credentials of its
// state, and for its programs those of its resources. For the rest it asks:
//
//	permit       may the plan be applied to this state?
//	environment  of programs; from here on the parent assumes that they run
//	secrets      of the job's environment
//	rescue       keep a state that its backend did not take
//	fetch        a repository with modules; the parent checks the permission
//	package      the address of a provider's package in the store, for some minutes
//	keep         put a downloaded package into the store; refused once programs run
//	progress     of an apply, for people
//	memory       data for later children; refused once programs run
//
// The parent trusts only the shape of a child's messages: sizes are bounded, and answers concern
// the child's own job only.
//
// The death of a child is the result of its run: the report names the limit and the place. All
// processes that it had started are gone by then: see package confine.
//
// The package refuses to know engines and GitHub. Start at [Engine] and [Main].
package subprocess
