package githubtest

import (
	"fmt"
	"net/http"
)

// installationOf returns the ID of the App's installation in an account, which is made
// if there is none.
func (h *Hub) installationOf(account *user) int64 {
	for _, r := range h.repos {
		if r.owner == account && r.installation != 0 {
			return r.installation
		}
	}
	return h.nextID()
}

// Uninstall takes the repository away from the App's installation.
func (r *Repository) Uninstall(who string) {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tick()
	h.post("installation_repositories", r.installation, nil, object{
		"action": "removed", "sender": h.userJSON(h.person(who)), "installation": h.installationJSON(r.installation, r.owner),
		"repository_selection": "selected", "repositories_added": []any{}, "requester": nil,
		"repositories_removed": []any{object{
			"id": r.id, "node_id": nodeID("Repository", r.id), "name": r.name, "full_name": r.String(), "private": r.private,
		}},
	})
	r.installation = 0
}

// listInstallations is GET /app/installations.
func (h *Hub) listInstallations(r *http.Request) (int, any) {
	if !h.isApp(r) {
		return fail(notTheApp)
	}
	list, seen := []any{}, map[int64]bool{0: true}
	for _, x := range h.repos {
		if !seen[x.installation] {
			seen[x.installation] = true
			list = append(list, h.installationJSON(x.installation, x.owner))
		}
	}
	return http.StatusOK, paged(r, list)
}

// listRepositories is GET /installation/repositories.
func (h *Hub) listRepositories(r *http.Request) (int, any) {
	t, p := h.token(r)
	if p != nil {
		return fail(p)
	}
	list := []any{}
	for _, x := range h.repos {
		if t.opens(x) {
			list = append(list, h.repoJSON(x))
		}
	}
	shown := paged(r, list)
	shown.items = object{"total_count": len(list), "repositories": shown.items}
	return http.StatusOK, shown
}

func (h *Hub) installationJSON(id int64, account *user) object {
	base := apiURL + "app/installations/" + number64(id)
	return object{
		"id": id, "account": h.userJSON(account), "repository_selection": "selected",
		"access_tokens_url": base + "/access_tokens", "repositories_url": apiURL + "installation/repositories",
		"html_url": fmt.Sprintf("%ssettings/installations/%d", webURL, id), "app_id": h.options.AppID, "app_slug": h.options.AppName,
		"target_id": account.id, "target_type": "User", "permissions": permissions, "events": events,
		"created_at": stamp(epoch), "updated_at": stamp(epoch), "single_file_name": nil, "has_multiple_single_files": false,
		"single_file_paths": []any{}, "suspended_by": nil, "suspended_at": nil,
	}
}
