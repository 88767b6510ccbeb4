package githubtest

import (
	"maps"
	"net/http"

	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/hooks"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Registered returns the manifests with which the App was registered, in order, and for each the
// organization that owns the App; "" is the person's own account. More than one manifest means that an App
// was registered twice.
func (h *Hub) Registered() ([]apps.Manifest, []string) {
	defer h.lock()()
	return h.registry.Manifests, h.registry.Owners
}

// register answers /settings/apps/new, the page for new Apps of a person or an organization. The App gets the
// permissions and the webhook URL of the manifest. It also adds the App's first webhook, the ping, which
// waits for Deliver.
func (w *world) register(rw http.ResponseWriter, r *http.Request) {
	defer w.lock()()
	m := w.registry.Submit(rw, r)
	if m == nil {
		return
	}
	w.app.Accept(maps.Clone(m.Permissions))
	w.outbox.SetURL(m.Hook.URL)
	w.outbox.Post(hooks.Subject{Event: "ping"}, rest.Object{"zen": "Keep it logically awesome.", "hook_id": 1, "hook": rest.Object{
		"type": "App", "id": 1, "name": "web", "active": true, "app_id": w.app.ID, "events": m.Events,
		"config":     rest.Object{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": m.Hook.URL},
		"updated_at": rest.Stamp(w.log.Now()), "created_at": rest.Stamp(w.log.Now()),
	}})
}

// convert answers POST /app-manifests/{code}/conversions.
func (w *world) convert(r *http.Request) (int, any) {
	return w.registry.Convert(r, w.app.App, w.appJSON(app{w.app.ID, w.app.Slug}))
}
