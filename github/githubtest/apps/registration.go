package apps

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A Manifest is the description of an App by which a person registers it.
// Source: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type Manifest struct {
	Name        string               `json:"name"`
	URL         string               `json:"url"`
	Hook        struct{ URL string } `json:"hook_attributes"`
	Redirect    string               `json:"redirect_url"`
	Description string               `json:"description"`
	Public      bool                 `json:"public"`
	Permissions map[string]string    `json:"default_permissions"`
	Events      []string             `json:"default_events"`
}

// problem returns GitHub's error about a manifest; nil if an App can be registered with it.
func (m Manifest) problem(taken []string) *rest.Problem {
	switch {
	case m.Name == "" || len(m.Name) > 34:
		return rest.Invalid("Name is too long (maximum is 34 characters), or there is none")
	case slices.Contains(taken, m.Name):
		return rest.Invalid("Name is already taken")
	case !strings.HasPrefix(m.URL, "https://") || !strings.HasPrefix(m.Hook.URL, "https://"):
		return rest.Invalid("Url must be of https")
	}
	for name := range m.Permissions {
		if permissions()[name] == "" {
			return rest.Invalid("Default permission records resource is not included in the list")
		}
	}
	return nil
}

// Registry is GitHub's page for new Apps. It is not safe for concurrent use.
type Registry struct {
	// Manifests are the manifests with which Apps were registered, in order. Owners are the accounts, in the
	// same order; "" is the person's own account.
	Manifests []Manifest
	Owners    []string
	codes     map[string]bool // good: true; used: false
}

// Submit answers the registration form: it redirects to the manifest's redirect_url with a code. It returns the
// manifest; nil if it was refused.
func (x *Registry) Submit(w http.ResponseWriter, r *http.Request) *Manifest {
	var m Manifest
	var taken []string
	for _, old := range x.Manifests {
		taken = append(taken, old.Name)
	}
	err := json.Unmarshal([]byte(r.FormValue("manifest")), &m)
	to, e := url.Parse(m.Redirect)
	if err != nil || e != nil {
		http.Error(w, "Invalid GitHub App configuration", http.StatusUnprocessableEntity)
		return nil
	}
	if p := m.problem(taken); p != nil {
		http.Error(w, p.Message, p.Status)
		return nil
	}
	x.Manifests, x.Owners = append(x.Manifests, m), append(x.Owners, r.PathValue("org"))
	if x.codes == nil {
		x.codes = map[string]bool{}
	}
	code := "code" + string(rune('0'+len(x.Manifests)))
	x.codes[code] = true
	to.RawQuery = url.Values{"code": {code}, "state": {r.FormValue("state")}}.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
	return &m
}

// Convert answers POST /app-manifests/{code}/conversions. Each code works once. shown is the App's JSON, to
// which Convert adds the key and the secrets.
func (x *Registry) Convert(r *http.Request, a *App, shown rest.Object) (int, any) {
	code := r.PathValue("code")
	if !x.codes[code] {
		return rest.Fail(rest.NotFound)
	}
	x.codes[code] = false
	shown["client_id"], shown["client_secret"] = "Iv1.lockstep", a.Secret("")
	shown["webhook_secret"], shown["pem"] = a.Secret(""), a.PEM()
	return http.StatusCreated, shown
}

// Accept replaces the permissions that the App has.
func (a *App) Accept(permissions map[string]string) { a.accepted = permissions }
