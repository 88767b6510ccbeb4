package simulation

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// shifts are the changes of the base branches of pull requests.
type shifts struct {
	shifted int
	drafts  []int // the pull requests that were opened as drafts
	// away are the times at which pull requests got another base branch than main, by number, and home those at which they
	// got main again.
	away, home map[int]time.Time
}

// shifting reports whether people give pull requests other base branches, and open drafts, as in one of eleven aimed histories.
func (s *simulation) shifting() bool { return s.length.aimed && s.seed%11 == 7 }

// shift gives a pull request the base branch release, or main again.
func (s *simulation) shift(p githubtest.PullView) {
	if s.shifted++; s.shifted == 1 {
		s.repo.Push("alice", "release", "Release", githubtest.Files{"RELEASE.md": "1\n"})
		s.away, s.home = map[int]time.Time{}, map[int]time.Time{}
	}
	into, at := "release", s.away
	if p.Into == into {
		into, at = "main", s.home
	}
	at[p.Number] = time.Now()
	s.leave(p.Number)
	s.note("alice has #%d go into %s", p.Number, into)
	s.repo.Retarget("alice", p.Number, into)
}

// elsewhere reports whether a pull request goes, or was merged, into another base branch than main.
func (s *simulation) elsewhere(number int) bool {
	p, ok := s.view(number)
	return ok && p.Into != "main"
}

// astray holds that nothing is applied for a pull request that went into another branch, which grants nothing, before the
// process that applies it began.
func (s *simulation) astray(j jobs.Job, began time.Time) {
	if s.elsewhere(j.Number) && s.away[j.Number].Before(began) {
		s.bug("%s of #%d is applied, and it goes into another branch since %s", j.Project, j.Number, s.away[j.Number].Format("15:04:05"))
	}
}

// openedAs opens a pull request from a branch, in such a history perhaps as a draft.
func (s *simulation) openedAs(branch string) int {
	if !s.shifting() || s.IntN(4) > 0 {
		return s.repo.OpenPull("alice", "Change", branch)
	}
	n := s.repo.OpenDraft("alice", "Change", branch)
	s.drafts = append(s.drafts, n)
	return n
}
