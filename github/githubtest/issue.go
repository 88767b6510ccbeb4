package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// issues are those of a repository. Their numbers are apart from those of pull requests, which count from 1.
type issues struct {
	*pulls
	list []*Issue // oldest first
	off  bool
}

// An Issue is one as people see it.
type Issue struct {
	Number      int
	Author      string
	Title, Body string
	Open        bool

	id            int64
	author        *user
	made, touched time.Time
}

const firstIssue = 1001

// Issues returns the issues of the repository, oldest first.
func (l *issues) Issues() []Issue {
	defer l.repo.world.lock()()
	var out []Issue
	for _, x := range l.list {
		out = append(out, *x)
	}
	return out
}

// WithoutIssues switches the issues of the repository off.
func (l *issues) WithoutIssues() {
	defer l.repo.world.lock()()
	l.off = true
}

// OpenIssue opens an issue of somebody.
func (l *issues) OpenIssue(who, title, body string) int {
	defer l.repo.world.lock()()
	return l.open(l.repo.world.person(who), title, body).Number
}

func (l *issues) open(who *user, title, body string) *Issue {
	at := l.repo.world.log.Tick()
	x := &Issue{Number: firstIssue + len(l.list), Author: who.login, Title: title, Body: body, Open: true, id: l.repo.world.log.NextID(), author: who, made: at, touched: at}
	l.list = append(l.list, x)
	l.repo.note(Edit{Kind: "issue", Who: who.login, Number: x.Number, Text: "open, " + title})
	return x
}

var issuesOff = &rest.Problem{Status: http.StatusGone, Message: "Issues has been disabled in this repository."}

// listIssues is GET /repos/{owner}/{repo}/issues: here without pull requests, and oldest first, as the client asks.
func (l *issues) listIssues(r *http.Request) (int, any) {
	if l.off {
		return rest.Fail(issuesOff)
	}
	q, list := r.URL.Query(), []any{}
	for _, x := range l.list {
		state := q.Get("state")
		if (q.Get("creator") == "" || q.Get("creator") == x.Author) && (state == "all" || x.Open == (state != "closed")) {
			list = append(list, l.json(x))
		}
	}
	return http.StatusOK, rest.Paged(r, list)
}

// createIssue is POST /repos/{owner}/{repo}/issues.
func (l *issues) createIssue(r *http.Request) (int, any) {
	var in struct{ Title, Body string }
	switch err := json.NewDecoder(r.Body).Decode(&in); {
	case l.off:
		return rest.Fail(issuesOff)
	case err != nil || in.Title == "":
		return rest.Fail(rest.Invalid("Validation Failed: title can't be blank"))
	}
	return http.StatusCreated, l.json(l.open(l.repo.world.person(l.repo.world.app.Slug+"[bot]"), in.Title, in.Body))
}

// updateIssue is PATCH /repos/{owner}/{repo}/issues/{number}.
func (l *issues) updateIssue(r *http.Request) (int, any) {
	i := int(rest.ID(r, "number")) - firstIssue
	if i < 0 || i >= len(l.list) {
		return rest.Fail(rest.NotFound)
	}
	x := l.list[i]
	var in struct{ Title, Body, State *string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return rest.Fail(rest.Invalid("Validation Failed"))
	}
	for to, from := range map[*string]*string{&x.Title: in.Title, &x.Body: in.Body} {
		if from != nil {
			*to = *from
		}
	}
	if in.State != nil {
		x.Open = *in.State == "open"
	}
	x.touched = l.repo.world.log.Tick()
	l.repo.note(Edit{Kind: "issue", Who: l.repo.world.person(l.repo.world.app.Slug + "[bot]").login, Number: x.Number, Text: x.state() + ", " + x.Title})
	return http.StatusOK, l.json(x)
}

func (x *Issue) state() string {
	if x.Open {
		return "open"
	}
	return "closed"
}

func (l *issues) json(x *Issue) rest.Object {
	api := fmt.Sprintf("%srepos/%s/issues/%d", rest.APIURL, l.repo, x.Number)
	o := rest.Object{
		"id": x.id, "node_id": rest.NodeID("Issue", x.id), "number": x.Number, "title": x.Title, "body": x.Body, "state": x.state(), "locked": false,
		"user": x.author.json(), "assignee": nil, "assignees": []any{}, "labels": []any{}, "milestone": nil, "comments": 0, "closed_at": nil,
		"author_association": "CONTRIBUTOR", "created_at": rest.Stamp(x.made), "updated_at": rest.Stamp(x.touched),
		"url": api, "repository_url": fmt.Sprintf("%srepos/%s", rest.APIURL, l.repo), "labels_url": api + "/labels{/name}",
		"comments_url": api + "/comments", "events_url": api + "/events", "html_url": fmt.Sprintf("%s%s/issues/%d", rest.WebURL, l.repo, x.Number),
	}
	if !x.Open {
		o["closed_at"] = rest.Stamp(x.touched)
	}
	return o
}
