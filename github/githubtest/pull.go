package githubtest

import (
	"fmt"
	"strings"
	"time"
)

// pull is a pull request. While it is open its head follows the branch.
type pull struct {
	id            int64
	number        int
	title         string
	author        *user
	from          *Repository
	head, base    string // branches
	headSHA       string
	baseSHA       string // of the base branch, when the head was last pushed
	open, draft   bool
	closedOn      string // what the base branch was when it was closed
	mergedBy      *user  // nil if it is not merged
	mergeSHA      string // what it became
	trial         trial
	made, touched time.Time
	reviews       []*review
}

// OpenPull opens a pull request from a branch to main, and returns its number.
func (r *Repository) OpenPull(who, title, branch string) int {
	return r.openPull(who, title, r, branch, false)
}

// OpenDraft opens a pull request that is a draft.
func (r *Repository) OpenDraft(who, title, branch string) int {
	return r.openPull(who, title, r, branch, true)
}

// OpenPullFrom opens a pull request from a fork's branch.
func (r *Repository) OpenPullFrom(fork *Repository, who, title, branch string) int {
	return r.openPull(who, title, fork, branch, false)
}

func (r *Repository) openPull(who, title string, from *Repository, branch string, draft bool) int {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.tick()
	r.numbers++
	p := &pull{
		id: h.nextID(), number: r.numbers, title: title, author: h.person(who), from: from,
		head: branch, base: "main", headSHA: from.mustBranch(branch), baseSHA: r.mustBranch("main"), open: true, draft: draft, made: at, touched: at,
	}
	r.pulls = append(r.pulls, p)
	h.note(Edit{Kind: "pull request", Repo: r.String(), Who: who, Number: p.number, Text: title})
	r.sendPull(p, p.author, "opened", nil)
	return p.number
}

func (r *Repository) pull(number int) *pull {
	for _, p := range r.pulls {
		if p.number == number {
			return p
		}
	}
	return nil
}

func (r *Repository) mustPull(number int) *pull {
	p := r.pull(number)
	if p == nil {
		panic(fmt.Sprintf("githubtest: %s has no pull request #%d", r, number))
	}
	return p
}

// act does something to a pull request that leaves an edit and a webhook.
func (r *Repository) act(who string, number int, kind, text string, do func(*pull) (action string, more object)) {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	p := r.mustPull(number)
	p.touched = h.tick()
	action, more := do(p)
	h.note(Edit{Kind: kind, Repo: r.String(), Who: who, Number: number, Text: text})
	r.sendPull(p, h.person(who), action, more)
}

// Ready says that a draft is none any longer.
func (r *Repository) Ready(who string, number int) {
	r.act(who, number, "ready", "", func(p *pull) (string, object) {
		p.draft = false
		return "ready_for_review", nil
	})
}

// Retarget lets a pull request be merged into another branch.
func (r *Repository) Retarget(who string, number int, base string) {
	r.act(who, number, "retarget", base, func(p *pull) (string, object) {
		changes := object{"base": object{"ref": object{"from": p.base}, "sha": object{"from": p.baseSHA}}}
		p.base, p.baseSHA = base, r.mustBranch(base)
		return "edited", object{"changes": changes}
	})
}

// Close closes a pull request without merging it.
func (r *Repository) Close(who string, number int) {
	r.act(who, number, "close", "", func(p *pull) (string, object) {
		p.open, p.closedOn = false, r.branches[p.base]
		return "closed", nil
	})
}

// Reopen opens a pull request again that was closed.
func (r *Repository) Reopen(who string, number int) {
	r.act(who, number, "reopen", "", func(p *pull) (string, object) {
		if p.open || p.mergedBy != nil {
			panic(fmt.Sprintf("githubtest: #%d cannot be reopened", number))
		}
		p.open, p.headSHA = true, p.from.mustBranch(p.head)
		return "reopened", nil
	})
}

// Merge merges a pull request, by a commit of two parents.
func (r *Repository) Merge(who string, number int) string {
	return r.merge(who, number, func(p *pull, base string) []string { return []string{base, p.headSHA} })
}

// Squash merges a pull request by one commit on top of its base branch.
func (r *Repository) Squash(who string, number int) string {
	return r.merge(who, number, func(p *pull, base string) []string { return []string{base} })
}

func (r *Repository) merge(who string, number int, parents func(p *pull, base string) []string) string {
	var sha string
	r.act(who, number, "merge", "", func(p *pull) (string, object) {
		base := r.mustBranch(p.base)
		files, conflicts := r.hub.merged(base, p.headSHA)
		if !p.open || len(conflicts) > 0 {
			panic(fmt.Sprintf("githubtest: #%d cannot be merged: %s", number, strings.Join(conflicts, ", ")))
		}
		sha = r.commit(who, fmt.Sprintf("Merge pull request #%d from %s", number, p.head), files, parents(p, base)...).sha
		r.branches[p.base] = sha
		p.open, p.closedOn, p.mergedBy, p.mergeSHA = false, base, r.hub.person(who), sha
		return "closed", nil
	})
	return sha
}

// UpdateBranch merges main into a pull request's branch, as the button of that name.
func (r *Repository) UpdateBranch(who string, number int) string {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tick()
	p := r.mustPull(number)
	files, conflicts := h.merged(p.headSHA, r.branches[p.base])
	if len(conflicts) > 0 {
		panic(fmt.Sprintf("githubtest: #%d has conflicts in %s", number, strings.Join(conflicts, ", ")))
	}
	message := fmt.Sprintf("Merge branch '%s' into %s", p.base, p.head)
	c := r.commit(who, message, files, p.headSHA, r.branches[p.base])
	p.from.pushed(push{"push", who, p.head, message}, c)
	return c.sha
}
