package githubtest

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/github/githubtest/internal/commits"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/hooks"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A repo is the part of a repository without pull requests: identity, permissions, branches and tags.
type repo struct {
	world        *world
	id           int64
	owner        *user
	name         string
	parent       *repo // of a fork
	installation int64 // 0 if the App is not installed
	permissions  map[string]string
	branches     map[string]string // name -> SHA
	main         string            // the default branch
	tags         map[string]string
	private      bool
	deleted      bool
	mergeState   string // GitHub's opinion of merges that have no conflict; "" is "clean"
	protection   []Required
	ruleset      []Required
	reviewed     bool // main requires an approval
	statuses     []commitStatus
	activities   []activity // oldest first
}

func (r *repo) String() string { return r.owner.login + "/" + r.name }

// network returns the repository that all forks originate from.
func (r *repo) network() *repo {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// commit adds a commit, dated now. If GitHub itself makes the commit, such as a trial merge, it is dated like
// its younger parent. Otherwise the date would depend on when GitHub happens to make it, which a test does
// not determine.
func (r *repo) commit(author, message string, files Files, parents ...string) *commits.Commit {
	return r.commitAs(author, "", message, files, parents...)
}

// commitAs makes a commit, as commit does, and also sets its committer; "" means the author.
func (r *repo) commitAs(author, committer, message string, files Files, parents ...string) *commits.Commit {
	at := r.world.log.Now()
	if author == "GitHub" {
		at = r.world.history.Youngest(epoch, parents)
	}
	return r.world.history.Add(commits.Commit{
		Network: r.network().id, Files: files, Parents: parents, Author: author, Committer: committer, Message: message, At: at,
	})
}

// find returns the commit that a SHA, a branch, a tag or HEAD names; nil if there is none.
func (r *repo) find(ref string) *commits.Commit {
	if ref == "HEAD" {
		ref = r.main
	}
	if sha, ok := r.branches[ref]; ok {
		ref = sha
	} else if sha, ok := r.tags[ref]; ok {
		ref = sha
	}
	if c := r.world.history[ref]; c != nil && c.Network == r.network().id {
		return c
	}
	return nil
}

func (r *repo) mustBranch(name string) string {
	sha, ok := r.branches[name]
	if !ok {
		panic(fmt.Sprintf("githubtest: %s has no branch %s", r, name))
	}
	return sha
}

// note records an edit, with the name of this repository.
func (r *repo) note(e Edit) {
	e.Repo = r.String()
	r.world.log.note(e)
}

// send adds a webhook about the repository, which waits for [Hub.Deliver]. It sends nothing if the App is not
// installed.
func (r *repo) send(event string, payload rest.Object, who *user, action string) {
	if r.installation == 0 {
		return
	}
	if action != "" {
		payload["action"] = action
	}
	payload["sender"] = who.json()
	payload["repository"] = r.json()
	payload["installation"] = rest.Object{"id": r.installation, "node_id": rest.NodeID("Installation", r.installation)}
	r.world.outbox.Post(hooks.Subject{Event: event, Action: action, Installation: r.installation, Repository: r.id}, payload)
}

func (r *repo) json() rest.Object {
	return shownRepository{
		ID: r.id, Owner: r.owner.json(), Login: r.owner.login, Name: r.name, Private: r.private, Fork: r.parent != nil, Main: r.main,
		Made: rest.Stamp(epoch), Pushed: rest.Stamp(r.world.log.Now()),
	}.JSON()
}
