// Package subprocess gives each run a process of its own for work that a pull request's files can break:
// reading checkouts, trying policies, planning, applying and unlocking. [Engine] is the parent's side; it
// implements jobs.Engine and jobs.Projects. [Main] is the child's side, where another jobs.Engine does the
// work.
//
// The parent keeps to itself the App's key, the credentials of queues, records and artifacts, and the webhook's
// secret. The child has only what its run needs: the job, the credentials of its state, and for its programs
// those of its resources. The child requests everything else from the parent:
//
//	permit       may the plan be applied to this state?
//	environment  of programs; from here on the parent assumes that they run
//	secrets      of the job's environment
//	rescue       store a state that its backend refused
//	fetch        a repository with modules; the parent checks the permission
//	package      the address of a provider's package in the store, for some minutes
//	keep         put a downloaded package into the store; refused once programs run
//	progress     of an apply, for people
//	memory       data for later children; refused once programs run
//
// The parent trusts only the form of a child's messages. Sizes are limited, and answers concern only the
// child's own job.
//
// The death of a child is the result of its run: the report names the limit and the place. All processes that
// the child had started are gone by then: see package confine.
//
// This package does not know engines and GitHub. Start reading at [Engine] and [Main].
package subprocess
