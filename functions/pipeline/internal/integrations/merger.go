package integrations

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Hub has those requests to GitHub's API by which pull requests are merged. A *github.FinalError is a refusal
// that stays the same until a person fixes something.
type Hub interface {
	// Land merges a pull request, if its head is still sha. The error wraps github.ErrHeadMoved if the head has
	// changed. It wraps github.ErrQueued if the pull request was added to the base branch's merge queue
	// instead.
	Land(ctx context.Context, number int, sha, method string) error
	// Reports returns the check runs of a commit.
	Reports(ctx context.Context, sha string) ([]github.Report, error)
	// DeleteBranch deletes the branch of a merged pull request. The branch's tip must still be sha, and no
	// other pull request may use the branch.
	DeleteBranch(ctx context.Context, number int, name, sha string) error
}

// A Merger merges the pull request of a message. Only one process at a time may use it.
type Merger struct {
	Facts  *gatefacts.Reader
	Report *report.Reporter
	Ledger ledger.Ledger
	Hub    Hub
}

// Merge merges the pull request if nothing else is left to do. The caller has already written the comments and
// checks.
func (m Merger) Merge(ctx context.Context) error {
	pull := m.Facts.Pull
	look, err := m.Ledger.LastLook(ctx, m.Facts.Message.Pull)
	if err != nil {
		return err
	}
	if pull.Merged {
		if err := m.reportMerged(ctx, pull.Head.SHA); err != nil {
			return err
		}
		return m.deleteBranch(ctx, look)
	}
	list, kept, err := m.applied(ctx, look)
	if err != nil {
		return err
	}
	draft := pull.Draft
	pull.Draft = false
	if !mergeDue(pull, look, list, kept) || look.Queued == pull.Head.SHA {
		return m.unwatch(ctx)
	}
	settings, err := m.Facts.Automerge(ctx)
	if err != nil || settings == nil {
		return err
	}
	if draft { // until the pull request is no draft any more
		return m.watch(ctx)
	}
	if len(look.Shadow) > 0 || look.ShadowRemoved || look.Silent {
		return nil // another tool applies some of its projects
	}
	if done, err := m.othersDone(ctx, look); err != nil || !done {
		return err
	}
	if settings.DeleteBranch {
		if err := m.recordLanding(ctx, pull.Head.SHA); err != nil {
			return err
		}
		look.Landing = pull.Head.SHA
	}
	return m.land(ctx, look, settings.Method)
}

// applied returns the runs of the pull request, and the keys of those whose last apply is unfinished and was meant for this head and
// base branch.
func (m Merger) applied(ctx context.Context, look ledger.Look) (list []runs.Run, kept map[string]bool, err error) {
	all, err := m.Ledger.Runs(ctx, m.Facts.Message.Pull)
	if err != nil {
		return nil, nil, err
	}
	kept = map[string]bool{}
	for _, s := range all {
		list = append(list, s.Run)
		last, err := m.Ledger.LastApply(ctx, s.Run)
		if err != nil {
			return nil, nil, err
		}
		kept[s.Key()] = last.Unfinished(m.Facts.Pull.Number, look.Head) && forBase(last.Into, m.Facts.Pull)
	}
	return list, kept, nil
}

// land merges the pull request by the method, and deletes its branch where that is wanted. A refusal that stays is reported.
func (m Merger) land(ctx context.Context, look ledger.Look, method string) error {
	pull := m.Facts.Pull
	err := m.Hub.Land(ctx, pull.Number, pull.Head.SHA, method)
	var final *github.FinalError
	switch {
	case errors.Is(err, github.ErrQueued):
		return m.recordQueued(ctx, pull.Head.SHA)
	case errors.Is(err, github.ErrHeadMoved), errors.Is(err, github.ErrNotFound):
		return nil // the next look at the pull request decides
	case errors.As(err, &final):
		if err := m.watch(ctx); err != nil {
			return err
		}
		no := comment.MergeRefused{Method: method, Why: final.Why, Remedy: final.Remedy}
		if now, err := m.Facts.Hub.MergeResult(ctx, pull.Number); err == nil && now.Conflict {
			no.Remedy = "It conflicts with the base branch: merge that into this one, or rebase it, and push."
		}
		return m.reportRefusal(ctx, pull.Head.SHA, no)
	case err != nil:
		return err
	}
	return m.deleteBranch(ctx, look)
}

// watch records a [pipeline.Watch]. So Lockstep tries to merge once an hour, and after each event that may have
// removed the reason for GitHub's refusal.
func (m Merger) watch(ctx context.Context) error {
	pull := m.Facts.Pull
	tip, err := m.Facts.Hub.Tip(ctx, pull.Base.Ref)
	if err != nil {
		return err
	}
	w := pipeline.Watch{Pull: m.Facts.Message.Pull, Head: pull.Head.SHA}
	_, err = m.Ledger.Change(ctx, w.Key(), func(old []byte) ([]byte, error) {
		if old != nil {
			if w, err = pipeline.DecodeWatch(pipeline.Record{Key: w.Key(), Value: old}); err != nil {
				return nil, err
			}
		}
		w.Base, w.At, w.Merge = tip, time.Now().UTC().Truncate(time.Hour), true
		if next := pipeline.Encode(w); !bytes.Equal(next, old) {
			return next, nil
		}
		return nil, ledger.ErrAsIs
	})
	return err
}

// unwatch ends the attempts to merge once an hour, if an hour has passed and nothing can be merged. An event
// that makes a merge possible later causes another attempt anyway.
func (m Merger) unwatch(ctx context.Context) error {
	if !m.Facts.Message.Decided() {
		return nil
	}
	w := pipeline.Watch{Pull: m.Facts.Message.Pull, Head: m.Facts.Pull.Head.SHA}
	_, err := m.Ledger.Change(ctx, w.Key(), func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, ledger.ErrAsIs
		}
		w, err := pipeline.DecodeWatch(pipeline.Record{Key: w.Key(), Value: old})
		if err == nil && !w.Merge {
			err = ledger.ErrAsIs
		}
		w.Merge = false
		return pipeline.Encode(w), err
	})
	return err
}

// othersDone reports whether the deployments that work for other projects of the pull request have nothing left
// to do. It reads their checks on the head. Each deployment writes its own check before it reads the others, so
// the last deployment finds that all others are done.
func (m Merger) othersDone(ctx context.Context, l ledger.Look) (bool, error) {
	if len(l.Elsewhere) == 0 {
		return true, nil
	}
	all, err := m.Hub.Reports(ctx, l.Head)
	if errors.Is(err, github.ErrNotFound) || errors.As(err, new(*github.FinalError)) {
		return false, nil // people merge it
	}
	if err != nil {
		return false, err
	}
	var names []string
	for _, x := range l.Elsewhere {
		names = append(names, x.By)
	}
	v, err := gatefacts.DeploymentChecksOf(ctx, m.Facts, names, all)
	return err == nil && !slices.ContainsFunc(names, func(name string) bool { return !v.Done(name) }), err
}

// deleteBranch deletes the branch of a pull request that Lockstep has merged, if the settings say so. It keeps
// the branch if Lockstep plans pull requests into it.
func (m Merger) deleteBranch(ctx context.Context, l ledger.Look) error {
	head := m.Facts.Pull.Head
	if l.Landing == "" || l.Landing != head.SHA {
		return nil
	}
	stays, err := gatefacts.BranchPlanned(ctx, m.Facts, head.Ref)
	if err != nil {
		return err
	}
	if stays { // others are merged into it
		return m.recordLanding(ctx, "")
	}
	err = m.Hub.DeleteBranch(ctx, m.Facts.Pull.Number, head.Ref, head.SHA)
	// The merge has succeeded. So it does not matter if GitHub refuses to delete the branch: people see that on
	// GitHub.
	if err != nil && !errors.As(err, new(*github.FinalError)) {
		return err
	}
	return m.recordLanding(ctx, "")
}

// reportRefusal writes a comment that GitHub refuses the merge. There is one comment for each head.
func (m Merger) reportRefusal(ctx context.Context, sha string, no comment.MergeRefused) error {
	if err := m.Report.Reply(ctx, ledger.AutomergeAnswer+"-"+sha, report.NewReply("merge", no)); err != nil {
		return err
	}
	return m.Report.Sync(ctx)
}

// reportMerged adds to the comment about GitHub's refusal that the pull request is now merged. It does nothing
// if there is no such comment.
func (m Merger) reportMerged(ctx context.Context, sha string) error {
	name := ledger.AutomergeAnswer + "-" + sha
	rec, err := m.Ledger.Records.Get(ctx, ledger.AnswerDir(m.Facts.Message.Pull)+"/"+name)
	if err != nil || rec.Version == "" {
		return err
	}
	found := false
	err = m.Report.ChangeAnswer(ctx, name, func(a *ledger.Answer) {
		for i, x := range a.Replies {
			r, err := comment.UnmarshalReply(x.Data)
			no, is := r.(comment.MergeRefused)
			if err != nil || !is || no.Merged {
				continue
			}
			no.Merged, found = true, true
			a.Replies[i], a.Synced = report.NewReply(x.ID, no), false
		}
	})
	if err != nil || !found {
		return err
	}
	return m.Report.Sync(ctx)
}

// recordQueued records that Lockstep has added a head to the merge queue. If somebody removes it from the
// queue, or if the checks of its merge group fail, Lockstep does not add it once more.
func (m Merger) recordQueued(ctx context.Context, sha string) error {
	return m.Ledger.ChangeLook(ctx, m.Facts.Message.Pull, func(l *ledger.Look) { l.Queued = sha })
}

// recordLanding records that Lockstep is about to merge the head sha and to delete its branch. sha "" records
// that both are done.
func (m Merger) recordLanding(ctx context.Context, sha string) error {
	return m.Ledger.ChangeLook(ctx, m.Facts.Message.Pull, func(l *ledger.Look) { l.Landing = sha })
}
