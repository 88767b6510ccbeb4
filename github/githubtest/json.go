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
	visibility := "public"
	if r.private {
		visibility = "private"
	}
	o := object{
		"id": r.id, "node_id": nodeID("Repository", r.id), "name": r.name, "full_name": r.String(),
		"owner": h.userJSON(r.owner), "private": r.private, "fork": r.parent != nil, "description": nil, "homepage": nil,
		"url": apiURL + "repos/" + r.String(), "html_url": web, "clone_url": "https://" + git, "git_url": "git://" + git,
		"ssh_url": "git@" + git, "svn_url": web, "mirror_url": nil, "default_branch": "main", "language": "HCL", "license": nil,
		"is_template": false, "web_commit_signoff_required": false, "topics": []any{}, "custom_properties": object{},
		"archived": false, "disabled": false, "size": 1, "visibility": visibility,
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

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
