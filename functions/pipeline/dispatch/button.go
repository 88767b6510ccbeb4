package dispatch

import (
	"cmp"
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// pressed returns the command of a button that was pressed. If the command is refused, it returns the reply
// refused instead. A command is refused if its button is on the page of a commit that is no longer the head,
// because that page does not show what the command would do. There are two exceptions:
//   - A stop is accepted while the apply of that commit is in progress.
//   - An apply is accepted if an earlier attempt at this message has queued it.
//
// In a pull request from a fork, the plan button adds the commit of its page to the command, if a person has
// already named this commit in a command, for the project or for all projects.
func (co *commands) pressed(ctx context.Context, c comment.Command) (_ comment.Command, refused comment.Reply, err error) {
	at, pull := co.Facts.Message.Head, co.Facts.Pull
	if at == "" {
		return c, nil, nil
	}
	all, err := co.Ledger.Runs(ctx, co.Facts.Message.Pull)
	if err != nil {
		return c, nil, err
	}
	if n := co.Facts.Message.Shared; n > 0 {
		c = ofShared(c, all, at, n)
	}
	if at == pull.Head.SHA {
		named := slices.DeleteFunc(slices.Clone(all), func(s ledger.Versioned) bool { return s.Spec.Named != at || !s.SelectedBy(c) })
		if !pull.Open || !pull.Fork() || c.Verb != comment.Plan || len(named) == 0 {
			return c, nil, nil
		}
		if c.Project == "" {
			l, err := co.Ledger.LastLook(ctx, co.Facts.Message.Pull)
			named = slices.DeleteFunc(named, func(s ledger.Versioned) bool { return !runs.CountedAtHead(s.Run, at) })
			if err != nil || len(named) < l.Projects {
				return c, nil, err
			}
		}
		c.Commit = at
		return c, nil, nil
	}
	goesOn := func(s ledger.Versioned) bool { return s.Spec.Head == at && s.Phase.UnderWay() && s.SelectedBy(c) }
	begun := func(s ledger.Versioned) bool { return runs.QueuedBy(s.Run, co.Facts.Message.ID) }
	if c.Verb == comment.Stop && slices.ContainsFunc(all, goesOn) || c.Verb == comment.Apply && slices.ContainsFunc(all, begun) {
		return c, nil, nil
	}
	return c, gatefacts.RefusedFormer(c, at, pull.Head.SHA), nil
}

// ofShared returns a command for the projects that share a check run with the number n at a head. It selects no project if
// there are none any more.
func ofShared(c comment.Command, all []ledger.Versioned, head string, n int) comment.Command {
	var names []string
	for _, s := range all {
		if s.Spec.Head == head && s.Spec.Shared.Number == n {
			names = append(names, s.Project)
		}
	}
	c.Project = runs.SharedPattern(names)
	return c
}

// rerun handles a request to run the checks of a commit once more, if GitHub names no pull request for it. That
// is so for commits in forks. rerun sends the command to each open pull request whose head, in the records, is
// this commit.
func (t *task) rerun(ctx context.Context) error {
	numbers, err := report.PullsAt(ctx, t.report, t.message.Head)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		m := t.message.ForPull(n)
		l, err := t.ledger.LastLook(ctx, m.Pull)
		if err != nil {
			return err
		}
		if l.Closed || cmp.Or(l.GivenUp, l.Head) != m.Head {
			continue
		}
		if err := t.queue.Send(ctx, m); err != nil {
			return err
		}
	}
	return nil
}
