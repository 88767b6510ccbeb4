package notes

import "github.com/lockstep-iac/lockstep/functions/comment/markdown"

// InBuilds returns the advice for an apply that took longer than a Lambda function may run. It is for
// deployments that can run applies in CodeBuild.
func InBuilds() string {
	return "The function reached its time limit, so it cannot finish a change that takes longer. To give the apply hours, set " + markdown.Code(`runner = "codebuild"`) +
		" in the environment of the project, in " + markdown.Code("lockstep.hcl") + " on the base branch."
}
