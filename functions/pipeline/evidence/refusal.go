package evidence

import (
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Gone says of an error that names a commit which GitHub does not have any more what to
// do: trying again does not bring it back.
func Gone(err error) comment.Reason {
	return comment.Reason{Text: fmt.Sprintf("GitHub does not have what was planned any more: %s.", comment.Code(err.Error())), Remedy: fmt.Sprintf("Comment %s for a new plan.", comment.Code("lockstep plan"))}
}

// final returns what to tell people of an error after which trying again is of no use
// before one of them has mended something: then the message is done with. is reports
// whether err is one.
func final(err error) (why comment.Reason, is bool) {
	var dead *jobs.DeathError
	if errors.As(err, &dead) {
		return comment.Reason{Text: comment.Code(dead.Error()), Remedy: dead.Remedy}, true
	}
	var e *github.FinalError
	if !errors.As(err, &e) {
		return comment.Reason{}, false
	}
	return comment.Reason{Text: comment.Code(e.Error()) + ".", Remedy: e.Remedy}, true
}

// Unable answers a command that cannot be carried out for good; any other error stays
// one.
func Unable(c comment.Command, project string, err error) (comment.Reply, error) {
	why, is := final(err)
	if !is {
		return nil, err
	}
	return comment.Refused{Command: c, Project: project, Reasons: []comment.Reason{why}}, nil
}

// Impossible is the decision about a plan or an apply that cannot be made for good; any
// other error stays one.
func Impossible(err error) (runs.Decision, error) {
	why, is := final(err)
	if !is {
		return runs.Decision{}, err
	}
	return runs.Decision{Reasons: []runs.Reason{{Rule: runs.NotToBeHad, Reason: why}}}, nil
}

// Refused is the reply that gives a decision's reasons.
func Refused(c comment.Command, project string, d runs.Decision) comment.Refused {
	r := comment.Refused{Command: c, Project: project}
	for _, x := range d.Reasons {
		r.Reasons = append(r.Reasons, x.Reason)
	}
	return r
}
