package githubtest

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/internal/commits"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Protect makes checks required, by branch protection and by a ruleset. mergeState is GitHub's opinion of
// merges without conflicts: "clean", "blocked", "behind", "unstable" or "unknown".
func (r *Repository) Protect(mergeState string, protection, ruleset []Required) {
	defer r.hub.lock()()
	r.mergeState, r.protection, r.ruleset = mergeState, protection, ruleset
}

// SetStatus sets a commit status: "success", "pending", "failure" or "error".
func (r *Repository) SetStatus(sha, context, state string) {
	defer r.hub.lock()()
	id := r.hub.log.nextID()
	r.statuses = append(r.statuses, commitStatus{ID: id, SHA: sha, Context: context, State: state})
	at, commit := rest.Stamp(r.hub.log.Now()), r.commitJSON(r.world.history[sha])
	r.repo.send("status", rest.Object{
		"id": id, "sha": sha, "name": r.repo.String(), "context": context, "state": state, "description": nil, "target_url": nil,
		"avatar_url": nil, "commit": commit, "branches": []any{}, "created_at": at, "updated_at": at,
	}, r.world.person("ci"), "")
}

// getStatus answers GET /repos/{owner}/{repo}/commits/{ref}/status.
func (r *Repository) getStatus(req *http.Request) (int, any) {
	at := r.find(req.PathValue("ref"))
	if at == nil {
		return rest.Fail(rest.NotFound)
	}
	list := latestStatuses(r.statuses, at.SHA, at.At)
	shown := rest.Paged(req, list)
	api := rest.APIURL + "repos/" + r.String()
	// In GitHub's own answer, the member repository is shorter, but has the same names.
	shown.Items = rest.Object{
		"state": "success", "statuses": shown.Items, "sha": at.SHA, "total_count": len(list), "repository": r.repo.json(),
		"commit_url": api + "/commits/" + at.SHA, "url": api + "/commits/" + at.SHA + "/status",
	}
	return http.StatusOK, shown
}

// getBranch answers GET /repos/{owner}/{repo}/branches/{branch}.
func (r *Repository) getBranch(req *http.Request) (int, any) {
	name := req.PathValue("branch")
	sha, ok := r.branches[name]
	if !ok {
		return rest.Fail(rest.NotFound)
	}
	api, web := rest.APIURL+"repos/"+r.String(), rest.WebURL+r.String()
	return http.StatusOK, rest.Object{
		"name": name, "commit": r.commitJSON(r.world.history[sha]), "protected": len(r.protection) > 0, "protection_url": api + "/branches/" + name + "/protection",
		"_links":     rest.Object{"self": api + "/branches/" + name, "html": web + "/tree/" + name},
		"protection": protectionJSON(r.protection),
	}
}

// listRules answers GET /repos/{owner}/{repo}/rules/branches/{branch}.
func (r *Repository) listRules(req *http.Request) (int, any) {
	return http.StatusOK, rest.Paged(req, rulesetJSON(r.String(), r.ruleset))
}

// listOwnerErrors answers GET /repos/{owner}/{repo}/codeowners/errors. Every team has write access here.
func listOwnerErrors(r *Repository, req *http.Request) (int, any) {
	c := r.find(req.URL.Query().Get("ref"))
	if c == nil {
		return rest.Fail(rest.NotFound)
	}
	answer, ok := ownerErrors(c.Files, func(name string) bool {
		p := r.permissions[name]
		return r.hub.teams.all[name] != nil || r.hub.users[name] != nil && (p == "write" || p == "admin")
	})
	if !ok {
		return rest.Fail(rest.NotFound)
	}
	return http.StatusOK, answer
}

// compare answers GET /repos/{owner}/{repo}/compare/{basehead}.
func (r *Repository) compare(req *http.Request) (int, any) {
	base, head, _ := strings.Cut(req.PathValue("span"), "...")
	a, b := r.find(base), r.find(head)
	if a == nil || b == nil {
		return rest.Fail(rest.NotFound)
	}
	behind, ahead := r.world.history.Lacks(b.SHA, a.SHA), r.world.history.Lacks(a.SHA, b.SHA)
	api, web := rest.APIURL+"repos/"+r.String()+"/compare/"+base+"..."+head, rest.WebURL+r.String()+"/compare/"+base+"..."+head
	return http.StatusOK, rest.Object{
		"url": api, "html_url": web, "permalink_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch",
		"base_commit": r.commitJSON(a), "merge_base_commit": r.commitJSON(r.world.history.MergeBase(a.SHA, b.SHA)),
		"status": "diverged", "ahead_by": ahead, "behind_by": behind, "total_commits": ahead, "commits": []any{}, "files": []any{},
	}
}

// commitJSON returns a commit as lists show it.
func (r *repo) commitJSON(c *commits.Commit) rest.Object {
	return c.JSON(r.String(), r.linked(c.Author), r.linked(cmp.Or(c.Committer, c.Author)))
}

// linked returns the user that GitHub shows for the author or committer of a commit; nil if there is none.
func (r *repo) linked(name string) rest.Object {
	if u := r.world.users[name]; u != nil {
		return u.json()
	}
	return nil
}

// listCommits answers GET /repos/{owner}/{repo}/pulls/{pull_number}/commits: the commits that the base branch
// lacks.
func (r *Repository) listCommits(req *http.Request) (int, any) {
	p := r.pulls.requested(req)
	if p == nil {
		return rest.Fail(rest.NotFound)
	}
	base := r.branches[p.base]
	if !p.open {
		base = p.closedOn
	}
	list := []any{}
	for _, c := range r.world.history.Missing(base, p.headSHA) {
		list = append(list, r.commitJSON(c))
	}
	return http.StatusOK, rest.Paged(req, list)
}

// A Required is a check that must pass before a merge. App is the ID of the App that must report it; 0 means
// any.
type Required struct {
	Name string
	App  int64
}

// protectionJSON returns a branch's protection with required checks.
func protectionJSON(all []Required) rest.Object {
	contexts, checks := []any{}, []any{}
	for _, x := range all {
		contexts = append(contexts, x.Name)
		checks = append(checks, rest.Object{"context": x.Name, "app_id": orNull(x.App)})
	}
	return rest.Object{
		"enabled":                len(contexts) > 0,
		"required_status_checks": rest.Object{"enforcement_level": "everyone", "contexts": contexts, "checks": checks},
	}
}

func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// rulesetJSON returns the rules for a branch from a ruleset with required checks; none if all is empty.
func rulesetJSON(repository string, all []Required) []any {
	if len(all) == 0 {
		return []any{}
	}
	want := []any{}
	for _, x := range all {
		o := rest.Object{"context": x.Name}
		if x.App != 0 {
			o["integration_id"] = x.App
		}
		want = append(want, o)
	}
	rule := func(kind string) rest.Object {
		return rest.Object{"type": kind, "ruleset_source_type": "Repository", "ruleset_source": repository, "ruleset_id": 42}
	}
	checks := rule("required_status_checks")
	checks["parameters"] = rest.Object{"required_status_checks": want, "strict_required_status_checks_policy": false}
	reviews := rule("pull_request")
	reviews["parameters"] = rest.Object{
		"dismiss_stale_reviews_on_push": false, "require_code_owner_review": false, "require_last_push_approval": false,
		"required_approving_review_count": 0, "required_review_thread_resolution": true,
	}
	return []any{rule("required_signatures"), reviews, checks}
}

// A commitStatus is the status that an integration reported for a commit, in a context.
type commitStatus struct {
	ID                  int64
	SHA, Context, State string
}

// latestStatuses returns the latest status of each context for a commit. The parameter at is the time of the
// commit.
func latestStatuses(all []commitStatus, sha string, at time.Time) []any {
	latest := map[string]commitStatus{}
	var order []string
	for _, s := range all {
		if s.SHA != sha {
			continue
		}
		if _, seen := latest[s.Context]; !seen {
			order = append(order, s.Context)
		}
		latest[s.Context] = s
	}
	list := []any{}
	for _, name := range order {
		s := latest[name]
		list = append(list, rest.Object{
			"id": s.ID, "node_id": rest.NodeID("StatusContext", s.ID), "url": rest.APIURL + "statuses", "state": s.State, "context": s.Context,
			"description": nil, "target_url": nil, "avatar_url": nil, "created_at": rest.Stamp(at), "updated_at": rest.Stamp(at),
		})
	}
	return list
}
