package githubtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Discuss starts a review conversation on a pull request, and returns its number.
func (l *pulls) Discuss(who string, number int) int {
	w := l.repo.world
	defer w.lock()()
	p := l.mustPull(number)
	p.touched = w.log.Tick()
	p.threads = append(p.threads, false)
	l.repo.note(Edit{Kind: "conversation", Who: who, Number: number})
	return len(p.threads) - 1
}

// Resolve resolves a conversation.
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

// RequireReview makes an approval required on main.
func (r *Repository) RequireReview() {
	defer r.hub.lock()()
	r.reviewed = true
}

// query answers POST /graphql. It recognizes Lockstep's queries by a member that each of them names.
func (h *Hub) query(r *http.Request) (int, any) {
	t, p := h.app.Token(r)
	if p != nil {
		return rest.Fail(p)
	}
	var in graphQuery
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return rest.Fail(rest.Invalid("Problems parsing JSON"))
	}
	v := in.Variables
	if strings.Contains(in.Query, "minimizeComment") {
		return h.minimize(t, v.ID)
	}
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
			return http.StatusOK, forbiddenAnswer(x.id, apps.Forbidden.Message)
		}
		p := x.pulls.pull(v.Number)
		if p == nil {
			return http.StatusOK, notFoundAnswer(name)
		}
		answer := x.discussionJSON(p, v.After)
		switch {
		case strings.Contains(in.Query, "isInMergeQueue"):
			answer = queueingAnswer(rest.NodeID("PullRequest", p.id), p.headSHA, inQueue(x, p), x.pulls.protected == queueRefusal)
		case strings.Contains(in.Query, "mergeQueue"):
			answer = x.queueJSON(p)
		}
		return http.StatusOK, pullAnswer(x.id, answer)
	}
	return http.StatusOK, notFoundAnswer(name)
}

// discussionJSON returns a page of the conversations of a pull request.
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
	return discussionAnswer(decision, p.threads, after)
}

// pullAnswer returns the answer about a pull request of the repository with an ID.
func pullAnswer(id int64, pull rest.Object) rest.Object {
	return rest.Object{"data": rest.Object{"repository": rest.Object{"databaseId": id, "pullRequest": pull}}}
}

// forbiddenAnswer returns the answer if the App lacks the permission.
func forbiddenAnswer(id int64, message string) rest.Object {
	return rest.Object{
		"data":   rest.Object{"repository": rest.Object{"databaseId": id, "pullRequest": nil}},
		"errors": []any{rest.Object{"type": "FORBIDDEN", "path": []any{"repository", "pullRequest"}, "message": message}},
	}
}

// notFoundAnswer returns the answer if the repository does not exist.
func notFoundAnswer(name string) rest.Object {
	return rest.Object{
		"data":   rest.Object{"repository": nil},
		"errors": []any{rest.Object{"type": "NOT_FOUND", "path": []any{"repository"}, "message": "Could not resolve to a Repository with the name '" + name + "'."}},
	}
}

// A graphQuery is the body of a GraphQL request.
type graphQuery struct {
	Query     string
	Variables struct {
		Owner, Name string
		Number      int
		After       *string
		ID, SHA     string
	}
}

// queueingAnswer returns a pull request's ID and head, whether it is in a merge queue, and whether its base
// branch has one.
func queueingAnswer(id, sha string, in, has bool) rest.Object {
	return rest.Object{"id": id, "headRefOid": sha, "isInMergeQueue": in, "isMergeQueueEnabled": has}
}

// enqueuedAnswer returns the answer after a pull request was added to a merge queue.
func enqueuedAnswer(at time.Time) rest.Object {
	return rest.Object{"data": rest.Object{"enqueuePullRequest": rest.Object{"mergeQueueEntry": rest.Object{"enqueuedAt": rest.Stamp(at)}}}}
}

// refusedAnswer returns the answer if the App may not add a pull request to a merge queue.
func refusedAnswer(kind, message string) rest.Object {
	problem := rest.Object{"type": kind, "path": []any{"enqueuePullRequest"}, "message": message}
	return rest.Object{"data": rest.Object{"enqueuePullRequest": nil}, "errors": []any{problem}}
}

// entryJSON returns an entry of a merge queue: the pull request, the commit of its group, who added it and
// when.
func entryJSON(number int, sha, by string, at time.Time) rest.Object {
	who := rest.Object{"__typename": "User", "login": by}
	if app, is := strings.CutSuffix(by, "[bot]"); is {
		who = rest.Object{"__typename": "Bot", "login": app}
	}
	return rest.Object{"enqueuedAt": rest.Stamp(at), "headCommit": rest.Object{"oid": sha}, "pullRequest": rest.Object{"number": number}, "enqueuer": who}
}

// queueAnswer returns the merge queue of a pull request. The parameter in says whether the pull request is
// in a queue.
func queueAnswer(entries []any, in bool) rest.Object {
	if !in {
		return rest.Object{"mergeQueue": nil}
	}
	page := rest.Object{"hasNextPage": false, "endCursor": nil}
	return rest.Object{"mergeQueue": rest.Object{"entries": rest.Object{"nodes": entries, "pageInfo": page}}}
}

// discussionAnswer returns a page of conversations; threads says which are resolved. A page has only two, so
// that small tests have several pages.
func discussionAnswer(decision any, threads []bool, after *string) rest.Object {
	const page = 2
	from := 0
	if after != nil {
		from = len(*after) // the cursor has one letter for each conversation before it
	}
	to := min(from+page, len(threads))
	nodes := []any{}
	for _, resolved := range threads[from:to] {
		nodes = append(nodes, rest.Object{"isResolved": resolved})
	}
	return rest.Object{
		"reviewDecision": decision,
		"reviewThreads": rest.Object{
			"nodes": nodes, "pageInfo": rest.Object{"hasNextPage": to < len(threads), "endCursor": strings.Repeat("c", to)},
		},
	}
}
