package githubtest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// createRef answers POST /repos/{owner}/{repo}/git/refs, for branches.
// Source: https://docs.github.com/en/rest/git/refs#create-a-reference
func (r *Repository) createRef(req *http.Request) (int, any) {
	var in struct{ Ref, SHA string }
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		return rest.Fail(rest.Invalid("Problems parsing JSON"))
	}
	branch, ok := strings.CutPrefix(in.Ref, "refs/heads/")
	_, there := r.branches[branch]
	switch {
	case !ok || branch == "" || strings.ContainsAny(branch, " ~^:?*[\\") || strings.Contains(branch, "..") || strings.HasSuffix(branch, "/"):
		return rest.Fail(rest.Invalid("Reference name is invalid"))
	case there:
		return rest.Fail(rest.Invalid("Reference already exists"))
	case r.find(in.SHA) == nil:
		return rest.Fail(rest.Invalid("Object does not exist"))
	}
	r.hub.log.Tick()
	r.hub.pushed(r.repo, push{kind: "create branch", who: r.hub.app.Login(), branch: branch, message: "created"}, in.SHA)
	req.SetPathValue("ref", "heads/"+branch)
	_, out := r.getRef(req)
	return http.StatusCreated, out
}

// putContents answers PUT /repos/{owner}/{repo}/contents/{path}: a commit with one file on top of a branch.
// Source: https://docs.github.com/en/rest/repos/contents#create-or-update-file-contents
func (r *Repository) putContents(req *http.Request) (int, any) {
	var in struct {
		Message, Branch, SHA string
		Content              []byte
	}
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		return rest.Fail(rest.Invalid("content is not valid Base64"))
	}
	at, ok := r.branches[in.Branch]
	if !ok {
		return rest.Fail(&rest.Problem{Status: http.StatusNotFound, Message: "Branch " + in.Branch + " not found"})
	}
	path, base := req.PathValue("path"), r.hub.world.history[at]
	_, there := base.Files[path]
	have, _ := r.contentJSON(base, path, "file")["sha"].(string)
	switch {
	case there && in.SHA == "":
		return rest.Fail(rest.Invalid("Invalid request.\n\n\"sha\" wasn't supplied."))
	case in.SHA != "" && (!there || in.SHA != have):
		return rest.Fail(&rest.Problem{Status: http.StatusConflict, Message: path + " does not match " + in.SHA})
	}
	for name := range base.Files {
		if strings.HasPrefix(name, path+"/") || strings.HasPrefix(path, name+"/") {
			return rest.Fail(rest.Invalid("path contains a malformed path component"))
		}
	}
	r.hub.log.Tick()
	by := r.hub.app.Login()
	c := r.commit(by, in.Message, base.Files.With(Files{path: string(in.Content)}), at)
	r.hub.pushed(r.repo, push{kind: "push", who: by, branch: in.Branch, message: in.Message}, c.SHA)
	content := r.contentJSON(c, path, "file")
	delete(content, "download_url") // GitHub's description says that it is a string in this answer, and never null
	req.SetPathValue("sha", c.SHA)
	_, commit := r.getCommit(req)
	return map[bool]int{false: http.StatusCreated, true: http.StatusOK}[there], rest.Object{"content": content, "commit": commit}
}

// createPull answers POST /repos/{owner}/{repo}/pulls, for a branch of the repository itself.
// Source: https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request
func (r *Repository) createPull(req *http.Request) (int, any) {
	var in struct{ Title, Body, Head, Base string }
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		return rest.Fail(rest.Invalid("Problems parsing JSON"))
	}
	head, base := r.branches[in.Head], r.branches[in.Base]
	invalid := func(words string) (int, any) {
		status, body := rest.Fail(rest.Invalid("Validation Failed"))
		body.(rest.Object)["errors"] = []any{rest.Object{"resource": "PullRequest", "code": "custom", "message": words}}
		return status, body
	}
	switch {
	case head == "" || base == "":
		return invalid("The head or the base is not a branch")
	case in.Title == "" || len([]rune(in.Title)) > 256:
		return invalid("title is too long (maximum is 256 characters)")
	case len([]rune(in.Body)) > 65536:
		return invalid("body is too long (maximum is 65536 characters)")
	case len(r.hub.world.history.Missing(base, head)) == 0:
		return invalid("No commits between " + in.Base + " and " + in.Head)
	}
	for _, p := range r.pulls.list {
		if p.open && p.from == r.repo && p.head == in.Head && p.base == in.Base {
			return invalid("A pull request already exists for " + r.owner.login + ":" + in.Head + ".")
		}
	}
	return http.StatusCreated, r.pulls.json(r.pulls.open(r.hub.person(r.hub.app.Login()), opened{title: in.Title, body: in.Body, from: r.repo, branch: in.Head, base: in.Base}))
}
