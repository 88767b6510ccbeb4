package githubtest

import (
	"net/http"

	"github.com/lockstep-iac/lockstep/github/githubtest/internal/issues"
)

// tracker has the issues of a repository.
type tracker struct {
	*repo
	issues *issues.List
}

// An Issue is one as people see it.
type Issue = issues.Issue

func newTracker(r *repo) *tracker {
	return &tracker{r, &issues.List{Repo: r, Log: r.world.log, App: r.world.ours}}
}

// Issues returns the issues of the repository, oldest first.
func (t *tracker) Issues() []Issue {
	defer t.world.lock()()
	return t.issues.All()
}

// WithoutIssues switches the issues of the repository off.
func (t *tracker) WithoutIssues() {
	defer t.world.lock()()
	t.issues.Off = true
}

// OpenIssue opens an issue of somebody.
func (t *tracker) OpenIssue(who, title, body string) int {
	defer t.world.lock()()
	return t.issues.Open(who, t.world.person(who).json(), title, body).Number
}

func (t *tracker) listIssues(r *http.Request) (int, any)  { return t.issues.Find(r) }
func (t *tracker) createIssue(r *http.Request) (int, any) { return t.issues.Create(r) }
func (t *tracker) updateIssue(r *http.Request) (int, any) { return t.issues.Update(r) }

// listTalk and createTalk are about the comments on an issue, or on a pull request.
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
