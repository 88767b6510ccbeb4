package simulation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// returns has somebody comment on a merged pull request, and reports whether there is one.
func (s *simulation) returns() bool {
	var merged []githubtest.PullView
	for _, p := range s.repo.Pulls() {
		if p.State == "merged" {
			merged = append(merged, p)
		}
	}
	if len(merged) == 0 {
		return false
	}
	texts := []string{"lockstep retry", "lockstep retry", "lockstep apply", "lockstep apply", "lockstep plan", "lockstep apply -p p1"}
	s.comment(merged[s.IntN(len(merged))], []string{"alice", "bob", "bob", "mallory"}[s.IntN(4)], texts[s.IntN(len(texts))])
	return true
}

// finishedByAnother reports whether the apply of another pull request has finished what a merge has left of a run's project, as that
// one's comments tell.
func (s *simulation) finishedByAnother(r runs.Run) bool {
	l, err := ledger.UnappliedOf(context.Background(), ledger.Ledger{Records: &s.Store}, r)
	if err != nil {
		s.bug("%v", err)
	}
	by := cmp.Or(r.End.FinishedBy, l.By)
	return by != 0 && slices.ContainsFunc(s.repo.Comments(by), func(c githubtest.Comment) bool {
		return c.Author == "lockstep[bot]" && (strings.Contains(c.Body, "**Applied** `"+r.Project+"`") || s.renaming() && strings.Contains(c.Body, "**Applied** `"+twin(r.Project)+"`"))
	})
}

// landsLater reports whether an apply of a merge waits with reason: for the clock, a review, or the end of a lock, or after one that does.
func (s *simulation) landsLater(r runs.Run) bool {
	if !r.Asked.Late || r.Spec.AfterMerge {
		return false
	}
	held, unsure := s.heldByTeam(r)
	reviewed := s.reviewing() || s.team.approvals || s.team.owners || s.team.environment
	misses := reviewed && s.missesReview(githubtest.PullView{Number: r.Pull.Number, Head: r.Spec.Head})
	return held || unsure || misses || s.locked(r) || len(r.Asked.Waits.On) > 0
}

// followedUp holds that each project of a merge has had a plan, and that there is one open issue exactly as long as a project is
// left that the merge should have applied.
func (s *simulation) followedUp(number int, state, head string, all []runs.Run) {
	left, touched := "", s.touched(number)
	said := ""
	for _, c := range s.repo.Comments(number) {
		if c.Author == "lockstep[bot]" && strings.Contains(c.Body, comment.AnswerMarker("merge")) {
			said += c.Body
		}
	}
	for _, dir := range touched {
		if strings.Contains(said, "**Not planned** `"+dir+"`") || (s.moved > 0 || s.length.away) && len(all) == 0 {
			continue // nobody may plan it, say; or nobody had heard of it before it was elsewhere, or while the App was there
		}
		if state == "merged" && !slices.ContainsFunc(all, func(r runs.Run) bool { return r.Spec.Dir == dir && r.Spec.Head == head }) {
			s.bug("%s of #%d is merged, and was never planned", dir, number)
		}
	}
	for _, r := range all {
		switch standing := r.Standing(); {
		case r.Spec.Head != head && !slices.Contains(touched, r.Spec.Dir): // of a former head
		case state != "merged" || r.Spec.ApplyOn != project.OnMerge && !r.Spec.Removed:
		case r.End.FinishedBy != 0 && !s.finishedByAnother(r):
			s.bug("%s of #%d is told as finished by #%d", r.Project, number, r.End.FinishedBy)
		case s.finishedByAnother(r): // a plan that has changes since then has those of others
		case standing != comment.Applied && standing != comment.NoChanges && standing != comment.Superseded && standing != comment.Closed:
			left = r.Project + " is " + string(standing)
		}
	}
	made, open := 0, 0
	for _, x := range s.repo.Issues() {
		if x.Author != "lockstep[bot]" || !strings.HasPrefix(x.Body, comment.FollowUpMarker(number)) {
			continue
		}
		if made++; x.Open {
			open++
		}
	}
	switch {
	case made > 1:
		s.bug("#%d has %d issues", number, made)
	case left != "" && open == 0:
		s.bug("#%d is merged, %s, and there is no open issue", number, left)
	case left == "" && open > 0:
		s.bug("#%d is merged, nothing is left, and its issue is open", number)
	}
}
