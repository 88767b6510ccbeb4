package githubtest

import (
	"fmt"
	"strings"
	"time"
)

// pull is a pull request. While it is open its head follows the branch.
type pull struct {
	id              int64
	number          int
	title           string
	author          *user
	from            *Repository
	head, base      string // branches
	headSHA         string
	open, merged    bool
	mergeSHA        string // of the merge, or of the trial
	mergeOf         [2]string
	made, touched   time.Time
	files, baseSHAs []string
}

// OpenPull opens a pull request from a branch to main, and returns its number.
func (r *Repository) OpenPull(who, title, branch string) int {
	return r.openPull(who, title, r, branch)
}

// OpenPullFrom opens a pull request from a fork's branch.
func (r *Repository) OpenPullFrom(fork *Repository, who, title, branch string) int {
	return r.openPull(who, title, fork, branch)
}

func (r *Repository) openPull(who, title string, from *Repository, branch string) int {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.tick()
	if from.branches[branch] == "" {
		panic(fmt.Sprintf("githubtest: %s has no branch %s", from, branch))
	}
	r.numbers++
	p := &pull{
		id: h.nextID(), number: r.numbers, title: title, author: h.person(who), from: from,
		head: branch, base: "main", headSHA: from.branches[branch], open: true, made: at, touched: at,
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

// trial brings the trial merge up to date, as GitHub does when it is asked.
func (r *Repository) trial(p *pull) (conflicts []string) {
	if !p.open {
		return nil
	}
	pair := [2]string{r.branches[p.base], p.headSHA}
	files, conflicts := r.hub.merged(pair[0], pair[1])
	if p.mergeOf != pair {
		p.mergeOf, p.mergeSHA = pair, ""
		if len(conflicts) == 0 {
			p.mergeSHA = r.hub.commit("GitHub", fmt.Sprintf("Merge %.7s into %.7s", pair[1], pair[0]), files, pair[0], pair[1]).sha
		}
	}
	return conflicts
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
	c := h.commit(who, message, files, p.headSHA, r.branches[p.base])
	h.note(Edit{Kind: "push", Repo: r.String(), Who: who, Text: p.head + ": " + message})
	p.from.move(h.person(who), p.head, c.sha)
	return c.sha
}

// Merge merges a pull request.
func (r *Repository) Merge(who string, number int) string {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.tick()
	p := r.mustPull(number)
	if conflicts := r.trial(p); !p.open || len(conflicts) > 0 {
		panic(fmt.Sprintf("githubtest: #%d cannot be merged", number))
	}
	c := h.commit(who, fmt.Sprintf("Merge pull request #%d from %s", number, p.head), h.commits[p.mergeSHA].files, p.mergeOf[0], p.mergeOf[1])
	r.branches[p.base] = c.sha
	p.open, p.merged, p.mergeSHA, p.touched = false, true, c.sha, at
	h.note(Edit{Kind: "merge", Repo: r.String(), Who: who, Number: number})
	r.sendPull(p, h.person(who), "closed", nil)
	return c.sha
}

// Close closes a pull request without merging it.
func (r *Repository) Close(who string, number int) {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	p := r.mustPull(number)
	p.open, p.touched = false, h.tick()
	h.note(Edit{Kind: "close", Repo: r.String(), Who: who, Number: number})
	r.sendPull(p, h.person(who), "closed", nil)
}
