package githubtest

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Push commits changes to a branch, which starts at the default branch if it is new, and returns the SHA.
func (r *Repository) Push(who, branch, message string, changes Files) string {
	return r.push(push{kind: "push", who: who, branch: branch, message: message}, branch, changes)
}

// ForcePush replaces all commits that a branch has beyond the default branch by one new commit, which has
// the given changes.
func (r *Repository) ForcePush(who, branch, message string, changes Files) string {
	return r.push(push{kind: "force-push", who: who, branch: branch, message: message}, r.main, changes)
}

// PushAs pushes a commit with another author and committer. GitHub finds no user for a name that contains "@".
func (r *Repository) PushAs(who, author, committer, branch, message string, changes Files) string {
	return r.push(push{kind: "push", who: who, branch: branch, message: message, author: author, committer: committer}, branch, changes)
}

// A push is a push by a user. author and committer are those of its commit. An empty author means the
// user, and an empty committer means the author.
type push struct{ kind, who, branch, message, author, committer string }

// push commits changes on top of the branch from; if there is no such branch, on top of the default branch.
func (r *Repository) push(p push, from string, changes Files) string {
	w := r.hub.world
	defer w.lock()()
	w.log.Tick()
	at, ok := r.branches[from]
	if !ok {
		at = r.mustBranch(r.main)
	}
	sha := r.commitAs(cmp.Or(p.author, p.who), p.committer, p.message, w.history[at].Files.With(changes), at).SHA
	r.hub.pushed(r.repo, p, sha)
	return sha
}

// UpdateBranch merges the base branch into a pull request's branch, like GitHub's button "Update branch".
func (r *Repository) UpdateBranch(who string, number int) string {
	w := r.hub.world
	defer w.lock()()
	w.log.Tick()
	p := r.mustPull(number)
	files, conflicts := w.history.Merge(p.headSHA, r.branches[p.base])
	if len(conflicts) > 0 {
		panic(fmt.Sprintf("githubtest: #%d has conflicts in %s", number, strings.Join(conflicts, ", ")))
	}
	message := fmt.Sprintf("Merge branch '%s' into %s", p.base, p.head)
	sha := r.commit(who, message, files, p.headSHA, r.branches[p.base]).SHA
	r.hub.pushed(p.from, push{kind: "push", who: who, branch: p.head, message: message}, sha)
	return sha
}

// pushed moves a branch, and updates the open pull requests from it in all repositories.
func (h *Hub) pushed(r *repo, p push, sha string) {
	r.note(Edit{Kind: p.kind, Who: p.who, Text: p.branch + ": " + p.message})
	who := h.person(p.who)
	r.moved(p, sha, who)
	r.branches[p.branch] = sha
	for _, to := range h.repos {
		to.follow(r, p.branch, who)
	}
}

// follow updates the head of the open pull requests from a branch.
func (l *pulls) follow(from *repo, branch string, who *user) {
	for _, p := range l.list {
		if p.open && p.from == from && p.head == branch {
			before := p.headSHA
			p.headSHA, p.baseSHA, p.touched = from.branches[branch], l.repo.branches[p.base], l.repo.world.log.Now()
			l.send(p, who, "synchronize", rest.Object{"before": before, "after": p.headSHA})
		}
	}
}
