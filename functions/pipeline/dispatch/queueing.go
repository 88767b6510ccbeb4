package dispatch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A queuer handles the merge groups (of GitHub's merge queue) that contain a message's pull request.
type queuer struct {
	Facts  *gatefacts.Reader
	Report *report.Reporter
	Ledger ledger.Ledger
	Queue  pipeline.Queue
}

// Group handles the webhook about a merge group. A pull request is in one group at a time.
func (q *queuer) Group(ctx context.Context) error {
	m := q.Facts.Message
	if err := q.Facts.Look(ctx); err != nil || !q.Facts.Pull.Open {
		return err
	}
	now, err := gatefacts.MergeGroup(ctx, q.Facts)
	if err != nil {
		return err
	}
	l, err := q.Ledger.LastLook(ctx, m.Pull)
	if err != nil || l.Silent {
		return err // nobody waits for a check of Lockstep
	}
	for _, was := range l.Groups {
		if was == now.SHA {
			continue
		}
		if err := q.groups().End(ctx, m.Pull, was); err != nil {
			return err
		}
	}
	if now.SHA == "" {
		return errors.Join(q.Report.Sync(ctx), q.awaitGroup(ctx, now.SHA))
	}
	more, err := q.notPlanned(ctx, now, l)
	if err != nil {
		return err
	}
	if err := q.groups().Add(ctx, ledger.Group{Pull: m.Pull, SHA: now.SHA, Head: q.Facts.Pull.Head.SHA, By: now.By, Behind: now.Behind, More: more}); err != nil {
		return err
	}
	if err := q.Report.Grouped(ctx, now.SHA); err != nil {
		return err
	}
	return errors.Join(q.syncAhead(ctx, now), q.replanForMerge(ctx), q.awaitGroup(ctx, now.SHA))
}

// notPlanned returns the targets of projects that the pull request changes in its merge group, but that were
// not planned for its head. Nobody has seen what the merge would change in them. There are no such projects if
// the group is based on the same commit as the plans.
func (q *queuer) notPlanned(ctx context.Context, now gatefacts.Group, l ledger.Look) ([]string, error) {
	if l.Head != q.Facts.Pull.Head.SHA || !l.Compared {
		return nil, nil // In this case, the check of the pull request is not a success either.
	}
	onto, err := q.Facts.Hub.Onto(ctx, now.SHA)
	if err != nil || onto == l.Base {
		_, err = gatefacts.FinalRefusal(err)
		return nil, err
	}
	touched, err := gatefacts.TouchedInGroup(ctx, q.Facts, now.SHA)
	if err != nil {
		_, err = gatefacts.FinalRefusal(err)
		return nil, err
	}
	all, err := q.Ledger.Runs(ctx, q.Facts.Message.Pull)
	return slices.DeleteFunc(touched, func(target string) bool {
		return slices.ContainsFunc(all, func(s ledger.Versioned) bool { return s.Spec.Head == l.Head && s.Target() == target }) ||
			slices.ContainsFunc(l.Elsewhere, func(x ledger.Elsewhere) bool {
				return runs.ID{Project: x.Project, Workspace: x.Workspace}.Target() == target
			})
	}), err
}

// groupWaits are delays after GitHub has reported a merge group that its API does not know yet. After the last
// delay, Lockstep stops waiting: the group may no longer exist, and a later event will report it.
var groupWaits = []time.Duration{10 * time.Second, 30 * time.Second}

// awaitGroup returns an error if GitHub's API does not know the new merge group yet. The queue then delivers
// the message once more. Without a check, the group would wait for an hour, and then leave the merge queue.
func (q *queuer) awaitGroup(ctx context.Context, now string) error {
	m := q.Facts.Message
	if m.Action != pipeline.Requested || m.MergeGroup == now {
		return nil
	}
	g, err := q.groups().Read(ctx, m.Pull, m.MergeGroup)
	if err != nil || g.Gone || g.Head != "" || g.Looks >= len(groupWaits) {
		return err // Either the group is known, or Lockstep has waited long enough for it.
	}
	n, err := q.groups().CountMiss(ctx, m.Pull, m.MergeGroup)
	if err != nil {
		return err
	}
	return &pipeline.BusyError{Until: time.Now().Add(groupWaits[min(n, len(groupWaits))-1]), Why: "GitHub does not know yet the merge group that it tells of"}
}

// syncAhead sends a message for each pull request before this one in the merge queue. The handler of such a
// message updates the check of this merge group, which contains those pull requests, too. A queue that merges
// several pull requests at once may look only at the check of its last group.
func (q *queuer) syncAhead(ctx context.Context, now gatefacts.Group) error {
	for _, n := range now.Ahead {
		about := q.Facts.Message.Pull
		about.Number = n
		if err := pipeline.Send(ctx, q.Queue, about, pipeline.Message{Kind: pipeline.Grouped}, n, now.SHA); err != nil {
			return err
		}
	}
	return nil
}

func (q *queuer) groups() ledger.Groups { return ledger.Groups{Ledger: q.Ledger} }

// replanForMerge sends messages that make new plans of the projects that the merge will apply, and that test the
// group's commit. It leaves out projects that already have a new plan for the merge group. It can be repeated.
func (q *queuer) replanForMerge(ctx context.Context) error {
	l, err := q.Ledger.LastLook(ctx, q.Facts.Message.Pull)
	if err != nil || len(l.Groups) == 0 || !q.Facts.Pull.Open {
		return err
	}
	sha := l.Groups[len(l.Groups)-1]
	g, err := q.groups().Read(ctx, q.Facts.Message.Pull, sha)
	if err != nil || g.Gone || g.Head != q.Facts.Pull.Head.SHA {
		return err
	}
	all, err := q.Ledger.Runs(ctx, q.Facts.Message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Spec.Head != g.Head {
			continue
		}
		if m, ok := s.TestMessage(); ok {
			m.MergeGroup = sha
			if err := pipeline.Send(ctx, q.Queue, s.Pull, m, s.MessageName(), s.Asked.Attempt, sha); err != nil {
				return err
			}
		}
		if !runs.CheckedInQueue(s.Run) {
			continue
		}
		p, err := q.groups().Plan(ctx, s.Run, sha)
		if err != nil {
			return err
		}
		if p.Of(s.Run) {
			continue
		}
		m := pipeline.Message{Kind: pipeline.ToQueue, Target: s.Target(), Attempt: s.Asked.Attempt, MergeGroup: sha}
		if err := pipeline.Send(ctx, q.Queue, s.Pull, m, s.MessageName(), s.Asked.Attempt, s.Artifacts.Begun, sha); err != nil {
			return err
		}
	}
	return nil
}
