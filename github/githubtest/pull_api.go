package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

func (l *pulls) getPull(r *http.Request) (int, any) {
	p := l.requested(r)
	if p == nil {
		return rest.Fail(rest.NotFound)
	}
	l.try(p)
	return http.StatusOK, l.json(p)
}

// requested returns the pull request that a request names.
func (l *pulls) requested(r *http.Request) *pull { return l.pull(int(rest.ID(r, "number"))) }

// inFull are the members of a pull request that lists omit.
var inFull = []string{
	"merged", "mergeable", "mergeable_state", "merged_by", "comments", "review_comments", "maintainer_can_modify",
	"commits", "additions", "deletions", "changed_files", "rebaseable",
}

// listPulls answers GET /repos/{owner}/{repo}/pulls, newest or most recently changed first. It omits the
// members that GitHub does not compute for lists.
func (l *pulls) listPulls(r *http.Request) (int, any) {
	want := cmp.Or(r.URL.Query().Get("state"), "open")
	list, all := []any{}, slices.Clone(l.list)
	if r.URL.Query().Get("sort") == "updated" {
		slices.SortStableFunc(all, func(a, b *pull) int { return a.touched.Compare(b.touched) })
	}
	for _, p := range slices.Backward(all) {
		of := r.URL.Query().Get("head")
		if into := r.URL.Query().Get("base"); want != "all" && want != p.state() || into != "" && into != p.base || of != "" && of != p.from.owner.login+":"+p.head {
			continue
		}
		o := l.json(p)
		for _, name := range inFull {
			delete(o, name)
		}
		list = append(list, o)
	}
	return http.StatusOK, rest.Paged(r, list)
}

func (l *pulls) listFiles(r *http.Request) (int, any) {
	p := l.requested(r)
	if p == nil {
		return rest.Fail(rest.NotFound)
	}
	old, head := l.sides(p)
	list := []any{}
	for _, name := range old.Changed(head) {
		list = append(list, l.fileJSON(p, name, old, head))
	}
	return http.StatusOK, rest.Paged(r, list)
}

func (l *pulls) json(p *pull) rest.Object {
	r := l.repo
	api, web := fmt.Sprintf("%srepos/%s/pulls/%d", rest.APIURL, r, p.number), fmt.Sprintf("%s%s/pull/%d", rest.WebURL, r, p.number)
	issue := fmt.Sprintf("%srepos/%s/issues/%d", rest.APIURL, r, p.number)
	o := rest.Object{
		"id": p.id, "node_id": rest.NodeID("PullRequest", p.id), "number": p.number, "title": p.title, "body": nil,
		"user": p.author.json(), "state": p.state(), "locked": false, "draft": p.draft,
		"head": p.from.endJSON(p.head, p.headSHA), "base": r.endJSON(p.base, p.baseSHA),
		"url": api, "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "issue_url": issue,
		"comments_url": issue + "/comments", "statuses_url": api + "/statuses", "review_comment_url": api + "/comments{/number}",
		"commits_url": api + "/commits", "review_comments_url": api + "/comments",
		"merged": p.mergedBy != nil, "merge_commit_sha": p.mergeCommit(), "mergeable": l.mergeable(p), "mergeable_state": "unknown",
		"merged_by": nil, "merged_at": nil, "closed_at": nil, "created_at": rest.Stamp(p.made), "updated_at": rest.Stamp(p.touched),
		"assignee": nil, "assignees": []any{}, "requested_reviewers": []any{}, "requested_teams": []any{},
		"active_lock_reason": nil, "rebaseable": nil, "milestone": nil, "labels": labelsJSON(p.labels), "author_association": "CONTRIBUTOR", "auto_merge": nil,
		"additions": 1, "deletions": 0, "changed_files": 1, "comments": 0, "commits": max(p.commits, 1), "review_comments": 0,
		"maintainer_can_modify": false,
	}
	if p.body != "" {
		o["body"] = p.body
	}
	if !p.open {
		o["closed_at"] = rest.Stamp(p.touched)
	}
	switch l.mergeable(p) {
	case true:
		o["mergeable_state"] = cmp.Or(r.mergeState, "clean")
	case false:
		o["mergeable_state"] = "dirty"
	}
	if p.auto != nil {
		o["auto_merge"] = rest.Object{"enabled_by": p.auto.by.json(), "merge_method": "merge", "commit_title": "", "commit_message": ""}
	}
	if p.mergedBy != nil {
		o["merged_at"], o["merged_by"] = rest.Stamp(p.mergedAt), p.mergedBy.json()
	}
	links := rest.Object{}
	for name, href := range map[string]string{
		"self": api, "html": web, "issue": issue, "comments": issue + "/comments", "commits": api + "/commits",
		"statuses": api + "/statuses", "review_comment": api + "/comments{/number}", "review_comments": api + "/comments",
	} {
		links[name] = rest.Object{"href": href}
	}
	o["_links"] = links
	return o
}

func (r *repo) endJSON(branch, sha string) rest.Object {
	if r.deleted {
		return rest.Object{"label": branch, "ref": branch, "sha": sha, "user": nil, "repo": nil}
	}
	return rest.Object{
		"label": r.owner.login + ":" + branch, "ref": branch, "sha": sha,
		"user": r.owner.json(), "repo": r.json(),
	}
}

func (p *pull) state() string {
	if p.open {
		return "open"
	}
	return "closed"
}

func (l *pulls) fileJSON(p *pull, name string, old, head Files) rest.Object {
	r := l.repo
	before, was := old[name]
	after, is := head[name]
	o := rest.Object{
		"filename": name, "sha": p.headSHA, "status": "modified",
		"additions": strings.Count(after, "\n"), "deletions": strings.Count(before, "\n"),
		"changes":      strings.Count(after, "\n") + strings.Count(before, "\n"),
		"blob_url":     fmt.Sprintf("%s%s/blob/%s/%s", rest.WebURL, r, p.headSHA, name),
		"raw_url":      fmt.Sprintf("%s%s/raw/%s/%s", rest.WebURL, r, p.headSHA, name),
		"contents_url": fmt.Sprintf("%srepos/%s/contents/%s?ref=%s", rest.APIURL, r, name, p.headSHA),
	}
	switch {
	case !was:
		o["status"] = "added"
	case !is:
		o["status"] = "removed"
	}
	if text := patch(before, after); text != "" {
		o["patch"] = text
	}
	return o
}
