package githubtest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// How things look in answers and webhooks: with every member that GitHub's own
// description of its API requires, which a test checks.

const (
	webURL = "https://github.example/"
	apiURL = "https://api.github.example/"
)

type object map[string]any

func stamp(t time.Time) string { return t.Format(time.RFC3339) }

func nodeID(kind string, id int64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", kind, id))
}

// urls adds members that are addresses below base: "keys" becomes "keys_url".
func (o object) urls(base string, names ...string) {
	for _, n := range names {
		o[n+"_url"] = base + "/" + n
	}
}

func (h *Hub) userJSON(u *user) object {
	o := object{
		"login": u.login, "id": u.id, "node_id": nodeID("User", u.id), "type": "User", "site_admin": false,
		"gravatar_id": "", "url": apiURL + "users/" + u.login, "html_url": webURL + u.login,
	}
	if u.bot {
		o["type"] = "Bot"
	}
	o.urls(apiURL+"users/"+u.login, "avatar", "events", "followers", "following", "gists", "organizations",
		"received_events", "repos", "starred", "subscriptions")
	return o
}

func (h *Hub) repoJSON(r *Repository) object {
	web, git := webURL+r.String(), strings.TrimPrefix(webURL, "https://")+r.String()+".git"
	o := object{
		"id": r.id, "node_id": nodeID("Repository", r.id), "name": r.name, "full_name": r.String(),
		"owner": h.userJSON(r.owner), "private": false, "fork": r.fork, "description": nil, "homepage": nil,
		"url": apiURL + "repos/" + r.String(), "html_url": web, "clone_url": "https://" + git, "git_url": "git://" + git,
		"ssh_url": "git@" + git, "svn_url": web, "mirror_url": nil, "default_branch": "main", "language": "HCL", "license": nil,
		"archived": false, "disabled": false, "size": 1, "visibility": "public",
		"created_at": stamp(epoch), "updated_at": stamp(epoch), "pushed_at": stamp(h.clock),
	}
	for _, n := range []string{"forks", "forks_count", "open_issues", "open_issues_count", "stargazers_count", "watchers", "watchers_count"} {
		o[n] = 0
	}
	for _, n := range []string{"has_downloads", "has_issues", "has_projects", "has_wiki", "has_pages"} {
		o[n] = n == "has_issues"
	}
	o.urls(apiURL+"repos/"+r.String(), "archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits",
		"compare", "contents", "contributors", "deployments", "downloads", "events", "forks", "git_commits", "git_refs",
		"git_tags", "hooks", "issue_comment", "issue_events", "issues", "keys", "labels", "languages", "merges", "milestones",
		"notifications", "pulls", "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams", "trees")
	return o
}

func (h *Hub) pullJSON(r *Repository, p *pull) object {
	conflicts := r.trial(p)
	api, web := fmt.Sprintf("%srepos/%s/pulls/%d", apiURL, r, p.number), fmt.Sprintf("%s%s/pull/%d", webURL, r, p.number)
	issue := fmt.Sprintf("%srepos/%s/issues/%d", apiURL, r, p.number)
	o := object{
		"id": p.id, "node_id": nodeID("PullRequest", p.id), "number": p.number, "title": p.title, "body": nil,
		"user": h.userJSON(p.author), "state": state(p), "locked": false, "draft": false,
		"head": h.endJSON(p.from, p.head, p.headSHA), "base": h.endJSON(r, p.base, r.branches[p.base]),
		"url": api, "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "issue_url": issue,
		"comments_url": issue + "/comments", "statuses_url": api + "/statuses", "review_comment_url": api + "/comments{/number}",
		"commits_url": api + "/commits", "review_comments_url": api + "/comments",
		"merged": p.merged, "merge_commit_sha": orNull(p.mergeSHA), "mergeable": len(conflicts) == 0, "mergeable_state": "clean",
		"merged_by": nil, "merged_at": nil, "closed_at": nil, "created_at": stamp(p.made), "updated_at": stamp(p.touched),
		"assignee": nil, "milestone": nil, "labels": []any{}, "author_association": "CONTRIBUTOR", "auto_merge": nil,
		"additions": 1, "deletions": 0, "changed_files": 1, "comments": 0, "commits": 1, "review_comments": 0,
		"maintainer_can_modify": false,
	}
	if !p.open {
		o["closed_at"] = stamp(p.touched)
	}
	if p.merged {
		o["merged_at"], o["merged_by"] = stamp(p.touched), h.userJSON(p.author)
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

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// issueJSON is a pull request as the webhooks of its comments show it: cut down.
func (h *Hub) issueJSON(r *Repository, p *pull) object {
	return object{
		"id": p.id, "number": p.number, "title": p.title, "state": state(p), "user": h.userJSON(p.author),
		"pull_request": object{"url": fmt.Sprintf("%srepos/%s/pulls/%d", apiURL, r, p.number)},
	}
}

func (h *Hub) commentJSON(r *Repository, c *Comment) object {
	return object{
		"id": c.ID, "node_id": nodeID("IssueComment", c.ID), "body": c.Body, "user": h.userJSON(c.author),
		"url":        fmt.Sprintf("%srepos/%s/issues/comments/%d", apiURL, r, c.ID),
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
