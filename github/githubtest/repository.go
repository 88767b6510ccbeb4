package githubtest

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/github"
)

// A Repository is one of a [Hub], with the App installed in it. Its methods are what
// people do; those that cannot be right panic, since a test is at fault then.
type Repository struct {
	hub          *Hub
	id           int64
	owner        *user
	name         string
	parent       *Repository // of a fork
	installation int64
	permissions  map[string]string
	branches     map[string]string // name -> SHA
	tags         map[string]string
	private      bool
	pulls        []*pull
	comments     []*Comment
	checks       []*checkRun
	numbers      int
	lag          int // see LagMerges
	deleted      bool
}

// AddRepository makes a repository with files on the branch main.
func (h *Hub) AddRepository(owner, name string, files Files) *Repository {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &Repository{
		hub: h, id: h.nextID(), owner: h.person(owner), name: name,
		permissions: map[string]string{owner: "admin"}, branches: map[string]string{},
	}
	r.installation = h.installationOf(r.owner)
	h.tick()
	r.branches["main"] = r.commit(owner, "First commit", files).sha
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
		hub: h, id: h.nextID(), owner: h.person(owner), name: r.name, parent: r,
		permissions: map[string]string{owner: "admin"}, branches: map[string]string{"main": r.branches["main"]},
	}
	h.repos = append(h.repos, f)
	return f
}

// Delete deletes the repository. Pull requests from it stay where they are, without a
// head repository.
func (r *Repository) Delete() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.deleted = true
	r.hub.repos = slices.DeleteFunc(slices.Clone(r.hub.repos), func(x *Repository) bool { return x == r })
}

// Repo returns the repository as a client names it.
func (r *Repository) Repo() github.Repo {
	return github.Repo{ID: r.id, Owner: r.owner.login, Name: r.name, OwnerID: r.owner.id}
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

// SetPrivate lets nobody read the repository who was not granted it.
func (r *Repository) SetPrivate() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.private = true
}

// Tag gives a branch's latest commit a tag, and returns its SHA. A tag that is there
// already is moved.
func (r *Repository) Tag(name, branch string) string {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	if r.tags == nil {
		r.tags = map[string]string{}
	}
	r.tags[name] = r.mustBranch(branch)
	return r.tags[name]
}

// Head returns the name of a branch's latest commit.
func (r *Repository) Head(branch string) string {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return r.branches[branch]
}

func (r *Repository) mustBranch(name string) string {
	sha, ok := r.branches[name]
	if !ok {
		panic(fmt.Sprintf("githubtest: %s has no branch %s", r, name))
	}
	return sha
}

// Push commits changes to a branch, which starts at main if it is new.
func (r *Repository) Push(who, branch, message string, changes Files) string {
	return r.push(push{"push", who, branch, message}, branch, changes)
}

// ForcePush commits changes to main, and makes that all that a branch has.
func (r *Repository) ForcePush(who, branch, message string, changes Files) string {
	return r.push(push{"force-push", who, branch, message}, "main", changes)
}

type push struct{ kind, who, branch, message string }

// push commits changes to what is on the branch from, or on main if there is none.
func (r *Repository) push(p push, from string, changes Files) string {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tick()
	at, ok := r.branches[from]
	if !ok {
		at = r.mustBranch("main")
	}
	c := r.commit(p.who, p.message, h.commits[at].files.with(changes), at)
	r.pushed(p, c)
	return c.sha
}

// pushed lets a branch be a commit that was pushed.
func (r *Repository) pushed(p push, c *commit) {
	r.hub.note(Edit{Kind: p.kind, Repo: r.String(), Who: p.who, Text: p.branch + ": " + p.message})
	r.move(r.hub.person(p.who), p.branch, c.sha)
}

// move sets a branch, and with it the pull requests that come from it.
func (r *Repository) move(who *user, branch, sha string) {
	r.branches[branch] = sha
	for _, to := range r.hub.repos {
		for _, p := range to.pulls {
			if p.open && p.from == r && p.head == branch {
				before := p.headSHA
				p.headSHA, p.baseSHA, p.touched = sha, to.branches[p.base], r.hub.clock
				to.sendPull(p, who, "synchronize", object{"before": before, "after": sha})
			}
		}
	}
}
