// Package githubtest is a fake GitHub for tests: repositories with commits, branches and forks, pull requests
// with their trial merges, comments, reactions, reviews, check runs and permissions. An App is installed in the
// repositories. The fake serves the part of the REST API that Lockstep uses, over HTTP.
//
// The fake is stateful: a request reads what another one wrote. It records everything that happens as a list of
// [Edit] values, which read as lines of text. People act through methods ([Repository.Push],
// [Repository.Comment]). The App acts through the API, with tokens, rights and limits as on GitHub. Both cause
// webhooks, which wait until [Hub.Deliver] sends them, signed. The API lists each attempt and repeats it on
// request. The fake has its own clock ([Hub.Now]), so that a test gives the same words each time, the SHAs of
// commits included.
//
// The fake can fail like GitHub: [Hub.Fail] makes requests fail, [Hub.LoseDeliveries] loses webhooks,
// [Repository.LagMerges] delays trial merges, [Repository.ForgetChecks] deletes check runs, [Hub.ExpireTokens]
// ends tokens. The package contract checks its answers and webhooks against GitHub's own descriptions.
//
// A [Hub] and its [Repository] values combine packages that do not need each other, each with tests of its own:
// commits, webhooks (hooks), the App and its tokens (apps), and the form of answers (rest). Pull requests,
// reviews, comments and check runs are types here, each with people's actions and its part of the API;
// [Repository] embeds them.
//
// The package does not know what Lockstep is. The tests of several packages run on it, and so does `lockstep
// demo`. Start at [New].
package githubtest

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/commits"
)

// Files are the files of a commit by path, or changes to them.
type Files = commits.Files

// Deleted is the content of a file that a push deletes.
const Deleted = commits.Deleted

// Link returns the content of a file that is a symbolic link to target.
func Link(target string) string { return commits.Link(target) }

// Options configure a Hub.
type Options struct {
	// AppID and AppName identify the App; its login is AppName and "[bot]". The defaults are
	// 4711 and "lockstep".
	AppID   int64
	AppName string
	// Webhook is the URL that receives the webhooks. Secret signs them.
	Secret  github.Secret
	Webhook string
	// OnEdit is called with every edit at once. It must not call the Hub. It may be nil.
	OnEdit func(Edit)
	// Now is GitHub's clock. nil means the fake's own clock, which advances by a minute with each edit.
	Now func() time.Time
	// Transport sends webhooks; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Fault may answer a request in place of the API, and then returns true. It may be nil.
	Fault func(w http.ResponseWriter, r *http.Request) bool
	// Lean leaves addresses that nobody uses out of answers and webhooks, although GitHub's description
	// requires them.
	Lean bool
}

// A Hub is a fake GitHub. It is safe for concurrent use.
type Hub struct {
	options Options
	mux     *http.ServeMux

	*world
	*teams
	repos   repositories
	signIns signIns
	links   map[string]archiveLink
	faults  nextFailures
}

// New returns an empty Hub with its App. It has no repositories.
func New(o Options) *Hub {
	o.AppID, o.AppName = cmp.Or(o.AppID, 4711), cmp.Or(o.AppName, "lockstep")
	h := &Hub{options: o, world: newWorld(o), links: map[string]archiveLink{}}
	h.teams = &teams{world: h.world, sees: func(t *apps.Token, org string) bool { return h.repos.openedIn(org, t) }, all: map[string]*team{}}
	h.mux = h.routes()
	return h
}

// App returns the App's configuration for a client, with url as the address of this Hub.
func (h *Hub) App(url string) github.AppConfig {
	return github.AppConfig{ID: h.app.ID, Key: github.NewSecret(h.AppKey()), URL: url}
}

// AddApp installs another App in every repository of the first App. It returns the new App's configuration,
// with url as the address of this Hub. The new App receives the same webhooks at o.Webhook, except webhooks
// about check runs.
func (h *Hub) AddApp(o Options, url string) github.AppConfig {
	defer h.lock()()
	h.app.Add(o.AppID, o.AppName)
	h.outbox.Also(o.Webhook, o.Secret)
	return github.AppConfig{ID: o.AppID, Key: github.NewSecret(h.app.PEM()), URL: url}
}

// AppKey returns the App's private key, PEM.
func (h *Hub) AppKey() string { return h.app.PEM() }

// ExpireTokens makes all tokens issued so far invalid.
func (h *Hub) ExpireTokens() {
	defer h.lock()()
	h.app.Expire()
}

// Accepts gives the App an additional permission, such as "contents" at the level "write".
func (h *Hub) Accepts(permission, level string) {
	defer h.lock()()
	h.app.Grant(permission, level)
}

// Withdraw takes permissions from the App, such as "members".
func (h *Hub) Withdraw(permissions ...string) {
	defer h.lock()()
	h.app.Withdraw(permissions...)
}

// Given returns all tokens issued so far, and the secrets in the addresses of archives. Tests check that none
// of them is logged or stored.
func (h *Hub) Given() []string {
	defer h.lock()()
	return h.app.Given()
}

// Now returns the Hub's time, which dates everything except tokens.
func (h *Hub) Now() time.Time { return h.log.Now() }

// Edits returns all edits so far.
func (h *Hub) Edits() []Edit { return h.log.Edits() }

// Lines returns all edits so far as lines of text.
func (h *Hub) Lines() []string { return h.log.Lines() }

// SetWebhook changes the URL that receives the webhooks.
func (h *Hub) SetWebhook(url string) { h.outbox.SetURL(url) }

// Deliver sends the waiting webhooks, in order, and returns their number. An answer other than 2xx is an
// error and ends the delivery; like GitHub, Deliver makes only one attempt. Deliver first waits for an edit
// in progress. So a caller that knows of an edit from [Options.OnEdit] can rely on its webhooks being sent.
func (h *Hub) Deliver(ctx context.Context) (int, error) {
	h.lock()()
	return h.outbox.Deliver(ctx)
}

// DeliverOne sends one of the waiting webhooks, and reports whether there was one. The parameter which is
// the webhook's index, from 0 for the oldest; a larger index starts at 0 again. An answer other than 2xx is
// an error.
func (h *Hub) DeliverOne(ctx context.Context, which int) (bool, error) {
	h.lock()()
	return h.outbox.DeliverOne(ctx, which)
}

// Waiting returns the number of waiting webhooks.
func (h *Hub) Waiting() int { return h.outbox.Waiting() }

// LoseDeliveries makes the next n webhooks get lost: GitHub's attempt counts as made, but nobody receives it.
func (h *Hub) LoseDeliveries(n int) { h.outbox.Lose(n) }

// Deliveries returns the GUIDs of all webhooks so far, waiting ones included.
func (h *Hub) Deliveries() []string { return h.outbox.GUIDs() }

// Redeliver sends a webhook again, under the same GUID, and returns the body of the answer.
func (h *Hub) Redeliver(ctx context.Context, guid string) (string, error) {
	return h.outbox.Redeliver(ctx, guid)
}

// Replay sends the body and the signature of an earlier webhook, as an eavesdropper could: under another GUID
// (as) and event name; "" keeps the original. It returns the answer.
func (h *Hub) Replay(ctx context.Context, guid, as, event string) (status int, answer string, err error) {
	return h.outbox.Replay(ctx, guid, as, event)
}

// Fail makes the next n requests to the API fail, whatever they ask for. With a negative n, all requests fail
// until another call.
func (h *Hub) Fail(n int, f Failure) {
	defer h.lock()()
	h.faults = failNext(n, f)
}
