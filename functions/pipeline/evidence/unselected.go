package evidence

import (
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Unselected is the reason that a command is for none of a pull request's runs: those that there are, if it names others, and
// otherwise nothing.
func Unselected(c comment.Command, all []ledger.Versioned, nothing reasons.Reason) reasons.Reason {
	no := reasons.NoneSelected{Command: c}
	for _, s := range all {
		if s.Phase != runs.Dropped && s.Phase != runs.Superseded {
			no.Projects = append(no.Projects, s.Project)
		}
	}
	if c.Everything() || len(no.Projects) == 0 {
		return nothing
	}
	return no
}

// Gone is the reason that a command is for those of a pull request's runs alone whose projects the base branch has removed; nil
// if it is for none of them.
func Gone(c comment.Command, all []ledger.Versioned, head string) reasons.Reason {
	var no reasons.RemovedByBase
	for _, s := range all {
		if s.Gone && s.Head == head && c.Selects(s.Project, s.Dir, s.Workspace) {
			no.Projects = append(no.Projects, s.Project)
		}
	}
	if len(no.Projects) == 0 {
		return nil
	}
	return no
}
