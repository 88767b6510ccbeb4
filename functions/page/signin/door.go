package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/github"
)

const (
	// sessionLife is the longest life of a session. GitHub's tokens of people are valid for the same
	// time.
	sessionLife = 8 * time.Hour
	// attemptLife is how long a person may take to sign in on GitHub. GitHub's codes are valid for the
	// same time.
	attemptLife = 10 * time.Minute
	// maxTo is the maximum length of the path that a person sees after the sign-in.
	maxTo = 1024

	sessionCookie = "__Host-lockstep-session"
	attemptCookie = "__Host-lockstep-sign-in"

	signInPath   = "/sign-in"
	signedInPath = "/signed-in" // the App's callback URL
	signOutPath  = "/sign-out"
	linkPath     = "/link"
)

// A Config has the settings and parts of a [Door].
type Config struct {
	// Key is the secret of the deployment from which all keys are derived, at least [ShortestKey] bytes long.
	Key github.Secret
	// GitHub is the sign-in; nil if there are only signed links.
	GitHub *github.SignIn
	// Address is the address of the page, without a slash at the end; "" means https and the host of the request. On
	// AWS, the host of a request to a function URL is always the function's.
	Address string
	// Serves reports whether Lockstep works for a repository.
	Serves func(github.Repo) bool
	// Known returns the ID of the repository that had a name when Lockstep first worked for it; 0 if there is none.
	// Only signed links need it.
	Known func(ctx context.Context, owner, name string) (id int64, err error)
	// Log is called with errors that the reader does not see.
	Log func(error)
}

// A Door admits people who are signed in. It is safe for concurrent use.
type Door struct {
	Config
	keys  keys
	cache cache
}

var _ page.Door = (*Door)(nil)

// New returns a door.
func New(c Config) (*Door, error) {
	k, err := newKeys(c.Key)
	if err != nil {
		return nil, err
	}
	return &Door{Config: c, keys: k, cache: newCache()}, nil
}

type sessionKey struct{}

// Enter implements page.Door.
func (d *Door) Enter(r *http.Request) (context.Context, *page.Refusal) {
	s, ok := d.session(r)
	if !ok {
		return nil, d.signInForm(r, "")
	}
	if !s.covers(r.URL.Path) {
		return nil, &page.Refusal{Status: http.StatusNotFound, Notice: "There is no such page."}
	}
	ctx := context.WithValue(r.Context(), sessionKey{}, s)
	return page.WithReader(ctx, s.Login), nil
}

// signInForm returns the refusal that shows how to sign in. It is the same for all paths.
func (d *Door) signInForm(r *http.Request, notice string) *page.Refusal {
	if d.GitHub == nil {
		return &page.Refusal{Status: http.StatusUnauthorized, Form: page.LinkForm, Notice: notice}
	}
	to := ""
	if r != nil && r.Method == http.MethodGet {
		to = local(r.URL.RequestURI())
	}
	return &page.Refusal{Status: http.StatusUnauthorized, Form: page.GitHubForm, Notice: notice, To: to}
}

// session returns the session of a request. ok is false if the request has none that is valid now.
func (d *Door) session(r *http.Request) (s session, ok bool) {
	c, err := r.Cookie(sessionCookie)
	if err != nil || !d.keys.open(sessionPurpose, c.Value, &s) || !time.Now().Before(time.Unix(s.End, 0)) {
		return session{}, false
	}
	// If people can sign in, sessions from signed links are no longer valid. If nobody can sign in,
	// sessions of people are not valid.
	return s, (d.GitHub == nil) == (s.Link != nil)
}

// Serve implements page.Door.
func (d *Door) Serve(mux *http.ServeMux, h page.Handler) {
	handle := func(pattern string, do func(http.ResponseWriter, *http.Request) *page.Refusal) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if no := do(w, r); no != nil {
				h.Refuse(w, r, *no)
			}
		})
	}
	if d.GitHub == nil {
		handle("GET "+linkPath, d.link)
		return
	}
	handle("GET "+signInPath, d.signIn)
	handle("GET "+signedInPath, d.signedIn)
	handle("POST "+signOutPath, d.signOut)
}

// signIn sends the browser to GitHub. The attempt is in a cookie, so only this browser can complete it.
func (d *Door) signIn(w http.ResponseWriter, r *http.Request) *page.Refusal {
	a := attempt{State: rand.Text(), Verifier: rand.Text() + rand.Text(), To: local(r.URL.Query().Get("to")), End: time.Now().Add(attemptLife).Unix()}
	setCookie(w, attemptCookie, d.keys.seal(attemptPurpose, a), attemptLife)
	sum := sha256.Sum256([]byte(a.Verifier))
	http.Redirect(w, r, d.GitHub.Page(d.callback(r), a.State, base64.RawURLEncoding.EncodeToString(sum[:])), http.StatusSeeOther)
	return nil
}

// signedIn begins a session with the code from GitHub.
func (d *Door) signedIn(w http.ResponseWriter, r *http.Request) *page.Refusal {
	var a attempt
	c, err := r.Cookie(attemptCookie)
	valid := err == nil && d.keys.open(attemptPurpose, c.Value, &a) && time.Now().Before(time.Unix(a.End, 0))
	setCookie(w, attemptCookie, "", -1)
	q := r.URL.Query()
	switch {
	case !valid || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(a.State)) != 1:
		return d.signInForm(nil, "This sign-in was not begun in this browser, or more than 10 minutes ago. Sign in again.")
	case q.Get("error") != "" || q.Get("code") == "":
		return d.signInForm(nil, "You have not signed in. Sign in, and authorize the App on GitHub's page.")
	}
	token, err := d.GitHub.Exchange(r.Context(), d.callback(r), q.Get("code"), a.Verifier)
	if errors.Is(err, github.ErrSignInCode) {
		return d.signInForm(nil, "GitHub does not accept this sign-in any more. Sign in again.")
	}
	login := ""
	if err == nil {
		login, err = d.GitHub.User(token.Token).Login(r.Context())
	}
	if err != nil {
		return d.unavailable(err)
	}
	life := sessionLife
	if token.Life > 0 {
		life = min(life, token.Life)
	}
	value, err := token.Keep(func(text string) (string, error) {
		return d.keys.seal(sessionPurpose, session{Login: login, Token: text, End: time.Now().Add(life).Unix()}), nil
	})
	if err != nil {
		return d.unavailable(err)
	}
	setCookie(w, sessionCookie, value, life)
	http.Redirect(w, r, a.To, http.StatusSeeOther)
	return nil
}

// signOut ends a session. It also ends the token at GitHub, so a copy of the cookie is useless.
func (d *Door) signOut(w http.ResponseWriter, r *http.Request) *page.Refusal {
	if s, ok := d.session(r); ok {
		d.cache.forget(s.Token)
		if err := d.GitHub.Revoke(r.Context(), github.NewSecret(s.Token)); err != nil {
			d.Log(err)
		}
	}
	setCookie(w, sessionCookie, "", -1)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// unavailable logs an error, and returns the refusal for the reader.
func (d *Door) unavailable(err error) *page.Refusal {
	d.Log(err)
	var limited *github.RateLimitedError
	if errors.As(err, &limited) {
		return &page.Refusal{Status: http.StatusServiceUnavailable, Notice: "GitHub accepts no more requests from you for now. Try again in some minutes."}
	}
	return &page.Refusal{Status: http.StatusServiceUnavailable, Notice: "GitHub does not answer as it should. Try again in a minute."}
}

// callback returns the address to which GitHub sends the browser back.
func (d *Door) callback(r *http.Request) string {
	if d.Address != "" {
		return d.Address + signedInPath
	}
	return "https://" + r.Host + signedInPath
}

// local returns a path with its query if it leads to this server, and "/" otherwise. Browsers read "//" and "/\" as the
// beginning of another server's address.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || len(to) > maxTo || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\t\r\n") {
		return "/"
	}
	return to
}

// setCookie sets a cookie that only this server gets, only by https, and that scripts cannot read. A negative life
// removes the cookie. With SameSite=Lax, browsers send the cookie if GitHub's page or a comment leads here.
func setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode})
}
