package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// tracker has the issues of a repository.
type tracker struct {
	*repo
	issues *issueList
}

func newTracker(r *repo) *tracker {
	return &tracker{r, &issueList{Repo: r, Log: r.world.log, App: r.world.ours}}
}

// Issues returns the issues of the repository, oldest first.
func (t *tracker) Issues() []Issue {
	defer t.world.lock()()
	return t.issues.All()
}

// CloseIssue closes an issue, and ReopenIssue opens it again.
func (t *tracker) CloseIssue(number int)  { t.changeIssue(number, func(x *Issue) { x.Open = false }) }
func (t *tracker) ReopenIssue(number int) { t.changeIssue(number, func(x *Issue) { x.Open = true }) }

// EditIssue changes the text of an issue.
func (t *tracker) EditIssue(number int, body string) {
	t.changeIssue(number, func(x *Issue) { x.Body = body })
}

// DeleteIssue deletes an issue. Its number is not used again.
func (t *tracker) DeleteIssue(number int) {
	t.changeIssue(number, func(x *Issue) { x.gone, x.Open = true, false })
}

func (t *tracker) changeIssue(number int, change func(*Issue)) {
	defer t.world.lock()()
	x := t.issues.numbered(number)
	change(x)
	x.touched = t.world.log.Tick()
}

// WithoutIssues disables the issues of the repository, or enables them again.
func (t *tracker) WithoutIssues(off bool) {
	defer t.world.lock()()
	t.issues.Off = off
}

// OpenIssue opens an issue in the name of the user who, and returns the number of the issue.
func (t *tracker) OpenIssue(who, title, body string) int {
	defer t.world.lock()()
	return t.issues.Open(who, t.world.person(who).json(), title, body).Number
}

func (t *tracker) getIssue(r *http.Request) (int, any)    { return t.issues.Get(r) }
func (t *tracker) listIssues(r *http.Request) (int, any)  { return t.issues.Find(r) }
func (t *tracker) createIssue(r *http.Request) (int, any) { return t.issues.Create(r) }
func (t *tracker) updateIssue(r *http.Request) (int, any) { return t.issues.Update(r) }

// An issueList has the issues of a repository. Issues and pull requests never have the same number: pull
// requests count from 1, and issues from a much larger number. It is not safe for concurrent use.
type issueList struct {
	Repo fmt.Stringer // owner/name
	Log  *storyLog
	App  func() (login string, user rest.Object) // the App's user
	// Off is set if issues are disabled in the repository.
	Off bool

	list []*Issue // oldest first
	talk func(number int) []string
}

// An Issue is an issue as GitHub's page shows it.
type Issue struct {
	Number      int
	Author      string
	Title, Body string
	Open        bool
	Talk        []string // the texts of the comments

	gone          bool // it was deleted
	id            int64
	author        rest.Object
	made, touched time.Time
}

const firstIssue = 1001

// All returns the issues, oldest first.
func (l *issueList) All() []Issue {
	var out []Issue
	for _, x := range l.list {
		one := *x
		if l.talk != nil {
			one.Talk = l.talk(x.Number)
		}
		out = append(out, one)
	}
	return out
}

// Open opens an issue in the name of the user who.
func (l *issueList) Open(who string, author rest.Object, title, body string) *Issue {
	at := l.Log.Tick()
	x := &Issue{Number: firstIssue + len(l.list), Author: who, Title: title, Body: body, Open: true, id: l.Log.nextID(), author: author, made: at, touched: at}
	l.list = append(l.list, x)
	l.Log.note(Edit{Kind: "issue", Repo: l.Repo.String(), Who: who, Number: x.Number, Text: "open, " + title})
	return x
}

var issuesOff = &rest.Problem{Status: http.StatusGone, Message: "Issues has been disabled in this repository."}

// Find answers GET /repos/{owner}/{repo}/issues: without pull requests, and oldest first, as the client asks.
func (l *issueList) Find(r *http.Request) (int, any) {
	if l.Off {
		return rest.Fail(issuesOff)
	}
	q, list := r.URL.Query(), []any{}
	for _, x := range l.list {
		state := q.Get("state")
		if !x.gone && (q.Get("creator") == "" || q.Get("creator") == x.Author) && (state == "all" || x.Open == (state != "closed")) {
			list = append(list, l.json(x))
		}
	}
	return http.StatusOK, rest.Paged(r, list)
}

// Create answers POST /repos/{owner}/{repo}/issues.
func (l *issueList) Create(r *http.Request) (int, any) {
	var in struct{ Title, Body string }
	switch err := json.NewDecoder(r.Body).Decode(&in); {
	case l.Off:
		return rest.Fail(issuesOff)
	case err != nil || in.Title == "":
		return rest.Fail(rest.Invalid("Validation Failed: title can't be blank"))
	}
	login, user := l.App()
	return http.StatusCreated, l.json(l.Open(login, user, in.Title, in.Body))
}

// Get answers GET /repos/{owner}/{repo}/issues/{number}. Source:
// https://docs.github.com/en/rest/issues/issues#get-an-issue
func (l *issueList) Get(r *http.Request) (int, any) {
	switch x := l.requested(r); {
	case x == nil:
		return rest.Fail(rest.NotFound)
	case x.gone:
		return rest.Fail(issueGone)
	default:
		return http.StatusOK, l.json(x)
	}
}

var issueGone = &rest.Problem{Status: http.StatusGone, Message: "This issue was deleted"}

func (l *issueList) requested(r *http.Request) *Issue {
	return l.numbered(int(rest.ID(r, "number")))
}

// numbered returns the issue with a number; nil if there is none.
func (l *issueList) numbered(number int) *Issue {
	i := number - firstIssue
	if i < 0 || i >= len(l.list) {
		return nil
	}
	return l.list[i]
}

// Update answers PATCH /repos/{owner}/{repo}/issues/{number}.
func (l *issueList) Update(r *http.Request) (int, any) {
	x := l.requested(r)
	if x == nil {
		return rest.Fail(rest.NotFound)
	}
	if x.gone {
		return rest.Fail(issueGone)
	}
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
	x.touched = l.Log.Tick()
	login, _ := l.App()
	l.Log.note(Edit{Kind: "issue", Repo: l.Repo.String(), Who: login, Number: x.Number, Text: x.state() + ", " + x.Title})
	return http.StatusOK, l.json(x)
}

func (x *Issue) state() string {
	if x.Open {
		return "open"
	}
	return "closed"
}

func (l *issueList) json(x *Issue) rest.Object {
	api := fmt.Sprintf("%srepos/%s/issues/%d", rest.APIURL, l.Repo, x.Number)
	o := rest.Object{
		"id": x.id, "node_id": rest.NodeID("Issue", x.id), "number": x.Number, "title": x.Title, "body": x.Body, "state": x.state(), "locked": false,
		"user": x.author, "assignee": nil, "assignees": []any{}, "labels": []any{}, "milestone": nil, "comments": 0, "closed_at": nil,
		"author_association": "CONTRIBUTOR", "created_at": rest.Stamp(x.made), "updated_at": rest.Stamp(x.touched),
		"url": api, "repository_url": fmt.Sprintf("%srepos/%s", rest.APIURL, l.Repo), "labels_url": api + "/labels{/name}",
		"comments_url": api + "/comments", "events_url": api + "/events", "html_url": fmt.Sprintf("%s%s/issues/%d", rest.WebURL, l.Repo, x.Number),
	}
	if !x.Open {
		o["closed_at"] = rest.Stamp(x.touched)
	}
	return o
}
