// Command cut makes the description of GitHub's API that this package reads of the
// whole one, which has 12 MB: the operations below with the schemas that they need,
// without prose and examples. From the repository's root:
//
//	npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz package/generated/api.github.com.json
//	go run ./github/githubtest/contract/testdata/cut.go package/generated/api.github.com.json github/githubtest/contract/api.github.com.json
package main

import (
	"encoding/json"
	"log"
	"os"
	"strings"
)

// operations are those that the client uses and the fake serves.
var operations = []string{
	"get /app",
	"get /app/installations",
	"get /app/hook/config",
	"patch /app/hook/config",
	"post /app-manifests/{code}/conversions",
	"get /app/hook/deliveries",
	"get /app/hook/deliveries/{delivery_id}",
	"post /app/hook/deliveries/{delivery_id}/attempts",
	"get /installation/repositories",
	"get /user",
	"delete /applications/{client_id}/token",
	"get /user/installations",
	"get /user/installations/{installation_id}/repositories",
	"post /app/installations/{installation_id}/access_tokens",
	"get /repos/{owner}/{repo}",
	"get /repos/{owner}/{repo}/pulls",
	"post /repos/{owner}/{repo}/pulls",
	"get /repos/{owner}/{repo}/pulls/{pull_number}",
	"get /repos/{owner}/{repo}/pulls/{pull_number}/files",
	"put /repos/{owner}/{repo}/pulls/{pull_number}/merge",
	"post /repos/{owner}/{repo}/git/refs",
	"delete /repos/{owner}/{repo}/git/refs/{ref}",
	"get /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
	"get /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}",
	"get /repos/{owner}/{repo}/pulls/comments/{comment_id}",
	"get /repos/{owner}/{repo}/pulls/{pull_number}/commits",
	"get /repos/{owner}/{repo}/activity",
	"get /repos/{owner}/{repo}/issues/{issue_number}/events",
	"get /repos/{owner}/{repo}/commits/{ref}/status",
	"get /repos/{owner}/{repo}/compare/{basehead}",
	"get /repos/{owner}/{repo}/branches/{branch}",
	"get /repos/{owner}/{repo}/rules/branches/{branch}",
	"get /orgs/{org}/teams/{team_slug}",
	"get /orgs/{org}/teams/{team_slug}/memberships/{username}",
	"get /repos/{owner}/{repo}/tarball/{ref}",
	"get /repos/{owner}/{repo}/codeowners/errors",
	"get /repos/{owner}/{repo}/contents/{path}",
	"put /repos/{owner}/{repo}/contents/{path}",
	"get /repos/{owner}/{repo}/git/ref/{ref}",
	"get /repos/{owner}/{repo}/git/commits/{commit_sha}",
	"get /repos/{owner}/{repo}/issues",
	"post /repos/{owner}/{repo}/issues",
	"get /repos/{owner}/{repo}/issues/{issue_number}",
	"patch /repos/{owner}/{repo}/issues/{issue_number}",
	"get /repos/{owner}/{repo}/issues/comments",
	"get /repos/{owner}/{repo}/issues/{issue_number}/comments",
	"post /repos/{owner}/{repo}/issues/{issue_number}/comments",
	"get /repos/{owner}/{repo}/issues/comments/{comment_id}",
	"patch /repos/{owner}/{repo}/issues/comments/{comment_id}",
	"delete /repos/{owner}/{repo}/issues/comments/{comment_id}",
	"post /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
	"get /repos/{owner}/{repo}/collaborators/{username}/permission",
	"post /repos/{owner}/{repo}/check-runs",
	"patch /repos/{owner}/{repo}/check-runs/{check_run_id}",
	"get /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations",
	"get /repos/{owner}/{repo}/commits/{ref}/check-runs",
	"get /repos/{owner}/{repo}/environments/{environment_name}",
	"get /repos/{owner}/{repo}/environments/{environment_name}/deployment-branch-policies",
	"get /repos/{owner}/{repo}/environments/{environment_name}/deployment_protection_rules",
	"get /repos/{owner}/{repo}/deployments",
	"post /repos/{owner}/{repo}/deployments",
	"post /repos/{owner}/{repo}/deployments/{deployment_id}/statuses",
}

type object = map[string]any

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: cut WHOLE CUT")
	}
	src, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var whole object
	if err := json.Unmarshal(src, &whole); err != nil {
		log.Fatal(err)
	}
	paths := object{}
	for _, o := range operations {
		method, path, _ := strings.Cut(o, " ")
		item, ok := whole["paths"].(object)[path].(object)
		if !ok || item[method] == nil {
			log.Fatalf("there is no %s", o)
		}
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path].(object)[method] = item[method]
	}
	mend(whole, paths)
	out := object{"openapi": whole["openapi"], "info": whole["info"], "paths": paths, "components": object{}}
	collect(whole, out, paths)
	data, err := json.MarshalIndent(prune(out, true), "", " ")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], append(data, '\n'), 0o644); err != nil {
		log.Fatal(err)
	}
}

// mend corrects the description: in the list of installations an account is a user
// *and* an enterprise, where an installation's is one of them; and the head of a pull
// request from a fork that was deleted has no repository, and perhaps no user.
func mend(whole, paths object) {
	list := paths["/app/installations"].(object)["get"].(object)["responses"].(object)["200"].(object)
	list["content"].(object)["application/json"].(object)["schema"].(object)["items"] = object{"$ref": "#/components/schemas/installation"}
	for _, name := range []string{"pull-request", "pull-request-simple"} {
		pull := whole["components"].(object)["schemas"].(object)[name].(object)["properties"].(object)
		head := pull["head"].(object)["properties"].(object)
		for _, part := range []string{"repo", "user"} {
			head[part] = object{"nullable": true, "allOf": []any{head[part]}}
		}
	}
}

// collect copies all values that are referred to, directly or not.
func collect(whole, out object, v any) {
	switch v := v.(type) {
	case object:
		if ref, ok := v["$ref"].(string); ok {
			parts := strings.Split(ref, "/") // #/components/KIND/NAME
			kind, name := parts[2], parts[3]
			components := out["components"].(object)
			if components[kind] == nil {
				components[kind] = object{}
			}
			if components[kind].(object)[name] == nil && kind != "examples" {
				x := whole["components"].(object)[kind].(object)[name]
				components[kind].(object)[name] = x
				collect(whole, out, x)
			}
		}
		for name, x := range v {
			if name != "examples" && name != "example" {
				collect(whole, out, x)
			}
		}
	case []any:
		for _, x := range v {
			collect(whole, out, x)
		}
	}
}

// prune drops all that checks do not need. Members of properties are names of
// GitHub's and stay.
func prune(v any, keywords bool) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, x := range v {
			drop := name == "examples" || name == "example" || name == "externalDocs" || name == "tags" || strings.HasPrefix(name, "x-")
			if s, ok := x.(string); ok && name == "description" && s != "" && v["responses"] == nil {
				if _, response := v["content"]; response || v["headers"] != nil || len(v) == 1 {
					x = "-" // required of responses
				} else {
					drop = true
				}
			}
			if keywords && drop {
				continue
			}
			out[name] = prune(x, !keywords || name != "properties")
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = prune(x, true)
		}
		return out
	}
	return v
}
