// Package githubtest is a small GitHub of our own: repositories with commits, branches
// and forks, pull requests with their trial merges, comments, reactions, reviews, check
// runs and permissions, an App that is installed in them, and the part of the REST API
// that Lockstep uses, over HTTP.
//
// It is stateful: one request reads the writes of another, and everything that happens is kept
// as a list of [Edit] values, which read as lines of text. People act through
// methods ([Repository.Push], [Repository.Comment]); the App acts through the API,
// with tokens, rights and limits as GitHub gives them. Both cause webhooks, which wait
// until [Hub.Deliver] sends them, signed; each attempt can be read by the API, and made
// again. Its clock is its own ([Hub.Now]), so that the same story is told in the same
// words each time, the names of commits included.
//
// It can be as unhelpful as GitHub: [Hub.Fail] makes requests fail, [Hub.LoseDeliveries]
// loses webhooks, [Repository.LagMerges] delays trial merges, [Repository.ForgetChecks]
// deletes check runs, [Hub.ExpireTokens] ends tokens. The package contract checks its answers
// and webhooks against GitHub's own descriptions.
//
// A [Hub] and its [Repository] values put together the nouns that do not need each other, each a
// package with tests of its own: commits, webhooks (hooks), the App and its tokens
// (apps), the log of edits (story), the form of answers (rest). Pull requests, reviews,
// comments and check runs are types here, each with its actions of people and its part of
// the API; [Repository] embeds them.
//
// It refuses to know what Lockstep is. The tests of several packages run on it, and
// so does `lockstep demo`. Start at [New].
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

// Deleted stands for the content of a file that a push deletes.
const Deleted = commits.Deleted

// Link is the content of a file that is a symbolic link to target.
func Link(target string) string { return commits.Link(target) }

// Options are the setup of a Hub.
type Options struct {
	// AppID and AppName identify the App; its login is AppName and "[bot]". The defaults are
	// 4711 and "lockstep".
	AppID   int64
	AppName string
	// Webhook is the URL that webhooks are sent to, Secret signs them.
	Secret  github.Secret
	Webhook string
	// OnEdit is told of every edit at once; it must not call the Hub. May be nil.
	OnEdit func(Edit)
	// Now is the clock by which GitHub dates everything; with nil it is the story's own, which moves
	// on by a minute with each edit.
	Now func() time.Time
	// Transport sends webhooks; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Fault may answer a request in the place of the API, and then returns true. May
	// be nil.
	Fault func(w http.ResponseWriter, r *http.Request) bool
	// Lean leaves addresses that nobody follows out of answers and webhooks, against GitHub's description.
	Lean bool
}

// A Hub is one GitHub. It is safe for concurrent use.
type Hub struct {
	options Options
	mux     *http.ServeMux

	*world
	*teams
	repos  repositories
	links  map[string]archiveLink
	faults nextFailures
}

// New returns an empty Hub with its App.
func New(o Options) *Hub {
	o.AppID, o.AppName = cmp.Or(o.AppID, 4711), cmp.Or(o.AppName, "lockstep")
	h := &Hub{options: o, world: newWorld(o), links: map[string]archiveLink{}}
	h.teams = &teams{world: h.world, sees: func(t *apps.Token, org string) bool { return h.repos.openedIn(org, t) }, all: map[string]*team{}}
	h.mux = h.routes()
	return h
}

// App returns the configuration with which the App uses this Hub at a URL.
func (h *Hub) App(url string) github.AppConfig {
	return github.AppConfig{ID: h.app.ID, Key: github.NewSecret(h.AppKey()), URL: url}
}

// AddApp installs another App wherever the first one is. It returns its configuration at a URL, and gets the same
// webhooks at an address of its own, but for those about check runs.
func (h *Hub) AddApp(o Options, url string) github.AppConfig {
	defer h.lock()()
	h.app.Add(o.AppID, o.AppName)
	h.outbox.Also(o.Webhook, o.Secret)
	return github.AppConfig{ID: o.AppID, Key: github.NewSecret(h.app.PEM()), URL: url}
}

// AppKey returns the App's private key as GitHub hands it out, in PEM.
func (h *Hub) AppKey() string { return h.app.PEM() }

// ExpireTokens ends all tokens that were given out.
func (h *Hub) ExpireTokens() {
	defer h.lock()()
	h.app.Expire()
}

// Accepts gives the App a permission that it does not ask for, such as "contents" at the level "write".
func (h *Hub) Accepts(permission, level string) {
	defer h.lock()()
	h.app.Grant(permission, level)
}

// Withdraw takes permissions from the App, such as "members".
func (h *Hub) Withdraw(permissions ...string) {
	defer h.lock()()
	h.app.Withdraw(permissions...)
}

// Given returns all tokens that were given out, and the secrets in the addresses of
// archives: nobody may write any of them down.
func (h *Hub) Given() []string {
	defer h.lock()()
	return h.app.Given()
}

// Now returns the time in the story, by which GitHub dates everything but tokens.
func (h *Hub) Now() time.Time { return h.log.Now() }

// Edits returns all edits so far.
func (h *Hub) Edits() []Edit { return h.log.Edits() }

// Lines returns all edits so far as lines of text.
func (h *Hub) Lines() []string { return h.log.Lines() }

// SetWebhook changes the URL that webhooks are sent to.
func (h *Hub) SetWebhook(url string) { h.outbox.SetURL(url) }

// Deliver sends the webhooks that wait, in order, and returns their number. An answer other
// than 2xx is an error and ends it; GitHub, too, leaves it at one attempt. Who has heard of an edit
// from [Options.OnEdit] finds its webhooks: an edit under way comes to its end first.
func (h *Hub) Deliver(ctx context.Context) (int, error) {
	h.lock()()
	return h.outbox.Deliver(ctx)
}

// DeliverOne sends one of the webhooks that wait, and reports whether there was one. They are
// numbered from 0, the oldest first; from their number on they are counted from the oldest again.
// An answer other than 2xx is an error.
func (h *Hub) DeliverOne(ctx context.Context, which int) (bool, error) {
	h.lock()()
	return h.outbox.DeliverOne(ctx, which)
}

// Waiting returns the number of webhooks that wait.
func (h *Hub) Waiting() int { return h.outbox.Waiting() }

// LoseDeliveries makes the next n webhooks get lost: GitHub tries to send them, and nobody
// receives them.
func (h *Hub) LoseDeliveries(n int) { h.outbox.Lose(n) }

// Deliveries returns the GUIDs of all webhooks so far, waiting ones included.
func (h *Hub) Deliveries() []string { return h.outbox.GUIDs() }

// Redeliver sends a webhook once more, under the same GUID, and returns the text of the answer.
func (h *Hub) Redeliver(ctx context.Context, guid string) (string, error) {
	return h.outbox.Redeliver(ctx, guid)
}

// Replay sends the body and the signature of a webhook under another GUID and the name of
// another event, as an eavesdropper can; "" keeps the original. It returns the answer.
func (h *Hub) Replay(ctx context.Context, guid, as, event string) (status int, answer string, err error) {
	return h.outbox.Replay(ctx, guid, as, event)
}

// Fail makes the next n requests to the API fail, whatever they ask for; with n negative
// all until another call.
func (h *Hub) Fail(n int, f Failure) {
	defer h.lock()()
	h.faults = failNext(n, f)
}
