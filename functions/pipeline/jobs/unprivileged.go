package jobs

import "github.com/lockstep-iac/lockstep/functions/comment/grammar"

// Unprivileged returns the job for planning a fork's commit. whole is a job with the rights of the repository:
// only those fields are copied from it that give no rights. s is the snapshot of the state. If somebody adds a
// field to Job later, it is not copied.
func Unprivileged(whole Job, s Snapshot) Job {
	return Job{
		Checkout: whole.Checkout, Dir: whole.Dir, Project: whole.Project, Workspace: whole.Workspace,
		App: whole.App, Repo: whole.Repo, Number: whole.Number, Head: whole.Head, Owner: whole.Owner, Actor: whole.Actor,
		InputValues: InputValues{Language: whole.Language, VarFiles: whole.VarFiles, Variables: whole.Variables, Inputs: whole.Inputs}, // which are in the fork
		Options: grammar.Options{
			Targets: whole.Options.Targets, Excludes: whole.Options.Excludes, Replaces: whole.Options.Replaces,
			Variables: whole.Options.Variables, Destroy: whole.Options.Destroy, Invoke: whole.Options.Invoke, NoRefresh: true,
		},
		Judges: Judges{Stateful: whole.Stateful}, // for people
		Grants: whole.Grants.Locked(), Snapshot: &Snapshot{State: s.State, ID: s.ID},
	}
}

// ForTests returns the job for the tests of a project. Tests have no rights, like the plan of a fork's commit.
// If the commit is not in a fork, its providers and modules are those that the base branch grants for its plan,
// but no program of the pull request runs.
func ForTests(whole Job, fork bool) Job {
	j := Unprivileged(whole, Snapshot{})
	j.Options, j.Inputs = grammar.Options{}, nil
	if !fork {
		j.Grants = whole.Grants.WithoutPrograms()
		j.Installation, j.PrivateModules = whole.Installation, true
	}
	return j
}
