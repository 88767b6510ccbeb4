package jobs

import "github.com/lockstep-iac/lockstep/functions/comment/grammar"

// Unprivileged returns the job of a fork's commit: of a whole one, which has the rights of the repository, the parts that give
// nobody any, and the snapshot of a state. What a later Job has besides is no part of it.
func Unprivileged(whole Job, s Snapshot) Job {
	return Job{
		Checkout: whole.Checkout, Dir: whole.Dir, Project: whole.Project, Workspace: whole.Workspace,
		App: whole.App, Repo: whole.Repo, Number: whole.Number, Head: whole.Head, Owner: whole.Owner, Actor: whole.Actor,
		VarFiles: whole.VarFiles, Variables: whole.Variables, Inputs: whole.Inputs, // which are in the fork
		Options: grammar.Options{
			Targets: whole.Options.Targets, Excludes: whole.Options.Excludes, Replaces: whole.Options.Replaces,
			Variables: whole.Options.Variables, Destroy: whole.Options.Destroy, NoRefresh: true,
		},
		Grants: whole.Grants.Locked(), Snapshot: &Snapshot{State: s.State, ID: s.ID},
	}
}
