package githubtest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/queries"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/queues"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Discuss begins a conversation in a review of a pull request, and returns its number.
func (l *pulls) Discuss(who string, number int) int {
	w := l.repo.world
	defer w.lock()()
	p := l.mustPull(number)
	p.touched = w.log.Tick()
	p.threads = append(p.threads, false)
	l.repo.note(Edit{Kind: "conversation", Who: who, Number: number})
	return len(p.threads) - 1
}

// Resolve ends a conversation.
func (l *pulls) Resolve(who string, number, conversation int) {
	w := l.repo.world
	defer w.lock()()
	p := l.mustPull(number)
	p.touched = w.log.Tick()
	p.threads[conversation] = true
	l.repo.note(Edit{Kind: "conversation", Who: who, Number: number, Text: "resolved"})
	shown := l.json(p)
	for _, name := range inFull {
		delete(shown, name)
	}
	thread := rest.Object{"node_id": rest.NodeID("PullRequestReviewThread", int64(conversation)), "comments": []any{}}
	l.repo.send("pull_request_review_thread", rest.Object{"pull_request": shown, "thread": thread}, w.person(who), "resolved")
}

// RequireReview has the rules of main want an approval.
func (r *Repository) RequireReview() {
	defer r.hub.lock()()
	r.reviewed = true
}

// query is POST /graphql. It answers the queries that are asked of it, by a member that each names.
func (h *Hub) query(r *http.Request) (int, any) {
	t, p := h.app.Token(r)
	if p != nil {
		return rest.Fail(p)
	}
	var in queries.Query
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return rest.Fail(rest.Invalid("Problems parsing JSON"))
	}
	v := in.Variables
	if v.ID != "" {
		return h.enqueue(t, v.ID, v.SHA)
	}
	name := v.Owner + "/" + v.Name
	x := h.repos.called(name)
	if x == nil { // by a former name
		x = h.repos.of(h.former.Of(name))
	}
	if x != nil && t.Opens(x.installation, x.id) {
		if !t.Allows("pull_requests:read") {
			return http.StatusOK, queries.Forbidden(x.id, apps.Forbidden.Message)
		}
		p := x.pulls.pull(v.Number)
		if p == nil {
			return http.StatusOK, queries.NotFound(name)
		}
		answer := x.discussionJSON(p, v.After)
		switch {
		case strings.Contains(in.Query, "isInMergeQueue"):
			answer = queries.Queueing(rest.NodeID("PullRequest", p.id), p.headSHA, inQueue(x, p), x.pulls.protected == queues.Refusal)
		case strings.Contains(in.Query, "mergeQueue"):
			answer = x.queueJSON(p)
		}
		return http.StatusOK, queries.Answer(x.id, answer)
	}
	return http.StatusOK, queries.NotFound(name)
}

// discussionJSON is a page of the conversations of a pull request.
func (r *Repository) discussionJSON(p *pull, after *string) rest.Object {
	var decision any
	if r.reviewed {
		decision = "REVIEW_REQUIRED"
		for _, v := range p.reviews {
			switch v.state {
			case github.Approved:
				decision = "APPROVED"
			case github.ChangesRequested:
				decision = "CHANGES_REQUESTED"
			}
		}
	}
	return queries.Discussion(decision, p.threads, after)
}
