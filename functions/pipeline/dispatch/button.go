package dispatch

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// pressed returns the command of a button as it is carried out; refused is the reply if it is not. A page whose commit is not
// the head any more shows nothing of what the command would be about: but an apply goes on after a push, on the page where it
// was begun, and one that an earlier try of the message has queued is sent on its way. In a pull request from a fork, a button for a plan names the commit on whose page it is, if somebody has named it
// before.
func (co *commands) pressed(ctx context.Context, c comment.Command) (_ comment.Command, refused comment.Reply, err error) {
	at, pull := co.Evidence.Message.Head, co.Evidence.Pull
	if at == "" {
		return c, nil, nil
	}
	all, err := co.Ledger.Runs(ctx, co.Evidence.Message.Pull)
	if err != nil {
		return c, nil, err
	}
	if at == pull.Head.SHA {
		named := func(s ledger.Versioned) bool { return s.Named == at && s.Meant(c) }
		if pull.Open && pull.Fork() && c.Verb == comment.Plan && c.Project != "" && slices.ContainsFunc(all, named) {
			c.Commit = at
		}
		return c, nil, nil
	}
	goesOn := func(s ledger.Versioned) bool { return s.Head == at && s.Phase.UnderWay() && s.Meant(c) }
	begun := func(s ledger.Versioned) bool { return runs.Queues(s.Run, co.Evidence.Message.ID) }
	if c.Verb == comment.Stop && slices.ContainsFunc(all, goesOn) || c.Verb == comment.Apply && slices.ContainsFunc(all, begun) {
		return c, nil, nil
	}
	return c, evidence.RefusedFormer(c, at, pull.Head.SHA), nil
}
