// Package integrations is all that a pull request sets off outside of its plans and applies: the hooks of a team's own, notifications, records of
// deployments on GitHub, and the merge once everything is applied.
//
//	Hooks     calls the programs of the base branch before and after a plan or an apply
//	Teller    notifies chats and webhooks of outcomes
//	Recorder  records applies as deployments of GitHub
//	Merger    merges the pull request, where the settings of the base branch ask for it
//
// The functions mergeDue and deploymentDue decide, from the records; they are pure. What was done is recorded, so that a death in between
// repeats it, or finds it done.
//
// The package refuses to know the meaning of a plan, and of a hook's answer. Start at the type of what you look for.
package integrations
