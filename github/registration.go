package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// A Registration is an App that a person has just registered, with the only copy of its private key.
type Registration struct {
	ID   int64
	Slug string // in addresses
	Page string // its public page
	key  Secret
}

// Key is the App's private key.
func (r Registration) Key() Secret { return r.key }

// KeepKey hands the private key, PEM, to a func that keeps it, and returns its error.
func (r Registration) KeepKey(keep func(pem string) error) error { return keep(r.key.reveal()) }

// Register exchanges the code of a registration by manifest for the App. GitHub takes each code once,
// and within an hour. Of the configuration, the address and the transport count. The error wraps
// [ErrNotFound] if the code is not good, or not any more.
// Source: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
func Register(ctx context.Context, c AppConfig, code string) (Registration, error) {
	const what = "register the GitHub App"
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`).MatchString(code) {
		return Registration{}, errors.New(what + ": the page's answer has no code")
	}
	if c.URL == "" {
		c.URL = DefaultURL
	}
	api, err := url.Parse(strings.TrimSuffix(c.URL, "/") + "/")
	if err != nil || !safeURL(api) {
		return Registration{}, fmt.Errorf("the address of GitHub's API, %s, is not an https URL", c.URL)
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	client := gh.NewClient(&http.Client{Transport: &transport{base: c.Transport, api: api, maxWait: time.Minute}})
	client.BaseURL, client.UserAgent = api, "lockstep"
	got, _, err := client.Apps.CompleteAppManifest(ctx, code)
	if err != nil {
		return Registration{}, failed(what, err)
	}
	r := Registration{ID: got.GetID(), Slug: got.GetSlug(), Page: got.GetHTMLURL(), key: NewSecret(got.GetPEM())}
	if r.ID <= 0 || r.Slug == "" || r.key.IsEmpty() {
		return Registration{}, errors.New(what + ": the answer lacks its ID, its name or its key")
	}
	return r, nil
}
