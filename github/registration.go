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

// A RegisteredApp is a GitHub App that a person has just registered, with the only copy of its private key.
type RegisteredApp struct {
	ID   int64
	Slug string // in addresses
	Page string // its public page
	pem  func() string
}

// Key returns the App's private key, PEM.
func (a RegisteredApp) Key() Secret { return NewSecret(a.pem()) }

// KeepKey calls the function keep, which stores the private key (PEM), and returns its error.
func (a RegisteredApp) KeepKey(keep func(pem string) error) error { return keep(a.pem()) }

// ErrRegistrationCode is wrapped by the error if GitHub refuses the code, or no longer accepts it.
var ErrRegistrationCode = errors.New("GitHub does not take its code any more")

// registrationTimeout is the time limit for GitHub's answer.
const registrationTimeout = 30 * time.Second

// CompleteRegistration exchanges the code from GitHub's registration page for the App. GitHub accepts each code
// once, within an hour. Only URL and Transport of the configuration are used.
// Source: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
func CompleteRegistration(ctx context.Context, c AppConfig, code string) (RegisteredApp, error) {
	const aim = "register the GitHub App"
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`).MatchString(code) {
		return RegisteredApp{}, errors.New(aim + ": the page's answer has no code")
	}
	if c.URL == "" {
		c.URL = DefaultURL
	}
	api, err := url.Parse(strings.TrimSuffix(c.URL, "/") + "/")
	if err != nil || api.Scheme != "https" && api.Hostname() != "127.0.0.1" {
		return RegisteredApp{}, fmt.Errorf("%s: the address of GitHub's API, %s, is not an https URL", aim, c.URL)
	}
	client := gh.NewClient(&http.Client{Transport: c.Transport, Timeout: registrationTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the answer contains a key, and must come from the API itself
	}})
	client.BaseURL, client.UserAgent = api, "lockstep"
	got, _, err := client.Apps.CompleteAppManifest(ctx, code)
	var refused *gh.ErrorResponse
	if errors.As(err, &refused) && refused.Response.StatusCode == http.StatusNotFound {
		return RegisteredApp{}, fmt.Errorf("%s: %w", aim, ErrRegistrationCode)
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err // without the address, which contains the code
	}
	if err != nil {
		return RegisteredApp{}, fmt.Errorf("%s: %w", aim, err)
	}
	a := RegisteredApp{ID: got.GetID(), Slug: got.GetSlug(), Page: got.GetHTMLURL(), pem: got.GetPEM}
	if a.ID <= 0 || a.Slug == "" || a.pem() == "" {
		return RegisteredApp{}, errors.New(aim + ": the answer lacks its ID, its name or its key")
	}
	return a, nil
}
