package hooks

import (
	"encoding/json"
	"net/http"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Config answers GET /app/hook/config: the address, without the secret.
func (o *Outbox) Config(*http.Request) (int, any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return http.StatusOK, rest.Object{"url": o.url, "content_type": "json", "insecure_ssl": "0", "secret": "********"}
}

// SetConfig answers PATCH /app/hook/config: absent fields keep their value.
func (o *Outbox) SetConfig(r *http.Request) (int, any) {
	var in struct {
		URL, Secret *string
		ContentType *string `json:"content_type"`
		Insecure    *string `json:"insecure_ssl"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return rest.Fail(rest.Invalid("Problems parsing JSON"))
	}
	if in.ContentType != nil && *in.ContentType != "json" || in.Insecure != nil && *in.Insecure != "0" {
		return rest.Fail(rest.Invalid("our receivers read JSON over verified connections"))
	}
	o.mu.Lock()
	if in.URL != nil {
		o.url = *in.URL
	}
	if in.Secret != nil {
		o.secret = github.NewSecret(*in.Secret)
	}
	o.mu.Unlock()
	return o.Config(r)
}
