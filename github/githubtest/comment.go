package githubtest

import (
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// comments has the comments on the pull requests and issues of a repository.
type comments struct {
	*pulls
	issues *issueList
	list   []*Comment // oldest first
	last   int64      // the highest ID so far, because GitHub never reuses one
}

// A Comment is a comment on a pull request or an issue.
type Comment struct {
	ID        int64
	Number    int
	Author    string
	Body      string
	Reactions []string // "eyes by lockstep[bot]"
	Minimized bool     // it is shown as one line

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

// Comment writes a comment on a pull request or an issue, and returns its ID.
func (l *comments) Comment(who string, number int, body string) int64 {
	defer l.repo.world.lock()()
	if l.issues.numbered(number) == nil {
		l.pulls.mustPull(number)
	}
	return l.comment(l.repo.world.person(who), number, body).ID
}

func (l *comments) comment(who *user, number int, body string) *Comment {
	at := l.repo.world.log.Tick()
	if x := l.issues.numbered(number); x != nil {
		x.touched = at
	} else {
		l.pulls.pull(number).touched = at
	}
	l.last++ // small IDs, unlike GitHub's, because they are easier to read
	c := &Comment{ID: l.last, Number: number, Author: who.login, Body: body, author: who, made: at, touched: at}
	l.list = append(l.list, c)
	l.repo.note(Edit{Kind: "comment", Who: who.login, Number: number, Comment: c.ID, Text: body})
	l.sendComment(c, who, "created")
	return c
}

// EditComment changes a comment.
func (l *comments) EditComment(who string, id int64, body string) {
	defer l.repo.world.lock()()
	l.editComment(l.repo.world.person(who), l.findComment(id), body)
}

func (l *comments) editComment(who *user, c *Comment, body string) {
	c.before, c.Body, c.touched = c.Body, body, l.repo.world.log.Tick()
	l.repo.note(Edit{Kind: "edit", Who: who.login, Number: c.Number, Comment: c.ID, Text: body})
	l.sendComment(c, who, "edited")
}

// DeleteComment removes a comment.
func (l *comments) DeleteComment(who string, id int64) {
	defer l.repo.world.lock()()
	l.dropComment(l.repo.world.person(who), l.findComment(id))
}

func (l *comments) dropComment(who *user, c *Comment) {
	l.list = slices.DeleteFunc(slices.Clone(l.list), func(o *Comment) bool { return o == c })
	l.repo.world.log.Tick()
	l.repo.note(Edit{Kind: "delete", Who: who.login, Number: c.Number, Comment: c.ID})
	l.sendComment(c, who, "deleted")
}

func (l *comments) findComment(id int64) *Comment {
	return rest.First(l.list, func(c *Comment) bool { return c.ID == id })
}

func (l *comments) sendComment(c *Comment, who *user, action string) {
	payload := rest.Object{"comment": l.json(c)}
	if x := l.issues.numbered(c.Number); x != nil {
		payload["issue"] = l.issues.json(x)
	} else {
		payload["issue"] = l.pulls.issueJSON(l.pulls.pull(c.Number))
	}
	if action == "edited" {
		payload["changes"] = rest.Object{"body": rest.Object{"from": c.before}}
	}
	l.repo.send("issue_comment", payload, who, action)
}

// Comments returns the comments on a pull request or an issue, oldest first.
func (l *comments) Comments(number int) []Comment {
	defer l.repo.world.lock()()
	var out []Comment
	for _, c := range l.list {
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
