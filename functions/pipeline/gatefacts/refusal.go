package gatefacts

import (
	"errors"
	"syscall"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github"
)

// Impossible is the refusal for an error that stays the same until a person has mended something:
// with it the message is done. Any other error is returned as it is.
func Impossible(err error) (admission.Decision, error) {
	var dead *jobs.DeathError
	if errors.As(err, &dead) {
		return admission.Refusal(reasons.ProcessEnded{Problem: dead.Error(), Remedy: dead.Remedy}), nil
	}
	var e *github.FinalError
	if errors.As(err, &e) {
		return admission.Refusal(reasons.Unavailable{Problem: e.Error(), Remedy: e.Remedy}), nil
	}
	return admission.Decision{}, err
}

// Room makes the error of a full disk one that a person mends; any other is returned as it is. It is for plans: an apply that
// has begun goes on in a process that has room.
func Room(err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return &github.FinalError{
		Why:    "the disk is full: there is no room for the files of the repository",
		Remedy: "An operator of Lockstep has to give it a larger disk: for functions, raise the parameter `EphemeralStorage` of the template (in MB). Then comment `lockstep plan`. Or leave files that no plan needs out of GitHub's archive, with `export-ignore` in `.gitattributes`.",
	}
}

// Unable is the same as the reply to a command.
func Unable(c comment.Command, project string, err error) (comment.Reply, error) {
	d, err := Impossible(err)
	if err != nil {
		return nil, err
	}
	return Refused(c, project, d), nil
}

// RefusedElsewhere is the reply to a command for projects that other deployments serve.
func RefusedElsewhere(c comment.Command, all []ledger.Elsewhere) comment.Reply {
	var no reasons.List
	for _, x := range all[:min(len(all), maxElsewhere)] {
		no = append(no, reasons.ServedElsewhere{Project: x.Project, By: x.By})
	}
	return comment.Refused{Command: c, Project: c.Project, Reasons: no}
}

// RefusedFormer is the reply to a button on the page of a commit that is not the head any more.
func RefusedFormer(c comment.Command, commit, head string) comment.Reply {
	return Refused(c, c.Project, admission.Refusal(reasons.FormerCommit{Command: c, Commit: commit, Head: head}))
}

// maxElsewhere is the number of such projects that are named: patterns may be for many.
const maxElsewhere = 5

// Refused is the reply with a decision's reasons.
func Refused(c comment.Command, project string, d admission.Decision) comment.Refused {
	return comment.Refused{Command: c, Project: project, Reasons: d.Reasons}
}
