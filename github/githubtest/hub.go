// Package githubtest is a small GitHub of our own: repositories with commits, branches
// and forks, pull requests with their trial merges, comments, reactions, reviews, check
// runs and permissions, an App that is installed in them, and the part of the REST API
// that Lockstep uses, over HTTP.
//
// It is stateful: what one request writes, another reads, and what happens is kept
// as a list of [Edit] values, which read as lines of text. People act through
// methods ([Repository.Push], [Repository.Comment]); the App acts through the API,
// with tokens, rights and limits as GitHub gives them. Both cause webhooks, which wait
// until [Hub.Deliver] sends them, signed; each attempt can be read by the API, and made
// again. Its clock is its own ([Hub.Now]), so that the same story is told in the same
// words each time, commits' names included.
//
// It can be as unhelpful as GitHub: [Hub.Fail] lets requests fail, [Hub.LoseDeliveries]
// loses webhooks, [Repository.LagMerges] delays trial merges, [Repository.ForgetChecks]
// deletes check runs, [Hub.ExpireTokens] ends tokens. Its answers and webhooks are held
// against GitHub's descriptions of them by the package contract.
//
// It refuses to know what Lockstep is. The tests of several packages run on it, and
// so does `lockstep demo`. Start at [New].
package githubtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// Options say how a Hub is set up.
type Options struct {
	// AppID and AppName say which App there is; its login is AppName and "[bot]".
	// Without them: 4711 and "lockstep".
	AppID   int64
	AppName string
	// Secret is the webhooks', Webhook the URL that they are sent to.
	Secret  github.Secret
	Webhook string
	// OnEdit is told of every edit at once; it must not call the Hub. May be nil.
	OnEdit func(Edit)
	// Fault may answer a request in the place of the API, and then returns true. May
	// be nil.
	Fault func(w http.ResponseWriter, r *http.Request) bool
}

// A Hub is one GitHub. It is safe for concurrent use.
type Hub struct {
	options Options
	key     *rsa.PrivateKey
	mux     *http.ServeMux

	mu         sync.Mutex
	clock      time.Time
	ids        int64
	users      map[string]*user
	repos      []*Repository
	commits    map[string]*commit
	tokens     map[string]*token
	links      map[string]archiveLink
	given      []string // every token and link, which are secrets
	edits      []Edit
	deliveries []*delivery
	attempts   []*attempt
	attemptIDs int64
	lose       int // webhooks
	faults     int // requests that are to fail
	failure    Failure
}

// epoch is when every story begins.
var epoch = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// New returns an empty Hub with its App.
func New(o Options) *Hub {
	if o.AppID == 0 {
		o.AppID = 4711
	}
	if o.AppName == "" {
		o.AppName = "lockstep"
	}
	h := &Hub{
		options: o, key: appKey(), clock: epoch, ids: 1000,
		users: map[string]*user{}, commits: map[string]*commit{}, tokens: map[string]*token{},
		links: map[string]archiveLink{},
	}
	h.users[h.appLogin()] = &user{login: h.appLogin(), id: 900, bot: true}
	h.mux = h.routes()
	return h
}

// appKey is made once a process: making one takes a while.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(fmt.Sprintf("githubtest: make a key: %v", err))
	}
	return k
})

// App returns what the App needs to know to use this Hub at the URL given.
func (h *Hub) App(url string) github.AppConfig {
	return github.AppConfig{ID: h.options.AppID, Key: github.NewSecret(h.AppKey()), URL: url}
}

// AppKey returns the App's private key as GitHub hands it out, in PEM.
func (h *Hub) AppKey() string {
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(h.key)}
	return string(pem.EncodeToMemory(block))
}

func (h *Hub) appLogin() string { return h.options.AppName + "[bot]" }

// SetWebhook says where webhooks are sent.
func (h *Hub) SetWebhook(url string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.options.Webhook = url
}

// A user is somebody with a login.
type user struct {
	login string
	id    int64
	bot   bool
}

// person returns who has a login, making them known if they are not. Only Apps' logins end
// in "[bot]".
func (h *Hub) person(login string) *user {
	u := h.users[login]
	if u == nil {
		u = &user{login: login, id: h.nextID(), bot: strings.HasSuffix(login, "[bot]")}
		h.users[login] = u
	}
	return u
}

// GiveUp deletes somebody's account, with what is in it: whoever takes the login next is
// somebody else.
func (h *Hub) GiveUp(login string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.users, login)
	h.repos = slices.DeleteFunc(slices.Clone(h.repos), func(r *Repository) bool {
		r.deleted = r.deleted || r.owner.login == login
		return r.deleted
	})
}

// Now returns the time in the story. What GitHub dates is dated by it, but tokens.
func (h *Hub) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clock
}

func (h *Hub) nextID() int64 { h.ids++; return h.ids }

// tick moves the clock on and returns the time.
func (h *Hub) tick() time.Time {
	h.clock = h.clock.Add(time.Minute)
	return h.clock
}

// secret makes something secret that is given to whoever asks.
func (h *Hub) secret(prefix string) string {
	text := prefix + randomText()
	h.given = append(h.given, text)
	return text
}

// Given returns all tokens that were given out, and what is secret in the addresses of
// archives: nobody may write any of it down.
func (h *Hub) Given() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.given)
}

func randomText() string {
	var b [20]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
