package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// A Repository is one of a [Hub], with the App installed in it. Its methods are what
// people do; those that cannot be right panic, since a test is at fault then.
type Repository struct {
	hub          *Hub
	id           int64
	owner        *user
	name         string
	fork         bool
	installation int64
	permissions  map[string]string
	branches     map[string]string // name -> SHA
	pulls        []*pull
	comments     []*Comment
	numbers      int
}

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

// A Comment is one on a pull request.
type Comment struct {
	ID        int64
	Number    int
	Author    string
	Body      string
	Reactions []string // "eyes by lockstep[bot]"

	author        *user
	made, touched time.Time
	reactions     []reaction
}

type reaction struct {
	id      int64
	who     *user
	content string
	at      time.Time
}

// AddRepository makes a repository with files on the branch main.
func (h *Hub) AddRepository(owner, name string, files Files) *Repository {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &Repository{
		hub: h, id: h.nextID(), owner: h.person(owner), name: name, installation: h.nextID(),
		permissions: map[string]string{owner: "admin"}, branches: map[string]string{},
	}
	h.tick()
	r.branches["main"] = h.commit(owner, "First commit", files).sha
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
		hub: h, id: h.nextID(), owner: h.person(owner), name: r.name, fork: true,
		permissions: map[string]string{owner: "admin"}, branches: map[string]string{"main": r.branches["main"]},
	}
	h.repos = append(h.repos, f)
	return f
}

// Repo returns the repository as a client names it.
func (r *Repository) Repo() github.Repo {
	return github.Repo{ID: r.id, Owner: r.owner.login, Name: r.name}
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

// Head returns the name of a branch's latest commit.
func (r *Repository) Head(branch string) string {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return r.branches[branch]
}

// Push commits changes to a branch, which starts at main if it is new.
func (r *Repository) Push(who, branch, message string, changes Files) string {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tick()
	at, ok := r.branches[branch]
	if !ok {
		at = r.branches["main"]
	}
	c := h.commit(who, message, h.commits[at].files.with(changes), at)
	h.note(Edit{Kind: "push", Repo: r.String(), Who: who, Text: branch + ": " + message})
	r.move(h.person(who), branch, c.sha)
	return c.sha
}

// move sets a branch, and with it the pull requests that come from it.
func (r *Repository) move(who *user, branch, sha string) {
	r.branches[branch] = sha
	for _, to := range r.hub.repos {
		for _, p := range to.pulls {
			if p.open && p.from == r && p.head == branch {
				before := p.headSHA
				p.headSHA, p.touched = sha, r.hub.clock
				to.sendPull(p, who, "synchronize", map[string]any{"before": before, "after": sha})
			}
		}
	}
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

// Comment writes a comment on a pull request, and returns its ID.
func (r *Repository) Comment(who string, number int, body string) int64 {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	return r.comment(h.person(who), r.mustPull(number), body).ID
}

func (r *Repository) comment(who *user, p *pull, body string) *Comment {
	h := r.hub
	at := h.tick()
	// Small numbers read better than those of GitHub.
	c := &Comment{ID: int64(len(r.comments) + 1), Number: p.number, Author: who.login, Body: body, author: who, made: at, touched: at}
	r.comments = append(r.comments, c)
	h.note(Edit{Kind: "comment", Repo: r.String(), Who: who.login, Number: p.number, Comment: c.ID, Text: body})
	r.sendComment(p, c, who, "created")
	return c
}

// EditComment changes a comment.
func (r *Repository) EditComment(who string, id int64, body string) {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	r.editComment(h.person(who), r.findComment(id), body)
}

func (r *Repository) editComment(who *user, c *Comment, body string) {
	c.Body, c.touched = body, r.hub.tick()
	r.hub.note(Edit{Kind: "edit", Repo: r.String(), Who: who.login, Number: c.Number, Comment: c.ID, Text: body})
	r.sendComment(r.pull(c.Number), c, who, "edited")
}

func (r *Repository) findComment(id int64) *Comment {
	for _, c := range r.comments {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Comments returns the comments on a pull request, oldest first.
func (r *Repository) Comments(number int) []Comment {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	var out []Comment
	for _, c := range r.comments {
		if c.Number == number {
			x := *c
			for _, re := range c.reactions {
				x.Reactions = append(x.Reactions, re.content+" by "+re.who.login)
			}
			out = append(out, x)
		}
	}
	return slices.Clip(out)
}
