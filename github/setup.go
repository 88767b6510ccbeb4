package github

import (
	"context"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v60/github"
)

// An About describes how the App is set up at GitHub.
type About struct {
	ID          int64
	Slug        string
	Page        string            `json:"html_url"` // public
	Permissions map[string]string // that the App asks for, such as "checks": "write"
	Events      []string          // that the App receives
}

// About returns the App's setup. Installations may have accepted fewer permissions. It does not use go-github's
// type, because go-github 60 does not know all permissions.
func (a *App) About(ctx context.Context) (out About, err error) {
	req, err := a.client.NewRequest(http.MethodGet, "app", nil)
	if err == nil {
		_, err = a.client.Do(ctx, req, &out)
	}
	return out, failed("ask for the setup of the GitHub App", err)
}

// HookURL returns the address to which GitHub sends the App's webhooks.
func (a *App) HookURL(ctx context.Context) (string, error) {
	got, _, err := a.client.Apps.GetHookConfig(ctx)
	return got.GetURL(), failed("ask for the address of the App's webhooks", err)
}

// SetHook changes the address of the App's webhooks and the secret that signs them, in one step.
func (a *App) SetHook(ctx context.Context, url string, secret Secret) error {
	_, _, err := a.client.Apps.UpdateHookConfig(ctx, &gh.HookConfig{
		URL: gh.String(url), ContentType: gh.String("json"), InsecureSSL: gh.String("0"), Secret: gh.String(secret.reveal()),
	})
	return failed("set the address of the App's webhooks", err)
}

// Redeliver asks GitHub to deliver a webhook again, by the ID of an attempt. The new attempt goes to the App's
// present address. [App.Deliveries] lists it once it is made.
func (a *App) Redeliver(ctx context.Context, attempt int64) error {
	_, _, err := a.client.Apps.RedeliverHookDelivery(ctx, attempt)
	if _, accepted := err.(*gh.AcceptedError); accepted {
		return nil
	}
	return failed(fmt.Sprintf("ask for another attempt at delivery %d", attempt), err)
}
