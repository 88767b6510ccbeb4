package demo

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// The names of the actions that a user of the demo can choose, besides writing a comment.
const (
	approve = "approve"
	push    = "push"
	update  = "update"
	merge   = "merge"
	closing = "close"
	reopen  = "reopen"
	kill    = "kill"
)

// offers returns the actions that the user can choose now on a pull request.
func (s Site) offers(v githubtest.PullView) []page.Offer {
	switch v.State {
	case "merged":
		return nil
	case "closed":
		return []page.Offer{{Name: reopen, Label: "Open again"}}
	}
	out := []page.Offer{{Name: approve, Label: "Approve"}}
	if v.From == clusterBranch && s.w.helper.running() {
		out = append(out, page.Offer{Name: kill, Label: "Kill the process that applies", Grave: true})
	}
	if n := s.w.pushedSoFar(); n < len(prepared) && v.From == subnetsBranch {
		out = append(out, page.Offer{Name: push, Label: prepared[n].label})
	}
	return append(out, page.Offer{Name: update, Label: "Update branch"}, page.Offer{Name: merge, Label: "Merge"}, page.Offer{Name: closing, Label: "Close", Grave: true})
}

func (w *World) pushedSoFar() int {
	w.acting.Lock()
	defer w.acting.Unlock()
	return w.pushed
}

// Act performs an action of a person in the fake GitHub; it implements page.Actor. Permissions are as on
// GitHub: people with read access can comment and approve, but their approvals do not count.
func (s Site) Act(ctx context.Context, d page.Action) error {
	s.w.acting.Lock()
	defer s.w.acting.Unlock()
	v, err := s.find(d.Pull)
	if err != nil {
		return err
	}
	permission := ""
	for _, p := range people {
		if p.login == d.As {
			permission = p.permission
		}
	}
	repo, n := s.w.repo, d.Pull.Number
	switch {
	case permission == "":
		return refused("There is nobody called %q here.", d.As)
	case d.Name == page.Comment:
		repo.Comment(d.As, n, d.Text)
		return nil
	case d.Name == page.Press:
		return s.press(d, v)
	case d.Name == kill && v.From == clusterBranch:
		if !s.w.helper.kill() {
			return refused("That process has ended.")
		}
		return nil
	case !slices.Contains(offered, d.Name):
		return refused("That cannot be done here.")
	case d.Name == reopen && v.State != "closed" || d.Name != reopen && v.State != "open":
		return refused("The pull request is %s by now.", v.State)
	case d.Name == approve:
		if d.As == v.Author {
			return refused("%s wrote this pull request, and cannot approve it.", d.As)
		}
		repo.Review(d.As, n, github.Approved, "")
		return nil
	case permission == "read":
		return refused("%s may only read this repository.", d.As)
	}
	return s.change(d, v)
}

// press presses a button of a check run on the head commit of the pull request.
func (s Site) press(d page.Action, v githubtest.PullView) error {
	for _, c := range s.w.repo.Checks(v.Head) {
		for _, b := range c.Buttons {
			if c.ID == d.Check && b.Identifier == d.Button {
				s.w.repo.Press(d.As, c.ID, b.Identifier)
				return nil
			}
		}
	}
	return refused("The check has changed, and has no such button now.")
}

var offered = []string{approve, push, update, merge, closing, reopen}

// change performs an action for which the acting person needs write access.
func (s Site) change(d page.Action, v githubtest.PullView) error {
	repo, n := s.w.repo, d.Pull.Number
	switch d.Name {
	case push:
		if s.w.pushed >= len(prepared) || v.From != subnetsBranch {
			return refused("Nothing is prepared to be pushed.")
		}
		next := prepared[s.w.pushed]
		s.w.pushed++
		repo.Push(d.As, v.From, next.message, next.files)
	case update, merge:
		if v.Conflicts {
			return refused("The branch has conflicts with %s.", v.Into)
		}
		if d.Name == merge {
			repo.Merge(d.As, n)
		} else {
			repo.UpdateBranch(d.As, n)
		}
	case closing:
		repo.Close(d.As, n)
	case reopen:
		repo.Reopen(d.As, n)
	}
	return nil
}

func refused(format string, args ...any) error {
	return &page.RefusedError{Reason: fmt.Sprintf(format, args...)}
}
