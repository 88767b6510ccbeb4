package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// chosen returns the comment that a request names; nil if there is none.
func (l *comments) chosen(r *http.Request) *Comment {
	return l.findComment(rest.ID(r, "id"))
}

func (l *comments) listComments(r *http.Request) (int, any) {
	number := int(rest.ID(r, "number"))
	if l.requested(r) == nil && l.issues.numbered(number) == nil {
		return rest.Fail(rest.NotFound)
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	list := []any{}
	for _, c := range l.list {
		if c.Number == number && !c.touched.Before(since) {
			list = append(list, l.json(c))
		}
	}
	return http.StatusOK, rest.Paged(r, list)
}

// listAllComments answers GET /repos/{owner}/{repo}/issues/comments, oldest first. The request's parameter
// since is compared with the time of a comment's last edit.
func (l *comments) listAllComments(r *http.Request) (int, any) {
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	list := []any{}
	for _, c := range l.list {
		if !c.touched.Before(since) {
			list = append(list, l.json(c))
		}
	}
	return http.StatusOK, rest.Paged(r, list)
}

func (l *comments) createComment(r *http.Request) (int, any) {
	number := int(rest.ID(r, "number"))
	if l.requested(r) == nil && l.issues.numbered(number) == nil {
		return rest.Fail(rest.NotFound)
	}
	body, bad := rest.Text(r)
	if bad != nil {
		return rest.Fail(bad)
	}
	return http.StatusCreated, l.json(l.comment(l.repo.world.self(), number, body))
}

func (l *comments) getComment(r *http.Request) (int, any) {
	c := l.chosen(r)
	if c == nil {
		return rest.Fail(rest.NotFound)
	}
	return http.StatusOK, l.json(c)
}

func (l *comments) updateComment(r *http.Request) (int, any) {
	c := l.chosen(r)
	if c == nil {
		return rest.Fail(rest.NotFound)
	}
	body, bad := rest.Text(r)
	if bad != nil {
		return rest.Fail(bad)
	}
	if c.author.login != l.repo.world.app.Login() {
		return rest.Fail(&rest.Problem{Status: http.StatusForbidden, Message: "Resource not accessible by integration"})
	}
	l.editComment(c.author, c, body)
	return http.StatusOK, l.json(c)
}

func (l *comments) deleteComment(r *http.Request) (int, any) {
	c := l.chosen(r)
	if c == nil {
		return rest.Fail(rest.NotFound)
	}
	l.dropComment(l.repo.world.self(), c)
	return http.StatusNoContent, nil
}

func (l *comments) createReaction(r *http.Request) (int, any) {
	c := l.chosen(r)
	if c == nil {
		return rest.Fail(rest.NotFound)
	}
	var in struct{ Content string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !slices.Contains(reactions, in.Content) {
		return rest.Fail(rest.Invalid("Validation Failed"))
	}
	who := l.repo.world.self()
	for _, re := range c.reactions {
		if re.who == who && re.content == in.Content {
			return http.StatusOK, re.json()
		}
	}
	re := reaction{id: l.repo.world.log.nextID(), who: who, content: in.Content, at: l.repo.world.log.Tick()}
	c.reactions = append(c.reactions, re)
	l.repo.note(Edit{Kind: "reaction", Who: who.login, Number: c.Number, Comment: c.ID, Text: in.Content})
	return http.StatusCreated, re.json()
}

var reactions = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

// issueJSON returns a pull request as the webhooks of its comments show it.
func (l *pulls) issueJSON(p *pull) rest.Object {
	r := l.repo
	api, web := fmt.Sprintf("%srepos/%s/issues/%d", rest.APIURL, r, p.number), fmt.Sprintf("%s%s/pull/%d", rest.WebURL, r, p.number)
	o := rest.Object{
		"id": p.id, "node_id": rest.NodeID("Issue", p.id), "number": p.number, "title": p.title, "state": p.state(), "user": p.author.json(),
		"url": api, "html_url": web, "repository_url": rest.APIURL + "repos/" + r.String(), "labels_url": api + "/labels{/name}",
		"comments_url": api + "/comments", "events_url": api + "/events", "body": nil, "labels": []any{}, "locked": false,
		"active_lock_reason": nil, "assignee": nil, "assignees": []any{}, "milestone": nil, "comments": 1, "closed_at": nil,
		"created_at": rest.Stamp(p.made), "updated_at": rest.Stamp(p.touched), "author_association": "CONTRIBUTOR", "reactions": reactionsJSON(api, nil),
		"pull_request": rest.Object{
			"url": fmt.Sprintf("%srepos/%s/pulls/%d", rest.APIURL, r, p.number), "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch",
		},
	}
	if !p.open {
		o["closed_at"] = rest.Stamp(p.touched)
	}
	return o
}

// reactionsJSON returns the number of reactions of each kind to the comment or issue at an address.
func reactionsJSON(address string, list []reaction) rest.Object {
	given := map[string]int{}
	for _, re := range list {
		given[re.content]++
	}
	return rest.Reactions(address, reactions, given)
}

func (l *comments) json(c *Comment) rest.Object {
	r := l.repo
	api, kind := fmt.Sprintf("%srepos/%s/issues/comments/%d", rest.APIURL, r, c.ID), "pull"
	if l.issues.numbered(c.Number) != nil {
		kind = "issues"
	}
	return rest.Object{
		"id": c.ID, "node_id": rest.NodeID("IssueComment", c.ID), "body": c.Body, "user": c.author.json(),
		"url": api, "performed_via_github_app": nil, "reactions": reactionsJSON(api, c.reactions),
		"html_url":   fmt.Sprintf("%s%s/%s/%d#issuecomment-%d", rest.WebURL, r, kind, c.Number, c.ID),
		"issue_url":  fmt.Sprintf("%srepos/%s/issues/%d", rest.APIURL, r, c.Number),
		"created_at": rest.Stamp(c.made), "updated_at": rest.Stamp(c.touched), "author_association": "CONTRIBUTOR",
	}
}

func (re reaction) json() rest.Object {
	return rest.Object{
		"id": re.id, "node_id": rest.NodeID("Reaction", re.id), "user": re.who.json(), "content": re.content,
		"created_at": rest.Stamp(re.at),
	}
}

// minimize answers the mutation minimizeComment.
func (h *Hub) minimize(t *apps.Token, id string) (int, any) {
	for _, x := range h.repos {
		c := rest.First(x.comments.list, func(c *Comment) bool { return rest.NodeID("IssueComment", c.ID) == id })
		switch {
		case c == nil || !t.Opens(x.installation, x.id):
		case !t.Allows("pull_requests:write"):
			return http.StatusOK, notMinimizedAnswer("FORBIDDEN", apps.Forbidden.Message)
		default:
			if !c.Minimized {
				c.Minimized = true
				x.note(Edit{Kind: "minimize", Who: h.app.Login(), Number: c.Number, Comment: c.ID})
			}
			return http.StatusOK, rest.Object{"data": rest.Object{"minimizeComment": rest.Object{"minimizedComment": rest.Object{"isMinimized": true}}}}
		}
	}
	return http.StatusOK, notMinimizedAnswer("NOT_FOUND", "Could not resolve to a node with the global id of '"+id+"'")
}

func notMinimizedAnswer(kind, message string) rest.Object {
	problem := rest.Object{"type": kind, "path": []any{"minimizeComment"}, "message": message}
	return rest.Object{"data": rest.Object{"minimizeComment": nil}, "errors": []any{problem}}
}
