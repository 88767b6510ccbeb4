package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/requiredcheck"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// maxPage is the maximum size of a pull request's text in the check of a head, in bytes. The record of a check
// contains the texts of several pull requests.
const maxPage = 16 << 10

// Await makes the check of a new head pending, before anything is known about the head. It also completes the
// checks of earlier heads.
func (rp *Reporter) Await(ctx context.Context) error {
	l, err := rp.Ledger.LastLook(ctx, rp.Facts.Message.Pull)
	if err != nil {
		return err
	}
	if !rp.looked(l) {
		if err := rp.await(ctx); err != nil {
			return err
		}
	}
	return rp.endFormerHeads(ctx)
}

func (rp *Reporter) await(ctx context.Context) error {
	return rp.enterPage(ctx, rp.Facts.Pull.Head.SHA, comment.Head{Standing: comment.HeadAwaited}, "")
}

// GivenUp reports that all attempts to examine the head of the pull request have failed.
func (rp *Reporter) GivenUp(ctx context.Context, why comment.Reply) error {
	if err := rp.Answer(ctx, ledger.PushAnswer, why); err != nil {
		return err
	}
	if err := rp.Facts.Look(ctx); err != nil {
		return err
	}
	l, err := rp.Ledger.LastLook(ctx, rp.Facts.Message.Pull)
	if err != nil || rp.looked(l) {
		return err
	}
	if err := rp.Ledger.GiveUpLook(ctx, rp.Facts.Message.Pull, rp.Facts.Pull.Head.SHA); err != nil {
		return err
	}
	return rp.enterPage(ctx, rp.Facts.Pull.Head.SHA, comment.Head{Standing: comment.HeadGivenUp, Why: comment.Markdown(why)}, "")
}

// looked reports whether l is about the present head and base of the pull request, and about all of its
// projects.
func (rp *Reporter) looked(l ledger.Look) bool {
	p := rp.Facts.Pull
	return l.Head == p.Head.SHA && l.Into == p.Base.Ref && (!p.Open || !l.Closed && !l.Asked)
}

// headCheck writes the check of the head from the records, and completes the checks of earlier heads. The check
// is pending if the head was not examined yet, until the pull request is closed. It is also pending if the head
// has no plans yet.
//
// An issue has no such check: nothing waits for it, and its commit is one of the default branch.
func (rp *Reporter) headCheck(ctx context.Context, h head) error {
	if rp.Facts.Pull.Issue != "" {
		return nil
	}
	s, l := h.status, h.look
	if rp.looked(l) {
		if err := rp.enterPage(ctx, l.Head, h.page(), h.waiting); err != nil {
			return err
		}
		if err := rp.inGroups(ctx, h); err != nil {
			return err
		}
	}
	switch head := rp.Facts.Pull.Head.SHA; {
	case rp.looked(l):
	case !rp.Facts.Pull.Open: // nobody will look at it
		s.Head = head
		if err := rp.enterPage(ctx, head, comment.Head{Status: s, Standing: comment.HeadClosed}, ""); err != nil {
			return err
		}
	case l.GivenUp != head:
		if err := rp.await(ctx); err != nil {
			return err
		}
	}
	if !rp.looked(l) {
		if err := unlookedGroups(ctx, rp, l); err != nil {
			return err
		}
	}
	return rp.endFormerHeads(ctx)
}

// unlookedGroups completes the checks of merge groups of a head that was never examined, if the group no longer
// exists or the pull request is not open. Otherwise these checks would be pending for ever.
func unlookedGroups(ctx context.Context, rp *Reporter, l ledger.Look) error {
	for _, sha := range l.Groups {
		g, err := ledger.Groups{Ledger: rp.Ledger}.Read(ctx, rp.Facts.Message.Pull, sha)
		if err != nil {
			return err
		}
		if !g.Gone && rp.Facts.Pull.Open {
			continue
		}
		at := comment.Head{Standing: comment.HeadDequeued}
		if err := rp.enter(ctx, sha, rp.entry(at, "")); err != nil {
			return err
		}
		if err := enterGroupsBehind(ctx, rp, at, g, ""); err != nil {
			return err
		}
	}
	return nil
}

// A head is a head commit that Lockstep has examined, with the status of its projects.
type head struct {
	status    comment.Status
	look      ledger.Look
	waiting   project.Waiting // the base branch's setting
	unplanned bool            // no plan is queued yet for some projects
}

// page returns the content of the check run for a head.
func (h head) page() comment.Head {
	s := h.status
	f := requiredcheck.Facts{
		Closed: s.Closed, Refused: h.look.Refused != "", Problem: h.look.Problem != "", Conflict: h.look.Conflict, Unplanned: h.unplanned, Denied: h.look.Denied != "", Policies: s.Policies != "",
	}
	s.Projects = slices.Clone(s.Projects)
	for i, p := range s.Projects {
		f.Projects = append(f.Projects, p.Concluded())
		if p.Standing == comment.Applying {
			s.Projects[i].Progress = comment.Progress{} // otherwise each update about the progress would need one more write
		}
	}
	if s.Problem == "" {
		s.Problem = h.look.Refused
	}
	return comment.Head{Status: s, Standing: requiredcheck.Of(f), Enforced: h.waiting == project.WaitingFails}
}

// inGroups adds the pull request to the checks of its merge groups. GitHub merges a group when its commit has
// passed the checks that a head needs. After the merge, Lockstep decides once more whether the plans can be
// applied.
func (rp *Reporter) inGroups(ctx context.Context, h head) error {
	for _, sha := range h.look.Groups {
		if err := inGroup(ctx, rp, h, sha); err != nil {
			return err
		}
	}
	return nil
}

// inGroup adds the pull request to the check of a merge group. If GitHub ends the group at the same time,
// inGroup writes the entry once more. The process that records the end does the same after that record.
func inGroup(ctx context.Context, rp *Reporter, h head, sha string) error {
	groups := ledger.Groups{Ledger: rp.Ledger}
	g, err := groups.Read(ctx, rp.Facts.Message.Pull, sha)
	for err == nil && !g.Left {
		at := h.page()
		if rp.Facts.Pull.Open || g.Gone {
			asked := h
			if asked.status, err = statusInGroup(ctx, rp, h.status, g); err != nil {
				return err
			}
			at = asked.page()
			at.By = g.By
			if at.Queue, err = queued(ctx, rp, h.look.Head, sha); err != nil {
				return err
			}
			at.Standing = requiredcheck.InQueue(at.Standing, h.waiting, g.Gone, at.Queue)
		}
		if err := rp.enter(ctx, sha, rp.entry(at, h.waiting)); err != nil {
			return err
		}
		if err := enterGroupsBehind(ctx, rp, at, g, h.waiting); err != nil {
			return err
		}
		if g.Gone {
			return groups.Leave(ctx, g)
		}
		if g, err = groups.Read(ctx, rp.Facts.Message.Pull, sha); !g.Gone {
			return err
		}
	}
	return err
}

// enterGroupsBehind adds the pull request to the checks of the merge groups after its own in the queue. Until
// it is merged, these groups contain its commits, too.
func enterGroupsBehind(ctx context.Context, rp *Reporter, at comment.Head, g ledger.Group, w project.Waiting) error {
	if !rp.Facts.Pull.Open {
		at = comment.Head{Standing: comment.HeadDequeued}
	}
	for _, sha := range g.Behind {
		if err := rp.enter(ctx, sha, rp.entry(at, w)); err != nil {
			return err
		}
	}
	return nil
}

// Grouped makes the check of a merge group pending until the head was examined. After that, the check shows the
// result for the head.
func (rp *Reporter) Grouped(ctx context.Context, sha string) error {
	l, err := rp.Ledger.LastLook(ctx, rp.Facts.Message.Pull)
	if err != nil {
		return err
	}
	if !rp.looked(l) {
		return rp.enter(ctx, sha, rp.entry(comment.Head{Standing: comment.HeadAwaited}, ""))
	}
	return rp.Sync(ctx)
}

// endFormerHeads completes the checks of commits that were heads of the pull request and no longer are.
func (rp *Reporter) endFormerHeads(ctx context.Context) error {
	pull := rp.Facts.Message.Pull
	l, err := rp.Ledger.LastLook(ctx, pull)
	if err != nil {
		return err
	}
	for _, sha := range l.Heads {
		if sha == rp.Facts.Pull.Head.SHA {
			continue
		}
		if err := rp.enter(ctx, sha, rp.entry(comment.Head{Standing: comment.HeadLeft}, "")); err != nil {
			return err
		}
		if err := rp.Ledger.RemoveHead(ctx, pull, sha); err != nil {
			return err
		}
	}
	return nil
}

// enterPage adds the pull request to the check of a commit, with the text in page.
func (rp *Reporter) enterPage(ctx context.Context, sha string, page comment.Head, w project.Waiting) error {
	// The commit is recorded before its check is written. If this process dies and another head is pushed, the
	// next process finds the commit and completes its check.
	if err := rp.Ledger.AddHead(ctx, rp.Facts.Message.Pull, sha); err != nil {
		return err
	}
	return rp.enter(ctx, sha, rp.entry(page, w))
}

func (rp *Reporter) entry(page comment.Head, w project.Waiting) requiredcheck.Entry {
	return requiredcheck.Entry{
		Number: rp.Facts.Message.Pull.Number, Base: rp.Facts.Pull.Base.Ref, Standing: page.Standing, Waiting: w, Merged: rp.Facts.Pull.Merged,
		Title: page.Title(github.MaxCheckTitle), Page: markdown.Cut(rp.Clean(page.Summary(maxPage)), maxPage),
	}
}

// enter adds an entry about a pull request to the check of a commit. Several processes may do so at the same
// time. The process that writes the check run last reads the record once more, and repeats the write if the
// record has changed.
func (rp *Reporter) enter(ctx context.Context, sha string, e requiredcheck.Entry) error {
	if rp.Silent {
		return nil
	}
	key := headKey(rp, sha)
	for {
		value, err := rp.Ledger.Change(ctx, key, func(old []byte) ([]byte, error) {
			h, err := decodeHead(old)
			if err != nil {
				return nil, err
			}
			next := pipeline.Encode(h.With(e))
			if bytes.Equal(next, old) {
				return nil, ledger.ErrAsIs
			}
			return next, nil
		})
		if err != nil {
			return err
		}
		if err := rp.putHead(ctx, sha, value); err != nil {
			return err
		}
		now, err := rp.Ledger.Records.Get(ctx, key)
		if err != nil || bytes.Equal(now.Value, value) {
			return err
		}
	}
}

func headKey(rp *Reporter, sha string) string {
	return fmt.Sprintf("head/%d/%s", rp.Facts.Message.Pull.Repo.ID, sha)
}

// PullsAt returns the numbers of the pull requests that the check of a commit is about.
func PullsAt(ctx context.Context, rp *Reporter, sha string) (numbers []int, err error) {
	rec, err := rp.Ledger.Records.Get(ctx, headKey(rp, sha))
	if err != nil {
		return nil, err
	}
	h, err := decodeHead(rec.Value)
	for _, e := range h.Entries {
		numbers = append(numbers, e.Number)
	}
	return numbers, err
}

// putHead writes the check run of a commit from its record.
func (rp *Reporter) putHead(ctx context.Context, sha string, value []byte) error {
	h, err := decodeHead(value)
	if err != nil {
		return err
	}
	w := h.Worst()
	title := w.Title
	var pages []string
	for _, e := range h.Entries {
		page := e.Page
		if len(h.Entries) > 1 {
			page = comment.OfPull(e.Number, e.Title, page)
		}
		pages = append(pages, page)
	}
	if len(h.Entries) > 1 {
		title = comment.TitleOf(w.Number, title)
	}
	c := github.Check{
		Name: pipeline.HeadCheckOf(rp.Facts.Deployment), SHA: sha, ExternalID: pipeline.HeadID,
		Title: title, Summary: markdown.Cut(strings.Join(pages, "\n"), github.MaxCheckText),
	}
	c.Status, c.Conclusion = requiredcheck.Conclude(w.Standing, w.Waiting)
	_, _, err = WriteCheck(ctx, rp, 0, c)
	return err
}

func decodeHead(value []byte) (h requiredcheck.Head, err error) {
	if value == nil {
		return h, nil
	}
	if err := json.Unmarshal(value, &h); err != nil {
		return h, fmt.Errorf("read the check of a head: the record is damaged: %w", err)
	}
	return h.Known(), nil
}
