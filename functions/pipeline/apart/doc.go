// Package apart does what a pull request's files can make go wrong in a process of its own,
// for each run a new one: reading checkouts, planning, applying, unlocking. [Engine] is the
// parent's side, a pipeline.Engine and pipeline.Projects; [Main] is the child's, where another
// pipeline.Engine does the work.
//
// The parent keeps what only it may have: the App's key, the credentials of queues, records
// and artifacts, the webhook's secret. The child has what this run needs: the job, the
// credentials of its state, and for its programs those of its resources. For the rest it
// asks:
//
//	permit       may the plan be applied to this state?
//	environment  of programs; from here on the parent believes that they run
//	rescue       keep a state that its backend did not take
//	fetch        a repository with modules, to which the parent knows the rights
//	memory       what later children may be told; not believed once programs run
//
// The parent believes nothing of what it reads but its shape: sizes are bounded, and answers
// are for its own job only.
//
// The death of a child is the result of its run: the report says which limit it met, and
// where it was. Whatever it had started is gone by then: see package confine.
//
// The package refuses to know engines and GitHub. Start at [Engine] and [Main].
package apart
