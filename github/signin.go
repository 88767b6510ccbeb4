package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// SignInConfig identifies a GitHub App for the sign-in of people.
type SignInConfig struct {
	// ClientID and ClientSecret are from the App's settings. The ID is not secret, but it is stored with the secret.
	ClientID, ClientSecret Secret
	// URL is the address of the API; "" means DefaultURL. Plain http is allowed only for this machine.
	URL string
	// Transport makes the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// A SignIn lets people sign in with GitHub, and reads as these people. It uses the web application flow of a GitHub
// App, with PKCE. It is safe for concurrent use.
// Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
type SignIn struct {
	config SignInConfig
	api    *url.URL
	web    string // without a slash at the end
	client *http.Client
}

// NewSignIn returns the sign-in for a configuration. It makes no request.
func NewSignIn(c SignInConfig) (*SignIn, error) {
	if c.ClientID.IsEmpty() || c.ClientSecret.IsEmpty() {
		return nil, errors.New("the GitHub App's client ID or client secret is missing")
	}
	if c.URL == "" {
		c.URL = DefaultURL
	}
	api, err := url.Parse(strings.TrimSuffix(c.URL, "/") + "/")
	web := WebURL(c.URL)
	if err != nil || !safeURL(api) || web == "" {
		return nil, fmt.Errorf("the address of GitHub's API, %s, is not one of GitHub's", c.URL)
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	// The answer to a code is a token. It must come from GitHub itself.
	client := &http.Client{Transport: c.Transport, Timeout: signInTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &SignIn{config: c, api: api, web: web, client: client}, nil
}

// WebURL returns the address of a GitHub server's web pages, without a slash at the end, from the address of its API;
// "" if it is unknown.
// Source: https://docs.github.com/en/enterprise-server@latest/rest/overview/resources-in-the-rest-api
func WebURL(api string) string {
	u, err := url.Parse(api)
	switch {
	case err != nil || u.Scheme != "https" && (u.Scheme != "http" || !safeURL(u)):
		return ""
	case u.Host == "api.github.com":
		return "https://github.com"
	case u.Scheme == "http", strings.HasPrefix(u.Path, "/api/v3"):
		return u.Scheme + "://" + u.Host
	case strings.HasPrefix(u.Host, "api."): // with data residency
		return "https://" + strings.TrimPrefix(u.Host, "api.")
	}
	return ""
}

const (
	// signInTimeout is the time limit for GitHub's answer to a code.
	signInTimeout = 10 * time.Second
	// userWait is the longest wait before a request as a person is repeated. Somebody waits for the page.
	userWait = 2 * time.Second
	// maxUserPages is the maximum number of requests for a person's repositories, each with 100.
	maxUserPages = 30
)

// Page returns the address of GitHub's page that asks a person to sign in. redirect is the address to which GitHub
// sends the person afterwards, with state and a code. challenge is the SHA-256 of the verifier for [SignIn.Exchange],
// in base64 for URLs.
func (s *SignIn) Page(redirect, state, challenge string) string {
	return s.web + "/login/oauth/authorize?" + url.Values{
		"client_id": {s.config.ClientID.reveal()}, "redirect_uri": {redirect}, "state": {state},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}.Encode()
}

// ErrSignInCode reports that GitHub does not accept a code: it is wrong, was used before, or is older than 10 minutes.
var ErrSignInCode = errors.New("GitHub does not accept the code")

// ErrSignedOut reports that a person's token is not valid any more: it has expired, or the person has revoked it.
var ErrSignedOut = errors.New("the token is not valid any more")

// A UserToken acts for a person.
type UserToken struct {
	Token Secret
	// Life is how long the token is valid from now; 0 for no end.
	Life time.Duration
}

// Keep calls keep with the text of the token, to encrypt it, and returns what keep returns.
func (t UserToken) Keep(keep func(token string) (string, error)) (string, error) {
	return keep(t.Token.reveal())
}

// Exchange exchanges the code from GitHub's page for a token. GitHub accepts each code once.
func (s *SignIn) Exchange(ctx context.Context, redirect, code, verifier string) (UserToken, error) {
	const aim = "sign in with GitHub"
	form := url.Values{
		"client_id": {s.config.ClientID.reveal()}, "client_secret": {s.config.ClientSecret.reveal()},
		"code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.web+"/login/oauth/access_token", strings.NewReader(form.Encode()))
	if err != nil {
		return UserToken{}, fmt.Errorf("%s: %w", aim, err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "lockstep")
	res, err := s.client.Do(req)
	if err != nil {
		return UserToken{}, failed(aim, err)
	}
	defer res.Body.Close()
	var got struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Seconds int    `json:"expires_in"`
		Error   string `json:"error"`
	}
	switch err := json.NewDecoder(io.LimitReader(res.Body, 64<<10)).Decode(&got); {
	case res.StatusCode != http.StatusOK:
		return UserToken{}, fmt.Errorf("%s: GitHub says %s", aim, res.Status)
	case err != nil:
		return UserToken{}, errors.New(aim + ": GitHub's answer is not readable") // not %w: it may quote the token
	case got.Error == "bad_verification_code":
		return UserToken{}, fmt.Errorf("%s: %w", aim, ErrSignInCode)
	case got.Error != "":
		return UserToken{}, fmt.Errorf("%s: GitHub says %q: check the App's client ID, client secret and callback URL", aim, got.Error)
	case got.Token == "" || !strings.EqualFold(got.Type, "bearer"):
		return UserToken{}, errors.New(aim + ": GitHub's answer has no token")
	}
	return UserToken{NewSecret(got.Token), time.Duration(max(got.Seconds, 0)) * time.Second}, nil
}

// Revoke ends a person's token. A token that is not valid any more is no error.
func (s *SignIn) Revoke(ctx context.Context, token Secret) error {
	const aim = "end a sign-in"
	body := fmt.Sprintf(`{"access_token":%q}`, token.reveal())
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.api.JoinPath("applications", s.config.ClientID.reveal(), "token").String(), strings.NewReader(body))
	if err != nil {
		return errors.New(aim + ": the App's client ID is no part of an address")
	}
	req.SetBasicAuth(s.config.ClientID.reveal(), s.config.ClientSecret.reveal())
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("User-Agent", "lockstep")
	res, err := s.client.Do(req)
	if err != nil {
		return failed(aim, err)
	}
	discard(res)
	switch res.StatusCode {
	case http.StatusNoContent, http.StatusNotFound, http.StatusUnprocessableEntity:
		return nil
	}
	return fmt.Errorf("%s: GitHub says %s", aim, res.Status)
}

// A User reads what a person may read.
type User struct{ client *gh.Client }

// User returns the person with a token. It makes no request.
func (s *SignIn) User(token Secret) User {
	client := gh.NewClient(&http.Client{Transport: &transport{
		base: s.config.Transport, api: s.api, maxWait: userWait, pause: retryPause, scheme: "Bearer",
		token: func(context.Context, bool) (Secret, error) { return token, nil },
	}})
	client.BaseURL, client.UserAgent = s.api, "lockstep"
	return User{client}
}

// Login returns the person's login.
func (u User) Login(ctx context.Context) (string, error) {
	got, _, err := u.client.Users.Get(ctx, "")
	if err != nil {
		return "", asUser("ask who has signed in", err)
	}
	if !namePattern().MatchString(strings.TrimSuffix(got.GetLogin(), "[bot]")) {
		return "", errors.New("ask who has signed in: the answer has no login")
	}
	return got.GetLogin(), nil
}

// Repository returns the repository with a name. If that repository was renamed, its former name is accepted, too.
// The error is ErrNotFound if there is none, or if the person may not read it.
func (u User) Repository(ctx context.Context, owner, name string) (Repo, error) {
	what := "ask for the repository " + owner + "/" + name
	if !namePattern().MatchString(owner) || !namePattern().MatchString(name) || strings.Trim(owner, ".") == "" || strings.Trim(name, ".") == "" {
		return Repo{}, fmt.Errorf("%s: %w", "ask for a repository", ErrNotFound)
	}
	got, _, err := u.client.Repositories.Get(ctx, owner, name)
	var refused *FinalError
	switch err = asUser(what, err); {
	case errors.As(err, &refused):
		return Repo{}, fmt.Errorf("%s: %w: %s", what, ErrNotFound, refused.Why)
	case err != nil:
		return Repo{}, err
	}
	r := repoOf(got)
	if err := r.check(); err != nil {
		return Repo{}, fmt.Errorf("%s: %w", what, err)
	}
	return r, nil
}

// Repositories returns those repositories of the App's installations that the person may read, at most 3,000.
func (u User) Repositories(ctx context.Context) (out []Repo, err error) {
	const what = "list the repositories of the person who has signed in"
	requests := 0
	for at := 1; at != 0 && requests < maxUserPages; requests++ {
		list, res, err := u.client.Apps.ListUserInstallations(ctx, &gh.ListOptions{Page: at, PerPage: 100})
		if err != nil {
			return nil, asUser(what, err)
		}
		for _, i := range list {
			for page := 1; page != 0 && requests < maxUserPages; requests++ {
				some, res, err := u.client.Apps.ListUserRepos(ctx, i.GetID(), &gh.ListOptions{Page: page, PerPage: 100})
				if err != nil {
					return nil, asUser(what, err)
				}
				for _, x := range some.Repositories {
					r := repoOf(x)
					if err := r.check(); err != nil {
						return nil, fmt.Errorf("%s: %w", what, err)
					}
					out = append(out, r)
				}
				page = res.NextPage
			}
		}
		at = res.NextPage
	}
	return out, nil
}

// asUser is like failed, for a request with a person's token. If the token is not valid any more, the
// error wraps ErrSignedOut.
func asUser(what string, err error) error {
	var re *gh.ErrorResponse
	if errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("%s: %w", what, ErrSignedOut)
	}
	return failed(what, err)
}
