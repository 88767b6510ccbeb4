package notes

import "github.com/lockstep-iac/lockstep/functions/comment/markdown"

// InBuilds is the remedy for an apply that was cut at the end of a function's time, where the deployment has builds.
func InBuilds() string {
	return "The time of a function has cut this apply: a call that takes longer never comes to its end there. With " + markdown.Code(`runner = "codebuild"`) +
		" in the project's environment, in " + markdown.Code("lockstep.hcl") + " on the base branch, an apply has hours in one process."
}
