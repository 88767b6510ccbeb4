package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func (h *Hub) getPull(x *Repository, r *http.Request) (int, any) {
	p := x.pull(number(r, "number"))
	if p == nil {
		return fail(notFound)
	}
	x.try(p)
	return http.StatusOK, h.pullJSON(x, p)
}

// inFull are what a pull request has only where it is shown in full.
var inFull = []string{
	"merged", "mergeable", "mergeable_state", "merged_by", "comments", "review_comments", "maintainer_can_modify",
	"commits", "additions", "deletions", "changed_files", "rebaseable",
}

// listPulls is GET /repos/{owner}/{repo}/pulls: newest first, and without what takes
// GitHub time to say.
func (h *Hub) listPulls(x *Repository, r *http.Request) (int, any) {
	want := cmp.Or(r.URL.Query().Get("state"), "open")
	list := []any{}
	for _, p := range slices.Backward(x.pulls) {
		if want != "all" && want != state(p) {
			continue
		}
		o := h.pullJSON(x, p)
		for _, name := range inFull {
			delete(o, name)
		}
		list = append(list, o)
	}
	return http.StatusOK, paged(r, list)
}

func (h *Hub) listFiles(x *Repository, r *http.Request) (int, any) {
	p := x.pull(number(r, "number"))
	if p == nil {
		return fail(notFound)
	}
	old, head := x.sides(p)
	list := []any{}
	for _, name := range old.changed(head) {
		list = append(list, h.fileJSON(x, p, name, old, head))
	}
	return http.StatusOK, paged(r, list)
}

func (h *Hub) pullJSON(r *Repository, p *pull) object {
	api, web := fmt.Sprintf("%srepos/%s/pulls/%d", apiURL, r, p.number), fmt.Sprintf("%s%s/pull/%d", webURL, r, p.number)
	issue := fmt.Sprintf("%srepos/%s/issues/%d", apiURL, r, p.number)
	o := object{
		"id": p.id, "node_id": nodeID("PullRequest", p.id), "number": p.number, "title": p.title, "body": nil,
		"user": h.userJSON(p.author), "state": state(p), "locked": false, "draft": p.draft,
		"head": h.endJSON(p.from, p.head, p.headSHA), "base": h.endJSON(r, p.base, p.baseSHA),
		"url": api, "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "issue_url": issue,
		"comments_url": issue + "/comments", "statuses_url": api + "/statuses", "review_comment_url": api + "/comments{/number}",
		"commits_url": api + "/commits", "review_comments_url": api + "/comments",
		"merged": p.mergedBy != nil, "merge_commit_sha": p.mergeCommit(), "mergeable": r.mergeable(p), "mergeable_state": "unknown",
		"merged_by": nil, "merged_at": nil, "closed_at": nil, "created_at": stamp(p.made), "updated_at": stamp(p.touched),
		"assignee": nil, "assignees": []any{}, "requested_reviewers": []any{}, "requested_teams": []any{},
		"active_lock_reason": nil, "rebaseable": nil, "milestone": nil, "labels": []any{}, "author_association": "CONTRIBUTOR", "auto_merge": nil,
		"additions": 1, "deletions": 0, "changed_files": 1, "comments": 0, "commits": 1, "review_comments": 0,
		"maintainer_can_modify": false,
	}
	if !p.open {
		o["closed_at"] = stamp(p.touched)
	}
	switch r.mergeable(p) {
	case true:
		o["mergeable_state"] = "clean"
	case false:
		o["mergeable_state"] = "dirty"
	}
	if p.mergedBy != nil {
		o["merged_at"], o["merged_by"] = stamp(p.touched), h.userJSON(p.mergedBy)
	}
	links := object{}
	for name, href := range map[string]string{
		"self": api, "html": web, "issue": issue, "comments": issue + "/comments", "commits": api + "/commits",
		"statuses": api + "/statuses", "review_comment": api + "/comments{/number}", "review_comments": api + "/comments",
	} {
		links[name] = object{"href": href}
	}
	o["_links"] = links
	return o
}

func (h *Hub) endJSON(r *Repository, branch, sha string) object {
	if r.deleted {
		return object{"label": branch, "ref": branch, "sha": sha, "user": nil, "repo": nil}
	}
	return object{
		"label": r.owner.login + ":" + branch, "ref": branch, "sha": sha,
		"user": h.userJSON(r.owner), "repo": h.repoJSON(r),
	}
}

func state(p *pull) string {
	if p.open {
		return "open"
	}
	return "closed"
}

func (h *Hub) fileJSON(r *Repository, p *pull, name string, old, head Files) object {
	before, was := old[name]
	after, is := head[name]
	o := object{
		"filename": name, "sha": p.headSHA, "status": "modified",
		"additions": strings.Count(after, "\n"), "deletions": strings.Count(before, "\n"),
		"changes":      strings.Count(after, "\n") + strings.Count(before, "\n"),
		"blob_url":     fmt.Sprintf("%s%s/blob/%s/%s", webURL, r, p.headSHA, name),
		"raw_url":      fmt.Sprintf("%s%s/raw/%s/%s", webURL, r, p.headSHA, name),
		"contents_url": fmt.Sprintf("%srepos/%s/contents/%s?ref=%s", apiURL, r, name, p.headSHA),
	}
	switch {
	case !was:
		o["status"] = "added"
	case !is:
		o["status"] = "removed"
	}
	return o
}
