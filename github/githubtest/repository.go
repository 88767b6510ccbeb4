package githubtest

import (
	"github.com/lockstep-iac/lockstep/github"
)

// A Repository is one of a [Hub], with the App installed in it. Its methods are what
// people do; those that cannot be right panic, since a test is at fault then.
type Repository struct {
	hub          *Hub
	id           int64
	owner        *user
	name         string
	fork         bool
	installation int64
	permissions  map[string]string
	branches     map[string]string // name -> SHA
	pulls        []*pull
	comments     []*Comment
	numbers      int
}

// AddRepository makes a repository with files on the branch main.
func (h *Hub) AddRepository(owner, name string, files Files) *Repository {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &Repository{
		hub: h, id: h.nextID(), owner: h.person(owner), name: name, installation: h.nextID(),
		permissions: map[string]string{owner: "admin"}, branches: map[string]string{},
	}
	h.tick()
	r.branches["main"] = h.commit(owner, "First commit", files).sha
	h.repos = append(h.repos, r)
	return r
}

// Fork makes a fork of the repository in somebody's account. The App is not
// installed there.
func (r *Repository) Fork(owner string) *Repository {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	f := &Repository{
		hub: h, id: h.nextID(), owner: h.person(owner), name: r.name, fork: true,
		permissions: map[string]string{owner: "admin"}, branches: map[string]string{"main": r.branches["main"]},
	}
	h.repos = append(h.repos, f)
	return f
}

// Repo returns the repository as a client names it.
func (r *Repository) Repo() github.Repo {
	return github.Repo{ID: r.id, Owner: r.owner.login, Name: r.name}
}

// Installation returns the ID of the App's installation.
func (r *Repository) Installation() int64 { return r.installation }

func (r *Repository) String() string { return r.owner.login + "/" + r.name }

// Grant gives somebody a permission: "admin", "write" or "read"; "none" takes it.
func (r *Repository) Grant(login, permission string) {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.hub.person(login)
	r.permissions[login] = permission
}

// Head returns the name of a branch's latest commit.
func (r *Repository) Head(branch string) string {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return r.branches[branch]
}

// Push commits changes to a branch, which starts at main if it is new.
func (r *Repository) Push(who, branch, message string, changes Files) string {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tick()
	at, ok := r.branches[branch]
	if !ok {
		at = r.branches["main"]
	}
	c := h.commit(who, message, h.commits[at].files.with(changes), at)
	h.note(Edit{Kind: "push", Repo: r.String(), Who: who, Text: branch + ": " + message})
	r.move(h.person(who), branch, c.sha)
	return c.sha
}

// move sets a branch, and with it the pull requests that come from it.
func (r *Repository) move(who *user, branch, sha string) {
	r.branches[branch] = sha
	for _, to := range r.hub.repos {
		for _, p := range to.pulls {
			if p.open && p.from == r && p.head == branch {
				before := p.headSHA
				p.headSHA, p.touched = sha, r.hub.clock
				to.sendPull(p, who, "synchronize", map[string]any{"before": before, "after": sha})
			}
		}
	}
}
