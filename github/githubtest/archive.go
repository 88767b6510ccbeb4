package githubtest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// An archiveLink is a short-lived address from which a commit's archive can be downloaded.
type archiveLink struct {
	repo *repo
	sha  string
}

// getArchive answers GET /repos/{owner}/{repo}/tarball/{ref}, which needs no token if the repository is public.
func (h *Hub) getArchive(r *http.Request) (int, any) {
	x := h.repos.named(r)
	if token := r.Header.Get("Authorization"); token == "" && (x == nil || x.private) {
		return rest.Fail(rest.NotFound)
	} else if token != "" {
		var p *rest.Problem
		if x, p = h.opened(r, "contents:read"); p != nil {
			return rest.Fail(p)
		}
	}
	c := x.find(r.PathValue("ref"))
	if c == nil {
		return rest.Fail(rest.NotFound)
	}
	link := h.app.Secret("")
	h.links[link] = archiveLink{x.repo, c.SHA}
	return http.StatusFound, rest.Redirect(fmt.Sprintf("http://%s/archive/%s", r.Host, link))
}

// sendArchive answers as codeload.github.com, which accepts only the tokens in its own addresses.
func (h *Hub) sendArchive(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	link, ok := h.links[r.PathValue("link")]
	delete(h.links, r.PathValue("link"))
	c := h.history[link.sha]
	h.mu.Unlock()
	if !ok || r.Header.Get("Authorization") != "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-gzip")
	c.WriteArchive(w, strings.ReplaceAll(link.repo.String(), "/", "-")+"-"+c.SHA[:7])
}
