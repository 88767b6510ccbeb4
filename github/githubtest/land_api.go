package githubtest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// RefuseMerges makes GitHub refuse merges by the API with a message; "" allows them again.
func (l *pulls) RefuseMerges(words string) {
	defer l.repo.world.lock()()
	l.protected = words
}

// landPull answers PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge.
// Source: https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
func (l *pulls) landPull(r *http.Request) (int, any) {
	p := l.requested(r)
	if p == nil {
		return rest.Fail(rest.NotFound)
	}
	var in struct {
		SHA    string `json:"sha"`
		Method string `json:"merge_method"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return rest.Fail(&rest.Problem{Status: http.StatusBadRequest, Message: "Problems parsing JSON"})
	}
	_, conflicts := l.repo.world.history.Merge(l.repo.mustBranch(p.base), p.headSHA)
	refuse := func(status int, words string) (int, any) {
		return rest.Fail(&rest.Problem{Status: status, Message: words})
	}
	switch {
	case p.draft:
		return refuse(http.StatusMethodNotAllowed, "Pull Request is still a draft")
	case !p.open || len(conflicts) > 0:
		return refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case in.SHA != "" && in.SHA != p.headSHA:
		return refuse(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case l.protected != "":
		return refuse(http.StatusMethodNotAllowed, l.protected)
	}
	base := l.repo.mustBranch(p.base)
	parents := []string{base, p.headSHA}
	if in.Method == "squash" || in.Method == "rebase" {
		parents = []string{base}
	}
	bot := l.repo.world.person(l.repo.world.app.Login())
	p.touched = l.repo.world.log.Tick()
	sha := l.land(p, bot, base, parents)
	l.repo.note(Edit{Kind: "merge", Who: bot.login, Number: p.number, Text: in.Method})
	l.send(p, bot, "closed", nil)
	return http.StatusOK, rest.Object{"sha": sha, "merged": true, "message": "Pull Request successfully merged"}
}

// deleteRef answers DELETE /repos/{owner}/{repo}/git/refs/{ref}.
// Source: https://docs.github.com/en/rest/git/refs#delete-a-reference
func (l *pulls) deleteRef(r *http.Request) (int, any) {
	branch, ok := strings.CutPrefix(r.PathValue("ref"), "heads/")
	if _, there := l.repo.branches[branch]; !ok || !there {
		return rest.Fail(&rest.Problem{Status: http.StatusUnprocessableEntity, Message: "Reference does not exist"})
	}
	delete(l.repo.branches, branch)
	l.repo.note(Edit{Kind: "delete branch", Who: l.repo.world.app.Login(), Text: branch})
	return http.StatusNoContent, nil
}
