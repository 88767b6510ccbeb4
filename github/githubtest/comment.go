package githubtest

import (
	"slices"
	"time"
)

// A Comment is one on a pull request.
type Comment struct {
	ID        int64
	Number    int
	Author    string
	Body      string
	Reactions []string // "eyes by lockstep[bot]"

	author        *user
	before        string // the text before the last edit
	made, touched time.Time
	reactions     []reaction
}

type reaction struct {
	id      int64
	who     *user
	content string
	at      time.Time
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
	c.before, c.Body, c.touched = c.Body, body, r.hub.tick()
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

func (r *Repository) sendComment(p *pull, c *Comment, who *user, action string) {
	payload := object{"issue": r.hub.issueJSON(r, p), "comment": r.hub.commentJSON(r, c)}
	if action == "edited" {
		payload["changes"] = object{"body": object{"from": c.before}}
	}
	r.send("issue_comment", payload, who, action)
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
