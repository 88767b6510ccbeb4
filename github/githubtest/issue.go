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

func (t *tracker) listIssues(r *http.Request) (int, any)  { return t.issues.Find(r) }
func (t *tracker) createIssue(r *http.Request) (int, any) { return t.issues.Create(r) }
func (t *tracker) updateIssue(r *http.Request) (int, any) { return t.issues.Update(r) }

// listTalk and createTalk answer requests for the comments on an issue or a pull request.
func listTalk(r *Repository, q *http.Request) (int, any) {
	if r.issues.Has(q) {
		return r.issues.Comments(q)
	}
	return r.listComments(q)
}

func createTalk(r *Repository, q *http.Request) (int, any) {
	if r.issues.Has(q) {
		return r.issues.Comment(q)
	}
	return r.createComment(q)
}

// An issueList has the issues of a repository. Issues and pull requests never have the same number: pull
// requests count from 1, and issues from a much larger number. It is not safe for concurrent use.
type issueList struct {
	Repo fmt.Stringer // owner/name
	Log  *storyLog
	App  func() (login string, user rest.Object) // the App's user
	// Off is set if issues are disabled in the repository.
	Off bool

	list []*Issue // oldest first
}

// An Issue is an issue as GitHub's page shows it.
type Issue struct {
	Number      int
	Author      string
	Title, Body string
	Open        bool
	Talk        []string // the texts of the comments

	comments      []rest.Object
	id            int64
	author        rest.Object
	made, touched time.Time
}

const firstIssue = 1001

// All returns the issues, oldest first.
func (l *issueList) All() []Issue {
	var out []Issue
	for _, x := range l.list {
		out = append(out, *x)
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
		if (q.Get("creator") == "" || q.Get("creator") == x.Author) && (state == "all" || x.Open == (state != "closed")) {
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

// Has reports whether the number in a request belongs to an issue.
func (l *issueList) Has(r *http.Request) bool { return l.requested(r) != nil }

func (l *issueList) requested(r *http.Request) *Issue {
	i := int(rest.ID(r, "number")) - firstIssue
	if i < 0 || i >= len(l.list) {
		return nil
	}
	return l.list[i]
}

// Comments answers GET /repos/{owner}/{repo}/issues/{number}/comments for an issue.
func (l *issueList) Comments(r *http.Request) (int, any) {
	list := []any{}
	for _, c := range l.requested(r).comments {
		list = append(list, c)
	}
	return http.StatusOK, rest.Paged(r, list)
}

// Comment answers POST /repos/{owner}/{repo}/issues/{number}/comments for an issue.
func (l *issueList) Comment(r *http.Request) (int, any) {
	text, bad := rest.Text(r)
	if bad != nil {
		return rest.Fail(bad)
	}
	x, id, at := l.requested(r), l.Log.nextID(), rest.Stamp(l.Log.Tick())
	login, user := l.App()
	api := fmt.Sprintf("%srepos/%s/issues", rest.APIURL, l.Repo)
	c := rest.Object{
		"id": id, "node_id": rest.NodeID("IssueComment", id), "body": text, "user": user, "performed_via_github_app": nil,
		"url": fmt.Sprintf("%s/comments/%d", api, id), "issue_url": fmt.Sprintf("%s/%d", api, x.Number),
		"html_url":   fmt.Sprintf("%s%s/issues/%d#issuecomment-%d", rest.WebURL, l.Repo, x.Number, id),
		"created_at": at, "updated_at": at, "author_association": "CONTRIBUTOR",
	}
	x.Talk, x.comments = append(x.Talk, text), append(x.comments, c)
	l.Log.note(Edit{Kind: "comment", Repo: l.Repo.String(), Who: login, Number: x.Number, Comment: id, Text: text})
	return http.StatusCreated, c
}

// Update answers PATCH /repos/{owner}/{repo}/issues/{number}.
func (l *issueList) Update(r *http.Request) (int, any) {
	x := l.requested(r)
	if x == nil {
		return rest.Fail(rest.NotFound)
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
