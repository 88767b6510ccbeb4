package githubtest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// reviews has the reviews of the pull requests of a repository.
type reviews struct {
	*pulls
	lines map[int64]rest.Object // comments on lines of files
}

type review struct {
	id     int64
	author *user
	state  github.ReviewState
	body   string
	sha    string
	at     time.Time
}

// Review reviews a pull request at its present head.
func (l *reviews) Review(who string, number int, state github.ReviewState, body string) {
	w := l.repo.world
	defer w.lock()()
	at := w.log.Tick()
	p := l.mustPull(number)
	v := &review{id: w.log.nextID(), author: w.person(who), state: state, body: body, sha: p.headSHA, at: at}
	p.reviews = append(p.reviews, v)
	l.repo.note(Edit{Kind: "review", Who: who, Number: number, Text: string(state)})
	l.sendReview(p, v, v.author, "submitted")
}

// CommentOn writes a comment on the first line of a file of a pull request.
func (l *reviews) CommentOn(who string, number int, path, body string) {
	w := l.repo.world
	defer w.lock()()
	at := w.log.Tick()
	p, author := l.mustPull(number), w.person(who)
	id, review := w.log.nextID(), w.log.nextID()
	html := fmt.Sprintf("%s%s/pull/%d", rest.WebURL, l.repo, p.number)
	pull := fmt.Sprintf("%srepos/%s/pulls/%d", rest.APIURL, l.repo, p.number)
	self := fmt.Sprintf("%srepos/%s/pulls/comments/%d", rest.APIURL, l.repo, id)
	shown := l.json(p)
	for _, name := range inFull {
		delete(shown, name)
	}
	l.repo.note(Edit{Kind: "line", Who: who, Number: number, Text: body})
	line := rest.Object{
		"id": id, "node_id": rest.NodeID("PullRequestReviewComment", id), "pull_request_review_id": review, "user": author.json(), "body": body,
		"path": path, "diff_hunk": "@@ -0,0 +1 @@", "position": 1, "original_position": 1, "line": 1, "original_line": 1, "side": "RIGHT",
		"start_line": nil, "original_start_line": nil, "start_side": nil, "subject_type": "line",
		"commit_id": p.headSHA, "original_commit_id": p.headSHA, "created_at": rest.Stamp(at), "updated_at": rest.Stamp(at), "author_association": "CONTRIBUTOR",
		"url": self, "html_url": fmt.Sprintf("%s#discussion_r%d", html, id), "pull_request_url": pull,
		"_links":    rest.Object{"self": rest.Object{"href": self}, "html": rest.Object{"href": html}, "pull_request": rest.Object{"href": pull}},
		"reactions": rest.Object{"url": self + "/reactions", "total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "hooray": 0, "confused": 0, "heart": 0, "rocket": 0, "eyes": 0},
	}
	if l.lines == nil {
		l.lines = map[int64]rest.Object{}
	}
	l.lines[id] = line
	l.repo.send("pull_request_review_comment", rest.Object{"pull_request": shown, "comment": line}, author, "created")
}

// getLine answers GET /repos/{owner}/{repo}/pulls/comments/{comment_id}.
func (l *reviews) getLine(r *http.Request) (int, any) {
	line, ok := l.lines[rest.ID(r, "id")]
	if !ok {
		return rest.Fail(rest.NotFound)
	}
	return http.StatusOK, line
}

// getReview answers GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}.
func (l *reviews) getReview(r *http.Request) (int, any) {
	if p := l.requested(r); p != nil {
		for _, v := range p.reviews {
			if v.id == rest.ID(r, "id") {
				return http.StatusOK, l.reviewJSON(p, v)
			}
		}
	}
	return rest.Fail(rest.NotFound)
}

// Dismiss dismisses the reviews of an author that approve a pull request or request changes.
func (l *reviews) Dismiss(who string, number int, author string) {
	w := l.repo.world
	defer w.lock()()
	w.log.Tick()
	p := l.mustPull(number)
	for _, v := range p.reviews {
		if v.author.login == author && v.state != github.Commented {
			v.state = github.Dismissed
			l.repo.note(Edit{Kind: "review", Who: who, Number: number, Text: "dismissed " + author + "'s"})
			l.sendReview(p, v, w.person(who), "dismissed")
		}
	}
}

func (l *reviews) sendReview(p *pull, v *review, who *user, action string) {
	shown, pull := l.reviewJSON(p, v), l.json(p)
	shown["state"] = v.state // lower case here
	for _, name := range inFull {
		delete(pull, name)
	}
	l.repo.send("pull_request_review", rest.Object{"review": shown, "pull_request": pull}, who, action)
}

// listReviews answers GET /repos/{owner}/{repo}/pulls/{number}/reviews, oldest first.
func (l *reviews) listReviews(r *http.Request) (int, any) {
	p := l.requested(r)
	if p == nil {
		return rest.Fail(rest.NotFound)
	}
	list := []any{}
	for _, v := range p.reviews {
		list = append(list, l.reviewJSON(p, v))
	}
	return http.StatusOK, rest.Paged(r, list)
}

func (l *reviews) reviewJSON(p *pull, v *review) rest.Object {
	html := fmt.Sprintf("%s%s/pull/%d", rest.WebURL, l.repo, p.number)
	pull := fmt.Sprintf("%srepos/%s/pulls/%d", rest.APIURL, l.repo, p.number)
	return rest.Object{
		"id": v.id, "node_id": rest.NodeID("PullRequestReview", v.id), "user": v.author.json(), "body": v.body,
		"state": strings.ToUpper(string(v.state)), "commit_id": v.sha, "submitted_at": rest.Stamp(v.at), "author_association": "CONTRIBUTOR",
		"html_url": fmt.Sprintf("%s#pullrequestreview-%d", html, v.id), "pull_request_url": pull,
		"_links": rest.Object{"html": rest.Object{"href": html}, "pull_request": rest.Object{"href": pull}},
	}
}
