// Package integrations has the effects of a pull request outside of its plans, applies and comments.
//
//	Hooks     calls the programs of the base branch before and after a plan or an apply
//	Teller    sends notifications about results to chats and webhooks
//	Recorder  records applies as deployments on GitHub
//	Merger    merges the pull request, if the settings of the base branch ask for it
//
// The functions mergeDue and deploymentDue decide from the records, and are pure. Each action is recorded. If a
// process dies, the next one repeats the action, or finds that it was done.
//
// The package does not know the meaning of a plan or of a hook's answer. Start reading at the type that you
// need.
package integrations
