package simulation

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// moving reports whether the repository gets other names and owners, as in every eighth history.
func (s *simulation) moving() bool { return s.seed%8 == 7 }

// move gives the repository another name, and perhaps another owner. Every second time somebody makes a repository of the
// former name, where the same numbers and branches are others.
func (s *simulation) move() {
	was, owner := s.repo.Repo(), []string{"acme", "beta"}[s.IntN(2)]
	if s.moved++; s.moved == 1 {
		for _, account := range []string{"acme", "beta"} { // the App stays installed there
			s.hub.AddRepository(account, "other", githubtest.Files{"README.md": "hello\n"})
		}
	}
	if owner != was.Owner {
		s.repo.Transfer("alice", owner)
	}
	s.repo.Rename("alice", fmt.Sprintf("infra-%d", s.moved))
	s.note("alice moves %s to %s", was, s.repo)
	if s.IntN(2) == 0 {
		s.note("mallory makes a new %s", was)
		files := s.firstFiles()
		files["README.md"] = "mine\n" // a commit is of one repository
		r := s.hub.AddRepository(was.Owner, was.Name, files)
		r.Grant("mallory", "admin")
		s.taken = append(s.taken, r)
	}
}

// comesAndGoes has somebody take the App off the repository, or put it back.
func (s *simulation) comesAndGoes() {
	switch {
	case s.repo.Installation() == 0 && s.IntN(3) > 0:
		s.install()
	case s.repo.Installation() != 0 && s.IntN(7) == 0:
		s.note("alice takes the App off")
		s.repo.Uninstall("alice")
	}
}

func (s *simulation) install() {
	if s.repo.Installation() == 0 {
		s.note("alice installs the App")
		githubtest.Install(s.repo, "alice")
	}
}
