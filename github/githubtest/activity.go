package githubtest

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// An activity is a recorded push to a branch, as in GitHub's list of activities.
type activity struct {
	id                 int64
	ref, before, after string
	kind               string
	who                *user
	at                 time.Time
}

// noCommit is the SHA in GitHub's answers where there is no commit.
var noCommit = strings.Repeat("0", 40)

// moved records that a push moved a branch to a commit.
func (r *repo) moved(p push, sha string, who *user) {
	a := activity{id: int64(len(r.activities)) + 1, ref: "refs/heads/" + p.branch, before: r.branches[p.branch], after: sha, kind: strings.ReplaceAll(p.kind, "-", "_"), who: who, at: r.world.log.Now()}
	if a.before == "" {
		a.before, a.kind = noCommit, "branch_creation"
	}
	r.activities = append(r.activities, a)
}

// ForgetPushes removes all pushes so far from GitHub's list of activities.
func (r *Repository) ForgetPushes() {
	defer r.hub.lock()()
	r.activities = nil
}

// listActivities answers GET /repos/{owner}/{repo}/activity, newest first.
func (r *Repository) listActivities(req *http.Request) (int, any) {
	list := []any{}
	for _, a := range slices.Backward(r.activities) {
		if ref := req.URL.Query().Get("ref"); ref != "" && ref != a.ref && "refs/heads/"+ref != a.ref {
			continue
		}
		list = append(list, rest.Object{
			"id": a.id, "node_id": rest.NodeID("Push", a.id), "before": a.before, "after": a.after, "ref": a.ref,
			"timestamp": rest.Stamp(a.at), "activity_type": a.kind, "actor": a.who.json(),
		})
	}
	return http.StatusOK, rest.Paged(req, list)
}
