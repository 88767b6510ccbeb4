package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/commits"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// queued is an entry of the merge queue of main: a pull request, and the commit that is tested for it.
type queued struct {
	pull   *pull
	sha    string
	parent string
	by     string // login
	at     time.Time
}

// Enqueue adds a pull request to the end of the merge queue of main. It returns the commit of its merge group,
// on which GitHub requires the checks.
func (r *Repository) Enqueue(who string, number int) string {
	defer r.hub.lock()()
	return r.putInQueue(who, r.mustPull(number))
}

// RequireQueue makes main accept merges only through its merge queue.
func (l *pulls) RequireQueue() { l.RefuseMerges(queueRefusal) }

// enqueue answers the mutation enqueuePullRequest, for the pull request with a node ID and a head.
func (h *Hub) enqueue(t *apps.Token, id, sha string) (int, any) {
	for _, x := range h.repos {
		p := rest.First(x.pulls.list, func(p *pull) bool { return rest.NodeID("PullRequest", p.id) == id })
		switch {
		case p == nil || !t.Opens(x.installation, x.id):
		case !t.Allows("contents:write"):
			return http.StatusOK, refusedAnswer("FORBIDDEN", apps.Forbidden.Message)
		case !p.open || p.draft || p.headSHA != sha || inQueue(x, p):
			return http.StatusOK, refusedAnswer("UNPROCESSABLE", "The pull request cannot be queued")
		default:
			x.putInQueue(h.app.Login(), p)
			return http.StatusOK, enqueuedAnswer(x.queue[len(x.queue)-1].at)
		}
	}
	return http.StatusOK, refusedAnswer("NOT_FOUND", "Could not resolve to a node with the global id of '"+id+"'")
}

// putInQueue does the same as Enqueue. The caller has the lock.
func (r *Repository) putInQueue(who string, p *pull) string {
	number, base := p.number, r.mustBranch("main")
	// A push removes the pull request from the queue, and with it all pull requests after it.
	if i := slices.IndexFunc(r.queue, func(q queued) bool { return q.pull == p }); i >= 0 {
		r.dequeue(i, "dequeued")
	}
	if n := len(r.queue); n > 0 {
		base = r.queue[n-1].sha
	}
	files, conflicts := r.repo.world.history.Merge(base, p.headSHA)
	if len(conflicts) > 0 || !p.open {
		panic(fmt.Sprintf("githubtest: #%d cannot be queued", number))
	}
	at := r.repo.commit(queueBot, fmt.Sprintf("Merge pull request #%d from %s", p.number, p.head), files, base, p.headSHA)
	r.queue = append(r.queue, queued{p, at.SHA, base, who, r.repo.world.log.Tick()})
	r.repo.note(Edit{Kind: "queue", Who: who, Number: number})
	r.repo.send("merge_group", rest.Object{"merge_group": groupJSON(p.number, at, base)}, r.repo.world.person(who), "checks_requested")
	return at.SHA
}

// Dequeue removes a pull request, and all pull requests after it, from the merge queue. As on GitHub, the
// pull requests after it are then added again.
func (r *Repository) Dequeue(number int) {
	defer r.hub.lock()()
	r.dequeue(slices.IndexFunc(r.queue, func(q queued) bool { return q.pull.number == number }), "dequeued")
}

// dequeue destroys the merge groups from an index of the queue on.
func (r *Repository) dequeue(from int, reason string) {
	for _, q := range r.queue[from:] {
		group := groupJSON(q.pull.number, r.repo.world.history[q.sha], q.parent)
		r.repo.send("merge_group", rest.Object{"merge_group": group, "reason": reason}, r.repo.world.person(queueBot), "destroyed")
	}
	r.queue = r.queue[:from]
}

// queueJSON returns the merge queue that contains a pull request.
func (r *Repository) queueJSON(p *pull) rest.Object {
	entries := []any{}
	for _, q := range r.queue {
		entries = append(entries, entryJSON(q.pull.number, q.sha, q.by, q.at))
	}
	return queueAnswer(entries, inQueue(r, p))
}

func inQueue(r *Repository, p *pull) bool {
	return slices.ContainsFunc(r.queue, func(q queued) bool { return q.pull == p })
}

// Land merges the first pull request of the queue if a check has passed for its merge group, and reports
// whether it did. If the check has failed, the pull request and all pull requests after it leave the queue.
func (r *Repository) Land(check string) bool {
	defer r.hub.lock()()
	first, conclusion := r.queue[0], ""
	for _, c := range r.checks.list {
		if c.shown.SHA == first.sha && c.shown.Name == check && c.app.slug == r.repo.world.app.Slug {
			conclusion = string(c.shown.Conclusion)
		}
	}
	switch {
	case conclusion == "":
		return false
	case !slices.Contains([]string{"success", "neutral", "skipped"}, conclusion):
		r.dequeue(0, "dequeued")
		return false
	}
	r.queue = r.queue[1:]
	bot := r.repo.world.person(queueBot)
	first.pull.touched = r.repo.world.log.Tick()
	r.repo.branches["main"] = first.sha
	first.pull.open, first.pull.closedOn, first.pull.mergedBy, first.pull.mergeSHA = false, first.parent, bot, first.sha
	first.pull.mergedAt = first.pull.touched
	r.repo.note(Edit{Kind: "merge", Who: queueBot, Number: first.pull.number})
	r.pulls.send(first.pull, bot, "closed", nil)
	return true
}

// queueBot is the login of GitHub's merge queue when it merges.
const queueBot = "github-merge-queue[bot]"

// queueRefusal is GitHub's message if a merge by the API is refused because the branch requires its queue.
const queueRefusal = "Changes must be made through the merge queue"

// groupJSON returns the merge group of a pull request, with its commit.
func groupJSON(number int, at *commits.Commit, base string) rest.Object {
	by := rest.Object{"name": queueBot, "email": "noreply@github.com"}
	return rest.Object{
		"head_sha": at.SHA, "head_ref": fmt.Sprintf("refs/heads/gh-readonly-queue/main/pr-%d-%s", number, base),
		"base_ref": "refs/heads/main", "base_sha": base,
		"head_commit": rest.Object{"id": at.SHA, "tree_id": at.SHA, "message": at.Message, "timestamp": rest.Stamp(at.At), "author": by, "committer": by},
	}
}
