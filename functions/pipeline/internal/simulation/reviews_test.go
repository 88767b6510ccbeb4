package simulation

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// reviews are the approvals that people gave.
type reviews struct {
	reviewed []review
	lifted   []lifted
}

// lifted are the plans that alice could see when she lifted the review for a head.
type lifted struct {
	approval
	head string
	at   time.Time
}

type review struct {
	number    int
	head      string
	dismissed time.Time // zero as long as it stands
}

// reviewing reports whether an apply needs a review of the commit, as in every fourth aimed history.
func (s *simulation) reviewing() bool {
	if s.teaming() {
		return s.team.approvals || s.team.owners
	}
	return s.length.aimed && s.seed%4 == 1
}

// lifting reports whether alice may do without it, as in one of eleven such histories.
func (s *simulation) lifting() bool {
	if s.teaming() {
		return s.team.override && (s.reviewing() || s.team.limit > 0 || s.team.gate || s.team.policy != "")
	}
	return s.reviewing() && s.seed%11 == 3
}

// requireReview is the block of lockstep.hcl.
func (s *simulation) requireReview() string {
	if s.lifting() {
		return "\nrequire \"apply\" {\n  approvals = 1\n  override  = [\"alice\"]\n}\n"
	}
	return "\nrequire \"apply\" {\n  approvals = 1\n}\n"
}

// missesReview reports whether nobody has approved the head of a pull request.
func (s *simulation) missesReview(p githubtest.PullView) bool {
	for _, r := range s.reviewed {
		if r.number == p.Number && r.head == p.Head && r.dismissed.IsZero() {
			return false
		}
	}
	return true
}

// review has bob, who never pushes, approve a head, or say that he is not content with it.
func (s *simulation) review(p githubtest.PullView) {
	if s.IntN(6) == 0 {
		s.note("bob asks for changes of #%d", p.Number)
		s.repo.Review("bob", p.Number, github.ChangesRequested, "")
		s.withdraw(p.Number)
		return
	}
	s.note("bob approves %.7s of #%d", p.Head, p.Number)
	s.repo.Review("bob", p.Number, github.Approved, "")
	s.reviewed = append(s.reviewed, review{number: p.Number, head: p.Head})
}

// lift has somebody lift the review: it counts if that is alice.
func (s *simulation) lift(p githubtest.PullView) {
	who := []string{"alice", "alice", "bob", "mallory"}[s.IntN(4)]
	a := *s.approve(p.Number, who)
	s.approvals = s.approvals[:len(s.approvals)-1] // it is no word for an apply
	if who == "alice" {
		s.lifted = append(s.lifted, lifted{a, p.Head, time.Now()})
	}
	s.comment(p, who, `lockstep override --reason "it burns"`)
}

// dismiss has alice dismiss bob's review.
func (s *simulation) dismiss(p githubtest.PullView) {
	s.note("alice dismisses the review of #%d", p.Number)
	s.repo.Dismiss("alice", p.Number, "bob")
	s.withdraw(p.Number)
}

func (s *simulation) withdraw(number int) {
	for i, r := range s.reviewed {
		if r.number == number && r.dismissed.IsZero() {
			s.reviewed[i].dismissed = time.Now()
		}
	}
}

// isReviewed holds that a commit had a review when its apply asked for its permission, and began.
func (s *simulation) isReviewed(a *applying, p saved) {
	if !s.reviewing() {
		return
	}
	for _, r := range s.reviewed {
		if r.number == a.j.Number && r.head == a.j.Head && (r.dismissed.IsZero() || !r.dismissed.Before(s.beginnings[a.j.Run])) {
			return
		}
	}
	for _, l := range s.lifted {
		if l.number == a.j.Number && l.head == a.j.Head && l.tokens[p.token()] && (l.at.Before(s.beginnings[a.j.Run]) || s.teaming() && a.st.begun.done == 0) {
			return
		}
	}
	s.bug("%.7s of #%d is applied, and nobody has approved it in a review", a.j.Head, a.j.Number)
}

// held reports whether a plan that could be applied otherwise misses its review; lifted whether alice may have lifted that.
func (s *simulation) held(r runs.Run) (held, lifted bool) {
	if r.Phase != runs.Planned || !r.Plan.Applyable || r.Standing() == comment.PartPlanned {
		return false, false
	}
	misses := s.reviewing() && s.missesReview(githubtest.PullView{Number: r.Pull.Number, Head: r.Spec.Head})
	held, lifted = s.heldByTeam(r)
	if !held && !misses && r.Plan.Replaced > 0 {
		return false, true // a review may be of the former plan
	}
	return held || misses && !s.lifting(), lifted || misses && s.lifting()
}
