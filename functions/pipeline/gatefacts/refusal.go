package gatefacts

import (
	"errors"
	"syscall"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github"
)

// FinalRefusal returns a refusal if err stays the same until a person fixes something. The message is then
// finished. It returns any other error unchanged.
func FinalRefusal(err error) (admission.Decision, error) {
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

// DiskFull returns a *github.FinalError if err means that the disk is full, and any other error unchanged. Use
// it only for plans: an apply that was begun must be continued, by a process with enough space.
func DiskFull(err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return &github.FinalError{
		Why:    "the disk is full: there is no room for the files of the repository",
		Remedy: "An operator of Lockstep has to give it a larger disk: for functions, raise the parameter `EphemeralStorage` of the template (in MB). Then comment `lockstep plan`. Or leave files that no plan needs out of GitHub's archive, with `export-ignore` in `.gitattributes`.",
	}
}

// FinalReply is like [FinalRefusal], but returns the refusal as the reply to a command.
func FinalReply(c comment.Command, project string, err error) (comment.Reply, error) {
	d, err := FinalRefusal(err)
	if err != nil {
		return nil, err
	}
	return Refused(c, project, d), nil
}

// RefusedElsewhere returns the reply to a command for projects for which only other deployments work.
func RefusedElsewhere(c comment.Command, all []ledger.Elsewhere) comment.Reply {
	var no reasons.List
	for _, x := range all[:min(len(all), maxElsewhere)] {
		no = append(no, reasons.ServedElsewhere{Project: x.Project, By: x.By})
	}
	return comment.Refused{Command: c, Project: c.Project, Reasons: no}
}

// RefusedFormer returns the reply to a button on the page of a commit that is no longer the head.
func RefusedFormer(c comment.Command, commit, head string) comment.Reply {
	return Refused(c, c.Project, admission.Refusal(reasons.FormerCommit{Command: c, Commit: commit, Head: head}))
}

// maxElsewhere is the maximum number of projects in the reply of [RefusedElsewhere]. The patterns in a command
// may select many.
const maxElsewhere = 5

// Refused returns the reply to a command that a decision has refused, with the decision's reasons.
func Refused(c comment.Command, project string, d admission.Decision) comment.Refused {
	return comment.Refused{Command: c, Project: project, Reasons: d.Reasons}
}

// NotRecorded returns the refusal of a command whose audit record the store refuses. It returns any other error
// unchanged.
func NotRecorded(c comment.Command, label string, err error) (comment.Reply, error) {
	if errors.Is(err, pipeline.ErrRefused) {
		return Refused(c, label, admission.Refusal(reasons.NotRecorded{Problem: err.Error(), Again: c.String()})), nil
	}
	return nil, err
}
