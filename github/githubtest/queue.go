package githubtest

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/github/githubtest/internal/commits"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// queueBot is the login by which GitHub's merge queue merges.
const queueBot = "github-merge-queue[bot]"

// queued is a pull request in the merge queue of main, with the commit that is tested for it.
type queued struct {
	pull   *pull
	sha    string
	parent string
}

// Enqueue puts a pull request into the merge queue of main, behind those that are in it, and returns the commit of its merge
// group: GitHub wants the checks of that.
func (r *Repository) Enqueue(who string, number int) string {
	defer r.hub.lock()()
	p := r.mustPull(number)
	base := r.mustBranch("main")
	// A push puts a pull request out, and those behind it with it.
	if i := slices.IndexFunc(r.queue, func(q queued) bool { return q.pull == p }); i >= 0 {
		r.queue = r.queue[:i]
	}
	if n := len(r.queue); n > 0 {
		base = r.queue[n-1].sha
	}
	files, conflicts := r.repo.world.history.Merge(base, p.headSHA)
	if len(conflicts) > 0 || !p.open {
		panic(fmt.Sprintf("githubtest: #%d cannot be queued", number))
	}
	at := r.repo.commit(queueBot, fmt.Sprintf("Merge pull request #%d from %s", p.number, p.head), files, base, p.headSHA)
	r.queue = append(r.queue, queued{p, at.SHA, base})
	r.repo.note(Edit{Kind: "queue", Who: who, Number: number})
	r.repo.send("merge_group", rest.Object{"merge_group": groupJSON(p, at, base)}, r.repo.world.person(who), "checks_requested")
	return at.SHA
}

func groupJSON(p *pull, at *commits.Commit, base string) rest.Object {
	by := rest.Object{"name": queueBot, "email": "noreply@github.com"}
	return rest.Object{
		"head_sha": at.SHA, "head_ref": fmt.Sprintf("refs/heads/gh-readonly-queue/main/pr-%d-%s", p.number, base),
		"base_ref": "refs/heads/main", "base_sha": base,
		"head_commit": rest.Object{"id": at.SHA, "tree_id": at.SHA, "message": at.Message, "timestamp": rest.Stamp(at.At), "author": by, "committer": by},
	}
}

// Land merges the first pull request of the queue if the check of a name has passed for its merge group, and reports whether
// it did. One whose check has failed leaves the queue, and those behind it with it.
func (r *Repository) Land(check string) bool {
	defer r.hub.lock()()
	first := r.queue[0]
	conclusion := ""
	for _, c := range r.checks.list {
		if c.shown.SHA == first.sha && c.shown.Name == check && c.app.slug == r.repo.world.app.Slug {
			conclusion = string(c.shown.Conclusion)
		}
	}
	switch {
	case conclusion == "":
		return false
	case !slices.Contains([]string{"success", "neutral", "skipped"}, conclusion):
		r.queue = nil
		return false
	}
	r.queue = r.queue[1:]
	bot := r.repo.world.person(queueBot)
	first.pull.touched = r.repo.world.log.Tick()
	r.repo.branches["main"] = first.sha
	first.pull.open, first.pull.closedOn, first.pull.mergedBy, first.pull.mergeSHA = false, first.parent, bot, first.sha
	r.repo.note(Edit{Kind: "merge", Who: queueBot, Number: first.pull.number})
	r.pulls.send(first.pull, bot, "closed", nil)
	return true
}
