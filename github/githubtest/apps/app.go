package apps

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// An App is the GitHub App of a fake GitHub, with the tokens that it was given. It is not safe for concurrent
// use.
type App struct {
	ID     int64
	Slug   string
	key    *rsa.PrivateKey
	tokens map[string]*Token
	given  []string // every secret
	// accepted are the permissions that the App has, by name, with their level.
	accepted map[string]string
}

// Events are the names of the webhooks that the App receives.
var Events = []string{"check_run", "check_suite", "issue_comment", "merge_group", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "status"}

// New returns an App without tokens.
func New(id int64, slug string) *App {
	return &App{ID: id, Slug: slug, key: key(), tokens: map[string]*Token{}, accepted: permissions()}
}

// key is the App's private key, made once a process. It is as short as Go allows (GODEBUG rsa1024min), because
// tests sign often.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 512)
	if err != nil {
		k, err = rsa.GenerateKey(rand.Reader, 1024)
	}
	if err != nil {
		panic(fmt.Sprintf("apps: make a key: %v", err))
	}
	return k
})

// Login returns the login under which the App acts.
func (a *App) Login() string { return a.Slug + "[bot]" }

// PEM returns the App's private key in the format of GitHub's download.
func (a *App) PEM() string {
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(a.key)}
	return string(pem.EncodeToMemory(block))
}

// byApp returns a handler that answers only requests of the App itself. It checks GitHub's rules for the JSON
// web token: RS256, the App's ID as issuer, issued in the past, valid for at most ten minutes.
//
// Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (a *App) byApp(h rest.Handler) rest.Handler {
	return func(r *http.Request) (int, any) {
		if !a.proven(r) {
			return rest.Fail(&rest.Problem{Status: http.StatusUnauthorized, Message: "A JSON web token could not be decoded"})
		}
		return h(r)
	}
}

func (a *App) proven(r *http.Request) bool {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return false
	}
	var c jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(text, &c, func(*jwt.Token) (any, error) { return &a.key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(strconv.FormatInt(a.ID, 10)),
		jwt.WithIssuedAt(), jwt.WithExpirationRequired())
	return err == nil && c.IssuedAt != nil && time.Until(c.ExpiresAt.Time) <= 10*time.Minute
}
