package githubtest

import (
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// formerNames maps former names of repositories to their IDs. GitHub redirects requests for a former name,
// until another repository takes the name.
// Source: https://docs.github.com/en/repositories/creating-and-managing-repositories/renaming-a-repository
type formerNames map[string]int64

// Left records that a repository no longer has the given name, which has the form "owner/name".
func (f formerNames) Left(name string, id int64) { f[strings.ToLower(name)] = id }

// Of returns the ID of the repository that had a name before; 0 if there is none.
func (f formerNames) Of(name string) int64 { return f[strings.ToLower(name)] }

// A shownRepository is the data of a repository in answers.
type shownRepository struct {
	ID            int64
	Owner         rest.Object
	Login, Name   string
	Private, Fork bool
	Made, Pushed  string
	Main          string // the default branch
}

// JSON returns the repository as answers show it.
func (r shownRepository) JSON() rest.Object {
	full := r.Login + "/" + r.Name
	web, git := rest.WebURL+full, strings.TrimPrefix(rest.WebURL, "https://")+full+".git"
	visibility := "public"
	if r.Private {
		visibility = "private"
	}
	o := rest.Object{
		"id": r.ID, "node_id": rest.NodeID("Repository", r.ID), "name": r.Name, "full_name": full,
		"owner": r.Owner, "private": r.Private, "fork": r.Fork, "description": nil, "homepage": nil,
		"url": rest.APIURL + "repos/" + full, "html_url": web, "clone_url": "https://" + git, "git_url": "git://" + git,
		"ssh_url": "git@" + git, "svn_url": web, "mirror_url": nil, "default_branch": r.Main, "language": "HCL", "license": nil,
		"is_template": false, "web_commit_signoff_required": false, "topics": []any{}, "custom_properties": rest.Object{},
		"archived": false, "disabled": false, "size": 1, "visibility": visibility,
		"created_at": r.Made, "updated_at": r.Made, "pushed_at": r.Pushed,
	}
	for _, n := range []string{"forks", "forks_count", "open_issues", "open_issues_count", "stargazers_count", "watchers", "watchers_count"} {
		o[n] = 0
	}
	for _, n := range []string{"has_downloads", "has_issues", "has_projects", "has_wiki", "has_pages"} {
		o[n] = n == "has_issues"
	}
	o.URLs(rest.APIURL+"repos/"+full, "archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits",
		"compare", "contents", "contributors", "deployments", "downloads", "events", "forks", "git_commits", "git_refs",
		"git_tags", "hooks", "issue_comment", "issue_events", "issues", "keys", "labels", "languages", "merges", "milestones",
		"notifications", "pulls", "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams", "trees")
	return o
}

// userJSON returns a user or an App as answers show it.
func userJSON(login string, id int64, bot bool) rest.Object {
	o := rest.Object{
		"login": login, "id": id, "node_id": rest.NodeID("User", id), "type": "User", "site_admin": false,
		"gravatar_id": "", "url": rest.APIURL + "users/" + login, "html_url": rest.WebURL + login,
	}
	if bot {
		o["type"] = "Bot"
	}
	o.URLs(rest.APIURL+"users/"+login, "avatar", "events", "followers", "following", "gists", "organizations",
		"received_events", "repos", "starred", "subscriptions")
	return o
}
