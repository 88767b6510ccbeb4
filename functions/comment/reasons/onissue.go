package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// IssueClosed reports that the issue about a project is closed.
type IssueClosed struct{ Project string }

func (r IssueClosed) words() (text, remedy string) {
	return "The issue is closed.", fmt.Sprintf("Reopen it, then comment %s or %s. Or plan %s in a pull request.", markdown.Code("lockstep drift accept"), markdown.Code("lockstep drift revert"), markdown.Code(r.Project))
}

// NotOnIssue reports a command that Lockstep does not carry out on an issue. Project is the project of the issue.
type NotOnIssue struct {
	Command grammar.Command
	Project string
}

func (r NotOnIssue) words() (text, remedy string) {
	return fmt.Sprintf("Lockstep does not carry out %s on this issue. The issue takes few commands, and for %s only.", markdown.Code(r.Command.String()), markdown.Code(r.Project)),
		fmt.Sprintf("On this issue, comment %s, %s or %s. For anything else, open a pull request.", markdown.Code("lockstep drift accept"), markdown.Code("lockstep drift revert"), markdown.Code("lockstep apply"))
}

// OnlyOnIssue reports a command on a pull request that is for issues only.
type OnlyOnIssue struct{ Command grammar.Command }

func (r OnlyOnIssue) words() (text, remedy string) {
	instead := grammar.Command{Verb: grammar.Plan, Project: r.Command.Project, Dir: r.Command.Dir, Workspace: r.Command.Workspace, Failed: r.Command.Failed}
	if r.Command.Verb != grammar.DriftRevert {
		instead.Verb = grammar.Drift
	}
	return fmt.Sprintf("%s works only on the issues that Lockstep opens about drift.", markdown.Code("lockstep "+string(r.Command.Verb))),
		fmt.Sprintf("On a pull request, comment %s.", markdown.Code(instead.String()))
}
