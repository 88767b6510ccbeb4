package githubtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/internal/queries"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/queues"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// queued is a pull request in the merge queue of main since a time, with the commit that is tested for it.
type queued struct {
	pull   *pull
	sha    string
	parent string
	by     string // login
	at     time.Time
}

// Enqueue puts a pull request into the merge queue of main, behind those that are in it, and returns the commit of its merge
// group: GitHub wants the checks of that.
func (r *Repository) Enqueue(who string, number int) string {
	defer r.hub.lock()()
	p := r.mustPull(number)
	base := r.mustBranch("main")
	// A push puts a pull request out, and those behind it with it.
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
	at := r.repo.commit(queues.Bot, fmt.Sprintf("Merge pull request #%d from %s", p.number, p.head), files, base, p.headSHA)
	r.queue = append(r.queue, queued{p, at.SHA, base, who, r.repo.world.log.Tick()})
	r.repo.note(Edit{Kind: "queue", Who: who, Number: number})
	r.repo.send("merge_group", rest.Object{"merge_group": queues.Group(p.number, at, base)}, r.repo.world.person(who), "checks_requested")
	return at.SHA
}

// Dequeue takes a pull request out of the merge queue, and those behind it. GitHub puts the latter in again.
func (r *Repository) Dequeue(number int) {
	defer r.hub.lock()()
	r.dequeue(slices.IndexFunc(r.queue, func(q queued) bool { return q.pull.number == number }), "dequeued")
}

// dequeue destroys the groups from a place in the queue on.
func (r *Repository) dequeue(from int, reason string) {
	for _, q := range r.queue[from:] {
		group := queues.Group(q.pull.number, r.repo.world.history[q.sha], q.parent)
		r.repo.send("merge_group", rest.Object{"merge_group": group, "reason": reason}, r.repo.world.person(queues.Bot), "destroyed")
	}
	r.queue = r.queue[:from]
}

// queueJSON is the merge queue that a pull request is in.
func (r *Repository) queueJSON(p *pull) rest.Object {
	entries, in := []any{}, false
	for _, q := range r.queue {
		entries, in = append(entries, queries.Entry(q.pull.number, q.sha, q.by, q.at)), in || q.pull == p
	}
	return queries.Queue(entries, in)
}

// Land merges the first pull request of the queue if the check of a name has passed for its merge group, and reports whether
// it did. One whose check has failed leaves the queue, and those behind it with it.
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
	bot := r.repo.world.person(queues.Bot)
	first.pull.touched = r.repo.world.log.Tick()
	r.repo.branches["main"] = first.sha
	first.pull.open, first.pull.closedOn, first.pull.mergedBy, first.pull.mergeSHA = false, first.parent, bot, first.sha
	first.pull.mergedAt = first.pull.touched
	r.repo.note(Edit{Kind: "merge", Who: queues.Bot, Number: first.pull.number})
	r.pulls.send(first.pull, bot, "closed", nil)
	return true
}
