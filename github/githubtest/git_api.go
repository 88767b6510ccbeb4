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
)

// getRef is GET /repos/{owner}/{repo}/git/ref/{ref}: branches, and what pull requests
// have under refs/pull.
func (h *Hub) getRef(x *Repository, r *http.Request) (int, any) {
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
		return fail(notFound)
	}
	api := apiURL + "repos/" + x.String() + "/git/"
	return http.StatusOK, object{
		"ref": "refs/" + ref, "node_id": nodeID("Ref", x.id), "url": api + "refs/" + ref,
		"object": object{"type": "commit", "sha": sha, "url": api + "commits/" + sha},
	}
}

// getCommit is GET /repos/{owner}/{repo}/git/commits/{sha}.
func (h *Hub) getCommit(x *Repository, r *http.Request) (int, any) {
	c := x.find(r.PathValue("sha"))
	if c == nil {
		return fail(notFound)
	}
	api, html := apiURL+"repos/"+x.String()+"/git/", webURL+x.String()+"/commit/"
	parents := []any{}
	for _, p := range c.parents {
		parents = append(parents, object{"sha": p, "url": api + "commits/" + p, "html_url": html + p})
	}
	by := c.signature()
	by["date"] = stamp(c.at)
	return http.StatusOK, object{
		"sha": c.sha, "node_id": nodeID("Commit", x.id), "url": api + "commits/" + c.sha, "html_url": html + c.sha,
		"author": by, "committer": by, "message": c.message, "parents": parents,
		"tree":         object{"sha": c.tree(), "url": api + "trees/" + c.tree()},
		"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
	}
}

// tree is the name of a commit's files, which commits with the same files share.
func (c *commit) tree() string {
	d := sha1.New()
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		fmt.Fprintf(d, "%q %q\n", name, c.files[name])
	}
	return hex.EncodeToString(d.Sum(nil))
}

func (c *commit) signature() object {
	return object{"name": c.author, "email": c.author + "@users.noreply.github.example"}
}

// getContents is GET /repos/{owner}/{repo}/contents/{path}: a file, or what is in a
// directory.
func (h *Hub) getContents(x *Repository, r *http.Request) (int, any) {
	ref := r.URL.Query().Get("ref")
	if ref == "" {
		ref = "main"
	}
	c := x.find(ref)
	if c == nil {
		return fail(&problem{http.StatusNotFound, "No commit found for the ref " + ref})
	}
	path := r.PathValue("path")
	if content, ok := c.files[path]; ok {
		o := h.contentJSON(x, c, path, "file")
		o["size"], o["content"], o["encoding"] = len(content), "", "none"
		if len(content) <= 1<<20 {
			o["content"], o["encoding"] = base64.StdEncoding.EncodeToString([]byte(content)), "base64"
		}
		return http.StatusOK, o
	}
	list := []any{}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
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
		list = append(list, h.contentJSON(x, c, path+"/"+first, kind))
	}
	if len(list) == 0 {
		return fail(notFound)
	}
	return http.StatusOK, list
}

func (h *Hub) contentJSON(x *Repository, c *commit, path, kind string) object {
	sum := sha1.Sum([]byte(c.files[path]))
	api := fmt.Sprintf("%srepos/%s/contents/%s?ref=%s", apiURL, x, path, c.sha)
	git := fmt.Sprintf("%srepos/%s/git/blobs/%x", apiURL, x, sum)
	html := fmt.Sprintf("%s%s/blob/%s/%s", webURL, x, c.sha, path)
	return object{
		"type": kind, "name": path[strings.LastIndex(path, "/")+1:], "path": path, "sha": hex.EncodeToString(sum[:]), "size": 0,
		"url": api, "git_url": git, "html_url": html, "download_url": nil,
		"_links": object{"self": api, "git": git, "html": html},
	}
}
