package simulation

import (
	"slices"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// groups is GitHub's merge queue as people see it: the pull requests in it, and the commit of each merge group that there
// was, with its pull request.
type groups struct {
	line []queued
	made map[string]int
}

type queued struct {
	number    int
	sha, head string
}

// queues reports whether pull requests are merged by GitHub's merge queue, as in every sixth history.
func (s *simulation) queues() bool { return s.seed%6 == 2 && !s.automerges() }

// enqueue puts a pull request into the merge queue, unless it is in it, or GitHub would refuse that.
func (s *simulation) enqueue(p githubtest.PullView) {
	mine := s.changed(p.Number)
	for _, q := range s.line {
		if q.number == p.Number || slices.ContainsFunc(s.changed(q.number), func(name string) bool { return slices.Contains(mine, name) }) {
			return
		}
	}
	if s.made == nil {
		s.made = map[string]int{}
	}
	sha := s.repo.Enqueue("alice", p.Number)
	s.note("alice puts #%d into the merge queue, as %.7s", p.Number, sha)
	s.line = append(s.line, queued{p.Number, sha, p.Head})
	s.made[sha] = p.Number
}

// changed are the names of the files that a pull request changes.
func (s *simulation) changed(number int) (out []string) {
	before, after := s.repo.Changes(number)
	for _, files := range []map[string]string{before, after} {
		for name := range files {
			out = append(out, name)
		}
	}
	return out
}

// leave takes a pull request out of the queue, with those behind it: somebody pushes to it, closes it, or has changed their mind.
func (s *simulation) leave(number int) {
	i := slices.IndexFunc(s.line, func(q queued) bool { return q.number == number })
	if i < 0 {
		return
	}
	s.note("#%d leaves the merge queue", number)
	s.repo.Dequeue(number)
	s.line = s.line[:i]
}

// land lets the queue merge its first pull request, or put it out, once its check is there.
func (s *simulation) land() {
	first := s.line[0]
	done := false
	for _, c := range s.repo.Checks(first.sha) {
		done = c.Name == "lockstep" && c.Status == github.CheckCompleted
	}
	if !done {
		return
	}
	if !s.repo.Land("lockstep") {
		s.note("the merge queue puts #%d out", first.number)
		s.line = nil
		return
	}
	s.note("the merge queue merges #%d", first.number)
	s.approve(first.number, "github-merge-queue[bot]").merged = first.head
	s.line = s.line[1:]
}

// grouped holds that each merge group has had its check: of one that GitHub has still it is there, and none is pending.
func (s *simulation) grouped() {
	for sha, number := range s.made {
		waits := slices.ContainsFunc(s.line, func(q queued) bool { return q.sha == sha })
		var last *githubtest.Check
		for _, c := range s.repo.Checks(sha) {
			if c.Name == "lockstep" {
				last = &c
			}
		}
		switch {
		case last == nil && waits:
			s.bug("the merge group %.7s of #%d has no check", sha, number)
		case last != nil && last.Status != github.CheckCompleted:
			s.bug("the check of the merge group %.7s of #%d is %s for ever: %s", sha, number, last.Status, last.Title)
		}
	}
}
