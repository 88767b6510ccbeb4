package githubtest

import (
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Rename gives the repository another name. Requests for the former name are redirected, until another
// repository has that name.
func (r *Repository) Rename(who, name string) {
	defer r.hub.lock()()
	r.move(who, r.owner, name)
}

// Transfer moves the repository to another account. The installation of the new account then has it. If the App
// is not installed in the new account, the repository has no installation.
func (r *Repository) Transfer(who, owner string) {
	defer r.hub.lock()()
	to := r.hub.person(owner)
	had := slices.ContainsFunc(r.hub.repos, func(x *Repository) bool { return x.owner == to && x.installation != 0 })
	if r.installation = 0; had {
		r.installation = r.hub.installationOf(to)
	}
	r.move(who, to, r.name)
}

// SetDefault makes a branch the default branch. Open pull requests keep their base branch.
func SetDefault(r *Repository, branch string) {
	defer r.hub.lock()()
	r.hub.log.Tick()
	r.mustBranch(branch)
	r.main = branch
}

// RenameBranch renames a branch. Open pull requests into the branch follow the new name.
//
// Source: https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-branches-in-your-repository/renaming-a-branch
func RenameBranch(r *Repository, who, from, to string) {
	for _, n := range renameBranch(r, from, to) {
		r.Retarget(who, n, to)
	}
}

func renameBranch(r *Repository, from, to string) (into []int) {
	defer r.hub.lock()()
	r.hub.log.Tick()
	r.branches[to] = r.mustBranch(from)
	delete(r.branches, from)
	if r.main == from {
		r.main = to
	}
	for _, p := range r.pulls.list {
		if p.open && p.base == from {
			into = append(into, p.number)
		}
	}
	return into
}

func (r *Repository) move(who string, owner *user, name string) {
	r.hub.log.Tick()
	r.hub.former.Left(r.String(), r.id)
	r.repo.note(Edit{Kind: "rename", Who: who, Text: owner.login + "/" + name})
	r.owner, r.name = owner, name
}

// find is a [nameFinder] for the repositories of the Hub.
func (h *Hub) find(name string, id int64) (present string, moved int64) {
	defer h.lock()()
	x := h.repos.called(name)
	if name == "" {
		x = h.repos.of(id)
	}
	if x != nil {
		return x.String(), 0
	}
	if x = h.repos.of(h.former.Of(name)); x != nil {
		moved = x.id
	}
	return "", moved
}

func (l repositories) called(name string) *Repository {
	return rest.First(l, func(x *Repository) bool { return strings.EqualFold(x.String(), name) })
}

func (l repositories) of(id int64) *Repository {
	return rest.First(l, func(x *Repository) bool { return x.id == id })
}
