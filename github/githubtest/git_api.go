package githubtest

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/internal/commits"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// getRef answers GET /repos/{owner}/{repo}/git/ref/{ref}: branches, and the refs below refs/pull of pull
// requests.
func (x *Repository) getRef(r *http.Request) (int, any) {
	ref := r.PathValue("ref")
	sha := x.branches[strings.TrimPrefix(ref, "heads/")]
	if !strings.HasPrefix(ref, "heads/") {
		sha = ""
	}
	var number int
	var end string
	if _, err := fmt.Sscanf(ref, "pull/%d/%s", &number, &end); err == nil && x.pull(number) != nil {
		sha = map[string]string{"head": x.pull(number).headSHA, "merge": x.pull(number).trial.sha}[end]
	}
	if sha == "" {
		return rest.Fail(rest.NotFound)
	}
	api := rest.APIURL + "repos/" + x.String() + "/git/"
	return http.StatusOK, rest.Object{
		"ref": "refs/" + ref, "node_id": rest.NodeID("Ref", x.id), "url": api + "refs/" + ref,
		"object": rest.Object{"type": "commit", "sha": sha, "url": api + "commits/" + sha},
	}
}

// getCommit answers GET /repos/{owner}/{repo}/git/commits/{sha}.
func (x *Repository) getCommit(r *http.Request) (int, any) {
	c := x.find(r.PathValue("sha"))
	if c == nil {
		return rest.Fail(rest.NotFound)
	}
	api, html := rest.APIURL+"repos/"+x.String()+"/git/", rest.WebURL+x.String()+"/commit/"
	parents := []any{}
	for _, p := range c.Parents {
		parents = append(parents, rest.Object{"sha": p, "url": api + "commits/" + p, "html_url": html + p})
	}
	by := c.Signature()
	by["date"] = rest.Stamp(c.At)
	return http.StatusOK, rest.Object{
		"sha": c.SHA, "node_id": rest.NodeID("Commit", x.id), "url": api + "commits/" + c.SHA, "html_url": html + c.SHA,
		"author": by, "committer": by, "message": c.Message, "parents": parents,
		"tree":         rest.Object{"sha": c.Tree(), "url": api + "trees/" + c.Tree()},
		"verification": rest.Object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
	}
}

// getContents answers GET /repos/{owner}/{repo}/contents/{path}: a file, or the entries of a directory.
func (x *Repository) getContents(r *http.Request) (int, any) {
	ref := r.URL.Query().Get("ref")
	if ref == "" {
		ref = x.main
	}
	c := x.find(ref)
	if c == nil {
		return rest.Fail(&rest.Problem{Status: http.StatusNotFound, Message: "No commit found for the ref " + ref})
	}
	path := r.PathValue("path")
	if target, is := commits.LinkTo(c.Files[path]); is {
		// For a symbolic link, GitHub answers with the file that it leads to; if it leads to no file, with the
		// link itself.
		content, ok := c.Files.Resolve(path)
		if !ok {
			o := x.contentJSON(c, path, "symlink")
			o["target"] = target
			return http.StatusOK, o
		}
		o := x.contentJSON(c, path, "file")
		o["size"], o["content"], o["encoding"] = len(content), base64.StdEncoding.EncodeToString([]byte(content)), "base64"
		return http.StatusOK, o
	}
	if content, ok := c.Files[path]; ok {
		o := x.contentJSON(c, path, "file")
		o["size"], o["content"], o["encoding"] = len(content), "", "none"
		if len(content) <= 1<<20 {
			o["content"], o["encoding"] = base64.StdEncoding.EncodeToString([]byte(content)), "base64"
		}
		return http.StatusOK, o
	}
	list := []any{}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		rest, in := strings.CutPrefix(name, strings.TrimSuffix(path, "/")+"/")
		first, _, dir := strings.Cut(rest, "/")
		if !in || seen[first] {
			continue
		}
		seen[first] = true
		kind := "file"
		if dir {
			kind = "dir"
		}
		list = append(list, x.contentJSON(c, path+"/"+first, kind))
	}
	if len(list) == 0 {
		return rest.Fail(rest.NotFound)
	}
	return http.StatusOK, list
}

func (r *repo) contentJSON(c *commits.Commit, path, kind string) rest.Object {
	sum := sha1.Sum([]byte(c.Files[path]))
	api := fmt.Sprintf("%srepos/%s/contents/%s?ref=%s", rest.APIURL, r, path, c.SHA)
	git := fmt.Sprintf("%srepos/%s/git/blobs/%x", rest.APIURL, r, sum)
	html := fmt.Sprintf("%s%s/blob/%s/%s", rest.WebURL, r, c.SHA, path)
	return rest.Object{
		"type": kind, "name": path[strings.LastIndex(path, "/")+1:], "path": path, "sha": hex.EncodeToString(sum[:]), "size": 0,
		"url": api, "git_url": git, "html_url": html, "download_url": nil,
		"_links": rest.Object{"self": api, "git": git, "html": html},
	}
}
