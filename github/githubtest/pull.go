package githubtest

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// pulls has the pull requests of a repository.
type pulls struct {
	repo *repo
	list []*pull
	lag  int // see LagMerges
	// protected is the message with which GitHub refuses merges by the API; see RefuseMerges.
	protected string
}

// A pull is a pull request. While it is open, its head follows the branch.
type pull struct {
	id            int64
	number        int
	title, body   string
	author        *user
	from          *repo
	head, base    string // branches
	headSHA       string
	baseSHA       string // of the base branch, when the head was last pushed
	open, draft   bool
	closedOn      string // SHA of the base branch, when it was closed
	mergedBy      *user  // nil if it is not merged
	mergeSHA      string // of the commit that merged it
	commits       int    // the number of its commits at the merge
	landed        string // the message of that commit; "" is GitHub's
	trial         trial
	made, touched time.Time
	mergedAt      time.Time
	reviews       []*review
	labels        []string
	labelings     []labeling
	threads       []bool // conversations, by whether they are resolved
	auto          *auto
}

// OpenPull opens a pull request from a branch to main, and returns its number.
func (r *Repository) OpenPull(who, title, branch string) int {
	return r.openPull(who, title, r.repo, branch, false)
}

// OpenDraft opens a pull request that is a draft.
func (r *Repository) OpenDraft(who, title, branch string) int {
	return r.openPull(who, title, r.repo, branch, true)
}

// OpenPullFrom opens a pull request from a fork's branch.
func (r *Repository) OpenPullFrom(fork *Repository, who, title, branch string) int {
	return r.openPull(who, title, fork.repo, branch, false)
}

func (l *pulls) openPull(who, title string, from *repo, branch string, draft bool) int {
	w := l.repo.world
	defer w.lock()()
	return l.open(w.person(who), opened{title: title, from: from, branch: branch, base: l.repo.main, draft: draft}).number
}

// An opened pull request has these properties from the beginning. branch is a branch of the repository from.
type opened struct {
	title, body  string
	from         *repo
	branch, base string
	draft        bool
}

func (l *pulls) open(by *user, o opened) *pull {
	w := l.repo.world
	at := w.log.Tick()
	p := &pull{
		id: w.log.nextID(), number: len(l.list) + 1, title: o.title, body: o.body, author: by, from: o.from,
		head: o.branch, base: o.base, headSHA: o.from.mustBranch(o.branch), baseSHA: l.repo.mustBranch(o.base), open: true, draft: o.draft, made: at, touched: at,
	}
	l.list = append(l.list, p)
	l.repo.note(Edit{Kind: "pull request", Who: by.login, Number: p.number, Text: o.title})
	l.send(p, by, "opened", nil)
	return p
}

// pull returns the pull request with a number; nil if there is none.
func (l *pulls) pull(number int) *pull {
	if number < 1 || number > len(l.list) {
		return nil
	}
	return l.list[number-1]
}

func (l *pulls) mustPull(number int) *pull {
	p := l.pull(number)
	if p == nil {
		panic(fmt.Sprintf("githubtest: %s has no pull request #%d", l.repo, number))
	}
	return p
}

// act changes a pull request by the function do, records an Edit, and sends a webhook.
func (l *pulls) act(who string, number int, kind, text string, do func(*pull) (action string, more rest.Object)) {
	w := l.repo.world
	defer w.lock()()
	p := l.mustPull(number)
	p.touched = w.log.Tick()
	action, more := do(p)
	l.repo.note(Edit{Kind: kind, Who: who, Number: number, Text: text})
	l.send(p, w.person(who), action, more)
}

// Ready marks a draft as ready for review.
func (l *pulls) Ready(who string, number int) {
	l.act(who, number, "ready", "", func(p *pull) (string, rest.Object) {
		p.draft = false
		return "ready_for_review", nil
	})
}

// Draft turns a pull request back into a draft.
func (l *pulls) Draft(who string, number int) {
	l.act(who, number, "draft", "", func(p *pull) (string, rest.Object) {
		p.draft = true
		return "converted_to_draft", nil
	})
}

// Retarget changes the base branch of a pull request.
func (l *pulls) Retarget(who string, number int, base string) {
	l.act(who, number, "retarget", base, func(p *pull) (string, rest.Object) {
		changes := rest.Object{"base": rest.Object{"ref": rest.Object{"from": p.base}, "sha": rest.Object{"from": p.baseSHA}}}
		p.base, p.baseSHA = base, l.repo.mustBranch(base)
		return "edited", rest.Object{"changes": changes}
	})
}

// Close closes a pull request without merging it.
func (l *pulls) Close(who string, number int) {
	l.act(who, number, "close", "", func(p *pull) (string, rest.Object) {
		p.open, p.closedOn = false, l.repo.branches[p.base]
		return "closed", nil
	})
}

// Reopen reopens a closed pull request.
func (l *pulls) Reopen(who string, number int) {
	l.act(who, number, "reopen", "", func(p *pull) (string, rest.Object) {
		if p.open || p.mergedBy != nil {
			panic(fmt.Sprintf("githubtest: #%d cannot be reopened", number))
		}
		p.open, p.headSHA = true, p.from.mustBranch(p.head)
		return "reopened", nil
	})
}

// Merge merges a pull request by a commit with two parents, and returns the commit's SHA.
func (l *pulls) Merge(who string, number int) string {
	return l.merge(who, number, func(p *pull, base string) []string { return []string{base, p.headSHA} })
}

// Squash merges a pull request by one commit on top of its base branch, and returns the commit's SHA.
func (l *pulls) Squash(who string, number int) string {
	return l.merge(who, number, func(p *pull, base string) []string { return []string{base} })
}

// Rebase merges a pull request by copying each of its commits, with its message, on top of the base branch.
// It returns the SHA of the last copy.
func (l *pulls) Rebase(who string, number int) string {
	return l.merge(who, number, func(p *pull, base string) []string {
		r := l.repo
		missing := r.world.history.Missing(base, p.headSHA)
		p.landed = missing[len(missing)-1].Message
		for _, c := range missing[:len(missing)-1] {
			base = r.commit(c.Author, c.Message, r.world.history[base].Files, base).SHA
		}
		return []string{base}
	})
}

func (l *pulls) merge(who string, number int, parents func(p *pull, base string) []string) string {
	var sha string
	r := l.repo
	l.act(who, number, "merge", "", func(p *pull) (string, rest.Object) {
		base := r.mustBranch(p.base)
		_, conflicts := r.world.history.Merge(base, p.headSHA)
		if !p.open || len(conflicts) > 0 {
			panic(fmt.Sprintf("githubtest: #%d cannot be merged: %s", number, strings.Join(conflicts, ", ")))
		}
		sha = l.land(p, r.world.person(who), base, parents(p, base))
		return "closed", nil
	})
	return sha
}

// land merges a pull request by a commit with the given parents on top of base, and returns the commit's SHA.
func (l *pulls) land(p *pull, by *user, base string, parents []string) string {
	r := l.repo
	files, _ := r.world.history.Merge(base, p.headSHA)
	count := len(r.world.history.Missing(base, p.headSHA))
	sha := r.commit(by.login, cmp.Or(p.landed, fmt.Sprintf("Merge pull request #%d from %s", p.number, p.head)), files, parents...).SHA
	p.commits = count
	r.branches[p.base] = sha
	p.open, p.closedOn, p.mergedBy, p.mergeSHA, p.mergedAt = false, base, by, sha, p.touched
	return sha
}

// send adds a webhook about a pull request, which waits for Deliver.
func (l *pulls) send(p *pull, who *user, action string, more rest.Object) {
	payload := rest.Object{"number": p.number, "pull_request": l.json(p)}
	for k, v := range more {
		payload[k] = v
	}
	l.repo.send("pull_request", payload, who, action)
}
