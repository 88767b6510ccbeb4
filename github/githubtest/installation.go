package githubtest

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/hooks"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// installationOf returns the ID of the App's installation in an account. If there is none, it creates one.
func (h *Hub) installationOf(account *user) int64 {
	for _, r := range h.repos {
		if r.owner == account && r.installation != 0 {
			return r.installation
		}
	}
	return h.log.nextID()
}

// Uninstall removes the repository from the App's installation.
func (r *Repository) Uninstall(who string) {
	defer r.hub.lock()()
	r.hub.log.Tick()
	moved(r, who, "removed")
	r.installation = 0
}

// Install adds a repository to the App's installation in its owner's account. If no other repository of the
// account is installed, the installation is a new one.
func Install(r *Repository, who string) {
	defer r.hub.lock()()
	r.hub.log.Tick()
	r.installation = r.hub.installationOf(r.owner)
	moved(r, who, "added")
}

// moved sends the App the webhook that a repository was added to its installation, or removed from it.
func moved(r *Repository, who, action string) {
	w := r.hub.world
	lists := rest.Object{"repositories_added": []any{}, "repositories_removed": []any{}}
	lists["repositories_"+action] = []any{rest.Object{
		"id": r.id, "node_id": rest.NodeID("Repository", r.id), "name": r.name, "full_name": r.String(), "private": r.private,
	}}
	w.outbox.Post(hooks.Subject{Event: "installation_repositories", Action: action, Installation: r.installation}, rest.Object{
		"action": action, "sender": w.person(who).json(), "installation": w.installationJSON(r.installation, r.owner),
		"repository_selection": "selected", "requester": nil,
		"repositories_added": lists["repositories_added"], "repositories_removed": lists["repositories_removed"],
	})
}

// getApp answers GET /app.
func (h *Hub) getApp(*http.Request) (int, any) {
	return http.StatusOK, h.appJSON(app{h.app.ID, h.app.Slug})
}

// createToken answers POST /app/installations/{installation}/access_tokens.
func (h *Hub) createToken(r *http.Request) (int, any) {
	var grants []apps.Grant
	for _, x := range h.repos {
		if x.installation == rest.ID(r, "installation") {
			grants = append(grants, apps.Grant{ID: x.id, Name: x.name, JSON: x.repo.json()})
		}
	}
	return h.app.Create(r, grants)
}

// listInstallations answers GET /app/installations.
func (h *Hub) listInstallations(r *http.Request) (int, any) {
	list, seen := []any{}, map[int64]bool{0: true}
	for _, x := range h.repos {
		if !seen[x.installation] {
			seen[x.installation] = true
			list = append(list, h.installationJSON(x.installation, x.owner))
		}
	}
	return http.StatusOK, rest.Paged(r, list)
}

// listRepositories answers GET /installation/repositories.
func (h *Hub) listRepositories(r *http.Request) (int, any) {
	t, p := h.app.Token(r)
	if p == nil && !t.Allows("metadata:read") {
		p = apps.Forbidden
	}
	if p != nil {
		return rest.Fail(p)
	}
	list := []any{}
	for _, x := range h.repos {
		if t.Opens(x.installation, x.id) {
			list = append(list, x.repo.json())
		}
	}
	return counted(r, "repositories", list)
}

func (w *world) installationJSON(id int64, account *user) rest.Object {
	base := rest.APIURL + "app/installations/" + strconv.FormatInt(id, 10)
	return rest.Object{
		"id": id, "account": account.json(), "repository_selection": "selected",
		"access_tokens_url": base + "/access_tokens", "repositories_url": rest.APIURL + "installation/repositories",
		"html_url": fmt.Sprintf("%ssettings/installations/%d", rest.WebURL, id), "app_id": w.app.ID, "app_slug": w.app.Slug,
		"target_id": account.id, "target_type": "User", "permissions": w.app.Permissions(), "events": apps.Events,
		"created_at": rest.Stamp(epoch), "updated_at": rest.Stamp(epoch), "single_file_name": nil, "has_multiple_single_files": false,
		"single_file_paths": []any{}, "suspended_by": nil, "suspended_at": nil,
	}
}

// appJSON returns an App as answers show it. All Apps of a Hub have the same owner.
func (w *world) appJSON(a app) rest.Object {
	return rest.Object{
		"id": a.id, "slug": a.slug, "node_id": rest.NodeID("App", a.id),
		"owner": w.self().json(), "name": a.slug, "description": "",
		"external_url": rest.WebURL, "html_url": rest.WebURL + "apps/" + a.slug,
		"created_at": rest.Stamp(epoch), "updated_at": rest.Stamp(epoch), "permissions": w.app.Permissions(), "events": apps.Events,
	}
}
