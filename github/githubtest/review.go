package githubtest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

type review struct {
	id     int64
	author *user
	state  github.ReviewState
	body   string
	sha    string
	at     time.Time
}

// Review reviews a pull request as it is now.
func (r *Repository) Review(who string, number int, state github.ReviewState, body string) {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.tick()
	p := r.mustPull(number)
	v := &review{id: h.nextID(), author: h.person(who), state: state, body: body, sha: p.headSHA, at: at}
	p.reviews = append(p.reviews, v)
	h.note(Edit{Kind: "review", Repo: r.String(), Who: who, Number: number, Text: string(state)})
	r.sendReview(p, v, v.author, "submitted")
}

// Dismiss dismisses what somebody has said of a pull request.
func (r *Repository) Dismiss(who string, number int, author string) {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tick()
	p := r.mustPull(number)
	for _, v := range p.reviews {
		if v.author.login == author && v.state != github.Commented {
			v.state = github.Dismissed
			h.note(Edit{Kind: "review", Repo: r.String(), Who: who, Number: number, Text: "dismissed " + author + "'s"})
			r.sendReview(p, v, h.person(who), "dismissed")
		}
	}
}

func (r *Repository) sendReview(p *pull, v *review, who *user, action string) {
	shown, pull := r.hub.reviewJSON(r, p, v), r.hub.pullJSON(r, p)
	shown["state"] = v.state // in small letters here
	for _, name := range inFull {
		delete(pull, name)
	}
	r.send("pull_request_review", object{"review": shown, "pull_request": pull}, who, action)
}

// listReviews is GET /repos/{owner}/{repo}/pulls/{number}/reviews, oldest first.
func (h *Hub) listReviews(x *Repository, r *http.Request) (int, any) {
	p := x.pull(number(r, "number"))
	if p == nil {
		return fail(notFound)
	}
	list := []any{}
	for _, v := range p.reviews {
		list = append(list, h.reviewJSON(x, p, v))
	}
	return http.StatusOK, paged(r, list)
}

func (h *Hub) reviewJSON(x *Repository, p *pull, v *review) object {
	html := fmt.Sprintf("%s%s/pull/%d", webURL, x, p.number)
	pull := fmt.Sprintf("%srepos/%s/pulls/%d", apiURL, x, p.number)
	return object{
		"id": v.id, "node_id": nodeID("PullRequestReview", v.id), "user": h.userJSON(v.author), "body": v.body,
		"state": strings.ToUpper(string(v.state)), "commit_id": v.sha, "submitted_at": stamp(v.at), "author_association": "CONTRIBUTOR",
		"html_url": fmt.Sprintf("%s#pullrequestreview-%d", html, v.id), "pull_request_url": pull,
		"_links": object{"html": object{"href": html}, "pull_request": object{"href": pull}},
	}
}
