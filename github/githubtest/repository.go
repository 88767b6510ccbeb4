package githubtest

import (
	"slices"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"

	"net/http"
	"strings"
)

// A Repository is a repository of a [Hub]. AddRepository installs the App in it. Its methods are people's
// actions. An action that GitHub would refuse panics, because the test is wrong.
type Repository struct {
	hub *Hub
	*repo
	*pulls
	*reviews
	*comments
	*checks
	*tracker
	*deploys
	*protected
	queue []queued // the merge queue of main
}

func (h *Hub) newRepository(x *repo) *Repository {
	p := &pulls{repo: x}
	r := &Repository{hub: h, repo: x, pulls: p, reviews: &reviews{pulls: p}, comments: &comments{pulls: p}, checks: &checks{pulls: p}, tracker: newTracker(x), deploys: newDeploys(x), protected: newProtected(x)}
	r.comments.issues = r.tracker.issues
	r.tracker.issues.talk = func(number int) (texts []string) {
		for _, c := range r.comments.list {
			if c.Number == number {
				texts = append(texts, c.Body)
			}
		}
		return texts
	}
	h.repos = append(h.repos, r)
	return r
}

// AddRepository creates a repository with files on the branch main.
func (h *Hub) AddRepository(owner, name string, files Files) *Repository {
	defer h.lock()()
	x := &repo{
		world: h.world, id: h.log.nextID(), owner: h.person(owner), name: name,
		permissions: map[string]string{owner: "admin"}, branches: map[string]string{}, main: "main",
	}
	x.installation = h.installationOf(x.owner)
	h.log.Tick()
	x.branches["main"] = x.commit(owner, "First commit", files).SHA
	return h.newRepository(x)
}

// Fork creates a fork of the repository in a user's account. The App is not installed there.
func (r *Repository) Fork(owner string) *Repository {
	w := r.hub.world
	defer w.lock()()
	return r.hub.newRepository(&repo{
		world: w, id: w.log.nextID(), owner: w.person(owner), name: r.name, parent: r.repo,
		permissions: map[string]string{owner: "admin"}, branches: map[string]string{r.main: r.branches[r.main]}, main: r.main,
	})
}

// Delete deletes the repository. Pull requests whose head is in the repository remain, without a head
// repository.
func (r *Repository) Delete() {
	defer r.hub.lock()()
	r.deleted = true
	r.hub.repos = slices.DeleteFunc(slices.Clone(r.hub.repos), func(x *Repository) bool { return x == r })
}

// GiveUp deletes an account, with its repositories. A later account with the same login is another user.
func (h *Hub) GiveUp(login string) {
	defer h.lock()()
	delete(h.users, login)
	h.repos = slices.DeleteFunc(slices.Clone(h.repos), func(r *Repository) bool {
		r.deleted = r.deleted || r.owner.login == login
		return r.deleted
	})
}

// Repo returns the repository's identity for a client.
func (r *Repository) Repo() github.Repo {
	return github.Repo{ID: r.id, Owner: r.owner.login, Name: r.name, OwnerID: r.owner.id}
}

// String returns "owner/name".
func (r *Repository) String() string { return r.repo.String() }

// Installation returns the ID of the App's installation.
func (r *Repository) Installation() int64 { return r.installation }

// Grant gives a user a permission: "admin", "write" or "read"; "none" removes it.
func (r *Repository) Grant(login, permission string) {
	defer r.hub.lock()()
	r.hub.person(login)
	r.permissions[login] = permission
}

// SetPrivate makes the repository readable only with a permission.
func (r *Repository) SetPrivate() {
	defer r.hub.lock()()
	r.private = true
}

// Tag creates a tag on a branch's latest commit, or moves it there. It returns the commit's SHA.
func (r *Repository) Tag(name, branch string) string {
	defer r.hub.lock()()
	if r.tags == nil {
		r.tags = map[string]string{}
	}
	r.tags[name] = r.mustBranch(branch)
	return r.tags[name]
}

// Head returns the SHA of a branch's latest commit.
func (r *Repository) Head(branch string) string {
	defer r.hub.lock()()
	return r.branches[branch]
}

// getPermission answers GET /repos/{owner}/{repo}/collaborators/{login}/permission.
func (r *Repository) getPermission(req *http.Request) (int, any) {
	login := req.PathValue("login")
	u := r.hub.users[login]
	if u == nil || strings.Contains(login, "[bot]") {
		return rest.Fail(rest.NotFound)
	}
	p := r.permissions[login]
	if p == "" {
		p = "read" // of a public repository
	}
	shown := u.json()
	shown["role_name"] = p
	return http.StatusOK, rest.Object{"permission": p, "role_name": p, "user": shown}
}
