package dispatch

import (
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

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

// unable answers a command that cannot be carried out for good; any other error stays
// one.
func unable(c comment.Command, project string, err error) (comment.Reply, error) {
	why, is := final(err)
	if !is {
		return nil, err
	}
	return comment.Refused{Command: c, Project: project, Reasons: []comment.Reason{why}}, nil
}

// impossible is the decision about a plan or an apply that cannot be made for good; any
// other error stays one.
func impossible(err error) (runs.Decision, error) {
	why, is := final(err)
	if !is {
		return runs.Decision{}, err
	}
	return runs.Decision{Reasons: []runs.Reason{{Rule: runs.NotToBeHad, Reason: why}}}, nil
}
