package github

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	gh "github.com/google/go-github/v60/github"
)

// Constants for the JSON web token that proves the App's identity. GitHub accepts tokens of at most 10
// minutes. It advises to date them a minute back, because clocks differ.
// Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const (
	jwtBackdate = time.Minute
	jwtLife     = 9 * time.Minute
	jwtReused   = 5 * time.Minute // how long a token is reused after it was signed: signing takes as long as a hundred small answers
)

// tokenMargin is the shortest remaining time for which an installation token is still used. Installation
// tokens are valid for an hour. A token that ends within tokenMargin is replaced, so that it does not end
// during a call.
const tokenMargin = 5 * time.Minute

// DefaultURL is the address of GitHub's API, unless [AppConfig] names another.
const DefaultURL = "https://api.github.com/"

// AppConfig identifies a GitHub App and the GitHub server that it belongs to.
type AppConfig struct {
	ID  int64
	Key Secret // the private key, PEM
	// URL is the address of the API; "" means DefaultURL. Plain http is allowed only for this machine.
	URL string
	// Transport makes the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// MaxWait is how long a call may wait for a rate limit; 0 means a minute. A limit that lasts longer is an
	// error at once.
	MaxWait time.Duration
	// MaxMergeWait is how long [Client.MergeResult] waits for a trial merge; 0 means 20 seconds.
	MaxMergeWait time.Duration
	// Tarballs stores archives so that other processes can read them; nil means that archives are not stored.
	Tarballs Tarballs
	// Pause returns how long to wait after a failed attempt (1 is the first), if GitHub's answer contains no
	// waiting time. nil means half a second, doubled for each attempt, plus a random part.
	Pause func(attempt int) time.Duration
}

// An App is a client of GitHub for one GitHub App. It is safe for concurrent use.
type App struct {
	config AppConfig
	api    *url.URL
	sign   func(now time.Time, renew bool) (Secret, error)
	seal   func(text []byte) string
	client *gh.Client // for requests as the App itself
	// anybody is the client for requests without a token.
	anybody *gh.Client

	answers  answerCache
	archives archiveCache

	mu     sync.Mutex
	tokens map[tokenScope]*tokens
	login  string
}

// NewApp returns the App for a configuration. It makes no request.
func NewApp(c AppConfig) (*App, error) {
	if c.ID <= 0 {
		return nil, errors.New("the GitHub App has no ID")
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(c.Key.reveal()))
	if err != nil {
		// Not %w: the parser's message may hold parts of the key.
		return nil, errors.New("the GitHub App's private key is not an RSA key in PEM form")
	}
	if c.URL == "" {
		c.URL = DefaultURL
	}
	api, err := url.Parse(strings.TrimSuffix(c.URL, "/") + "/")
	if err != nil || !safeURL(api) {
		return nil, fmt.Errorf("the address of GitHub's API, %s, is not an https URL", c.URL)
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.MaxWait == 0 {
		c.MaxWait = time.Minute
	}
	if c.MaxMergeWait == 0 {
		c.MaxMergeWait = 20 * time.Second
	}
	if c.Pause == nil {
		c.Pause = retryPause
	}
	a := &App{config: c, api: api, sign: signer(c.ID, key), seal: sealer(key), tokens: map[tokenScope]*tokens{}}
	// All requests of an App as itself may be repeated.
	a.client = a.newClient(&transport{
		base: c.Transport, api: api, maxWait: c.MaxWait, pause: c.Pause, repeatable: true, scheme: "Bearer",
		token: func(_ context.Context, renew bool) (Secret, error) { return a.sign(time.Now(), renew) },
	})
	a.anybody = a.newClient(&transport{base: c.Transport, api: api, maxWait: c.MaxWait, pause: c.Pause})
	return a, nil
}

// safeURL reports whether secrets may be sent to an address: over https, or to this machine.
func safeURL(u *url.URL) bool {
	switch host := u.Hostname(); u.Scheme {
	case "https":
		return host != ""
	case "http":
		return host == "127.0.0.1" || host == "::1" || host == "localhost"
	}
	return false
}

func (a *App) newClient(t *transport) *gh.Client {
	c := gh.NewClient(&http.Client{Transport: t})
	c.BaseURL = a.api
	c.UserAgent = "lockstep"
	return c
}

// signer returns a function that returns a JSON web token, the proof of the App's identity. The function reuses
// its last token for jwtReused, unless renew is set. The key cannot be read from the function.
func signer(id int64, key *rsa.PrivateKey) func(time.Time, bool) (Secret, error) {
	var mu sync.Mutex
	var last Secret
	var made time.Time
	return func(now time.Time, renew bool) (Secret, error) {
		mu.Lock()
		defer mu.Unlock()
		if age := now.Sub(made); !renew && !last.IsEmpty() && age >= 0 && age < jwtReused {
			return last, nil
		}
		t, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
			Issuer:    strconv.FormatInt(id, 10),
			IssuedAt:  jwt.NewNumericDate(now.Add(-jwtBackdate)),
			ExpiresAt: jwt.NewNumericDate(now.Add(jwtLife)),
		}).SignedString(key)
		if err != nil {
			return Secret{}, errors.New("sign as the GitHub App: the key does not work")
		}
		last, made = NewSecret(t), now
		return last, nil
	}
}

// sealer returns the function for [Client.Seal]. The key cannot be read from the function. The key of the seals is derived from
// the private key, which has another use, too.
func sealer(key *rsa.PrivateKey) func([]byte) string {
	derived, err := hkdf.Key(sha256.New, x509.MarshalPKCS1PrivateKey(key), nil, "lockstep seals of records, 1", sha256.Size)
	if err != nil {
		panic("github: " + err.Error()) // only for a length that SHA-256 does not allow
	}
	return func(text []byte) string {
		mac := hmac.New(sha256.New, derived)
		mac.Write(text)
		return hex.EncodeToString(mac.Sum(nil))
	}
}

// Seal returns the seal of a text: a code that only the App can make, because it needs the App's private key. Whoever finds
// the text with its seal, where others can write, knows that the App has written exactly this text at some time. The text must
// say what it is about. A seal ends with the private key.
func (c *Client) Seal(text []byte) string { return c.app.seal(text) }

// Login returns the name under which the App writes, such as "lockstep[bot]".
func (a *App) Login(ctx context.Context) (string, error) {
	a.mu.Lock()
	login := a.login
	a.mu.Unlock()
	if login != "" {
		return login, nil
	}
	app, _, err := a.client.Apps.Get(ctx, "")
	if err != nil {
		return "", failed("ask who the GitHub App is", err)
	}
	login = app.GetSlug() + "[bot]"
	a.mu.Lock()
	a.login = login
	a.mu.Unlock()
	return login, nil
}

// Repository returns the client of one repository, which acts for the installation that contains the
// repository. The client's tokens give access to no other repository. GitHub issues no token if the
// installation has no right to the repository. The client's requests name the repository by its ID. Repository
// itself makes no request.
func (a *App) Repository(installation int64, r Repo) (*Client, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	s := tokenScope{Installation: installation, Repo: r.ID}
	m := &meter{}
	once, often := a.transport(s, false), a.transport(s, true)
	once.meter, often.meter = m, m
	return &Client{app: a, repo: r, scope: s, client: a.newClient(once), queries: a.newClient(often), meter: m}, nil
}

// as returns a client whose requests carry tokens of a scope.
func (a *App) as(s tokenScope) *gh.Client { return a.newClient(a.transport(s, false)) }

func (a *App) transport(s tokenScope, repeatable bool) *transport {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tokens[s]
	if t == nil {
		t = &tokens{app: a, scope: s}
		a.tokens[s] = t
	}
	return &transport{
		base: a.config.Transport, api: a.api, maxWait: a.config.MaxWait, pause: a.config.Pause, repeatable: repeatable, scheme: "token", token: t.get,
		answers: &a.answers, scope: s, repo: s.Repo,
	}
}

// tokens caches the current installation token of one scope.
type tokens struct {
	app   *App
	scope tokenScope

	mu      sync.Mutex
	token   Secret
	expires time.Time
}

// get returns a token that is valid for at least tokenMargin. If renew is set, it requests a new token,
// because GitHub refused the last one.
func (t *tokens) get(ctx context.Context, renew bool) (Secret, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !renew && !t.token.IsEmpty() && time.Until(t.expires) > tokenMargin {
		return t.token, nil
	}
	what := fmt.Sprintf("get a token for installation %d", t.scope.Installation)
	res, _, err := t.app.client.Apps.CreateInstallationToken(ctx, t.scope.Installation, t.scope.Options())
	if err = noSuchRepository(err); err != nil {
		return Secret{}, failed(what, err)
	}
	t.token, t.expires = NewSecret(res.GetToken()), res.GetExpiresAt().Time
	if t.token.IsEmpty() {
		return Secret{}, fmt.Errorf("%s: the answer holds none", what)
	}
	return t.token, nil
}
