package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// fork refuses everything for a pull request from a fork, except a plan of the commit that another person has
// named. After the merge the rule refuses nothing, because the commit is part of the base branch.
func fork(q *Request) reasons.Reason {
	merged := q.afterMerge()
	switch {
	case !q.Pull.Fork():
		return nil
	case merged && (q.Verb == comment.Plan || q.Run.Spec.AfterMerge && !runs.Preview(q.Run)):
		return nil
	case !q.Forks && q.Verb == comment.Plan:
		return reasons.FromFork{}
	case !q.Forks:
		return reasons.FromFork{Verb: q.Verb}
	case q.Verb == comment.Stop:
		return nil
	case q.Verb == comment.Plan:
		return unnamed(q)
	}
	return reasons.ForkOnlyPlanned{Verb: q.Verb}
}

// unnamed refuses unless the head is exactly the commit that a person other than the pull request's author has
// named. The whole ID is compared, because somebody can create a commit whose ID begins in the same way.
func unnamed(q *Request) reasons.Reason {
	named, head := q.Run.Spec.Named, q.Pull.Head.SHA
	queued := q.Run.Phase == runs.Queued || q.Run.Phase == runs.Planning
	switch {
	case named == "":
		return reasons.ForkUnnamed{Head: head}
	case named != head, queued && q.Run.Spec.Head != named:
		return reasons.OtherCommit{Named: named, Head: head}
	case q.Actor == q.Pull.Author:
		return reasons.OwnFork{Login: q.Actor}
	}
	return nil
}

// otherCommit refuses a command that names a commit which is not the head.
func otherCommit(q *Request) reasons.Reason {
	if named, head := q.Run.Spec.Named, q.Pull.Head.SHA; named != "" && named != head && !q.Pull.Fork() {
		return reasons.OtherCommit{Named: named, Head: head}
	}
	return nil
}
