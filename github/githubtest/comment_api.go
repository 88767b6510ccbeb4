package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// comment finds the comment of a request.
func (x *Repository) requested(r *http.Request) *Comment {
	return x.findComment(int64(number(r, "id")))
}

func (h *Hub) listComments(x *Repository, r *http.Request) (int, any) {
	p := x.pull(number(r, "number"))
	if p == nil {
		return fail(notFound)
	}
	list := []any{}
	for _, c := range x.comments {
		if c.Number == p.number {
			list = append(list, h.commentJSON(x, c))
		}
	}
	return http.StatusOK, paged(r, list)
}

// listAllComments is GET /repos/{owner}/{repo}/issues/comments, by when they were
// written, oldest first. since counts from the last edit.
func (h *Hub) listAllComments(x *Repository, r *http.Request) (int, any) {
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	list := []any{}
	for _, c := range x.comments {
		if !c.touched.Before(since) {
			list = append(list, h.commentJSON(x, c))
		}
	}
	return http.StatusOK, paged(r, list)
}

// readBody reads a comment's text, within the limit that GitHub sets.
func readBody(r *http.Request) (string, *problem) {
	var in struct {
		Body *string `json:"body"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Body == nil || *in.Body == "" {
		return "", &problem{http.StatusUnprocessableEntity, "Validation Failed: body cannot be blank"}
	}
	if len([]rune(*in.Body)) > 65536 {
		return "", &problem{http.StatusUnprocessableEntity, "Validation Failed: body is too long (maximum is 65536 characters)"}
	}
	return *in.Body, nil
}

func (h *Hub) createComment(x *Repository, r *http.Request) (int, any) {
	p := x.pull(number(r, "number"))
	if p == nil {
		return fail(notFound)
	}
	body, bad := readBody(r)
	if bad != nil {
		return fail(bad)
	}
	return http.StatusCreated, h.commentJSON(x, x.comment(h.users[h.appLogin()], p, body))
}

func (h *Hub) updateComment(x *Repository, r *http.Request) (int, any) {
	c := x.requested(r)
	if c == nil {
		return fail(notFound)
	}
	body, bad := readBody(r)
	if bad != nil {
		return fail(bad)
	}
	if c.author.login != h.appLogin() {
		return fail(&problem{http.StatusForbidden, "Resource not accessible by integration"})
	}
	x.editComment(c.author, c, body)
	return http.StatusOK, h.commentJSON(x, c)
}

func (h *Hub) deleteComment(x *Repository, r *http.Request) (int, any) {
	c := x.requested(r)
	if c == nil {
		return fail(notFound)
	}
	x.comments = slices.DeleteFunc(slices.Clone(x.comments), func(o *Comment) bool { return o == c })
	h.tick()
	h.note(Edit{Kind: "delete", Repo: x.String(), Who: h.appLogin(), Number: c.Number, Comment: c.ID})
	x.sendComment(x.pull(c.Number), c, h.users[h.appLogin()], "deleted")
	return http.StatusNoContent, nil
}

func (h *Hub) createReaction(x *Repository, r *http.Request) (int, any) {
	c := x.requested(r)
	if c == nil {
		return fail(notFound)
	}
	var in struct{ Content string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !slices.Contains(reactions, in.Content) {
		return fail(&problem{http.StatusUnprocessableEntity, "Validation Failed"})
	}
	who := h.users[h.appLogin()]
	for _, re := range c.reactions {
		if re.who == who && re.content == in.Content {
			return http.StatusOK, h.reactionJSON(re)
		}
	}
	re := reaction{id: h.nextID(), who: who, content: in.Content, at: h.tick()}
	c.reactions = append(c.reactions, re)
	h.note(Edit{Kind: "reaction", Repo: x.String(), Who: who.login, Number: c.Number, Comment: c.ID, Text: in.Content})
	return http.StatusCreated, h.reactionJSON(re)
}

var reactions = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

// issueJSON is a pull request as the webhooks of its comments show it.
func (h *Hub) issueJSON(r *Repository, p *pull) object {
	api, web := fmt.Sprintf("%srepos/%s/issues/%d", apiURL, r, p.number), fmt.Sprintf("%s%s/pull/%d", webURL, r, p.number)
	o := object{
		"id": p.id, "node_id": nodeID("Issue", p.id), "number": p.number, "title": p.title, "state": state(p), "user": h.userJSON(p.author),
		"url": api, "html_url": web, "repository_url": apiURL + "repos/" + r.String(), "labels_url": api + "/labels{/name}",
		"comments_url": api + "/comments", "events_url": api + "/events", "body": nil, "labels": []any{}, "locked": false,
		"active_lock_reason": nil, "assignee": nil, "assignees": []any{}, "milestone": nil, "comments": 1, "closed_at": nil,
		"created_at": stamp(p.made), "updated_at": stamp(p.touched), "author_association": "CONTRIBUTOR", "reactions": reactionsJSON(api, nil),
		"pull_request": object{
			"url": fmt.Sprintf("%srepos/%s/pulls/%d", apiURL, r, p.number), "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch",
		},
	}
	if !p.open {
		o["closed_at"] = stamp(p.touched)
	}
	return o
}

// reactionsJSON counts reactions.
func reactionsJSON(to string, list []reaction) object {
	o := object{"url": to + "/reactions", "total_count": len(list)}
	for _, content := range reactions {
		n := 0
		for _, re := range list {
			if re.content == content {
				n++
			}
		}
		o[content] = n
	}
	return o
}

func (h *Hub) commentJSON(r *Repository, c *Comment) object {
	api := fmt.Sprintf("%srepos/%s/issues/comments/%d", apiURL, r, c.ID)
	return object{
		"id": c.ID, "node_id": nodeID("IssueComment", c.ID), "body": c.Body, "user": h.userJSON(c.author),
		"url": api, "performed_via_github_app": nil, "reactions": reactionsJSON(api, c.reactions),
		"html_url":   fmt.Sprintf("%s%s/pull/%d#issuecomment-%d", webURL, r, c.Number, c.ID),
		"issue_url":  fmt.Sprintf("%srepos/%s/issues/%d", apiURL, r, c.Number),
		"created_at": stamp(c.made), "updated_at": stamp(c.touched), "author_association": "CONTRIBUTOR",
	}
}

func (h *Hub) reactionJSON(re reaction) object {
	return object{
		"id": re.id, "node_id": nodeID("Reaction", re.id), "user": h.userJSON(re.who), "content": re.content,
		"created_at": stamp(re.at),
	}
}
