package signin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const testKey = "a key of the page with more than 32 characters"

// A world is a door, the page behind it, and a GitHub without a network, so that time can pass.
type world struct {
	t        *testing.T
	hub      *githubtest.Hub
	infra    *githubtest.Repository
	door     *Door
	pages    http.Handler
	requests int // to GitHub
	broken   int // the status of GitHub's answers; 0 if it works
	logged   []string
}

// RoundTrip implements http.RoundTripper.
func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	w.requests++
	rec := httptest.NewRecorder()
	if w.broken != 0 {
		rec.Header().Set("Retry-After", "600")
		rec.WriteHeader(w.broken)
		return rec.Result(), nil
	}
	w.hub.ServeHTTP(rec, req)
	return rec.Result(), nil
}

// empty is a site without content behind the door.
type empty struct{ page.Site }

func (empty) Changed(context.Context, uint64) uint64 { return 0 }

func newWorld(t *testing.T, withGitHub bool) *world {
	t.Helper()
	w := &world{t: t, hub: githubtest.New(githubtest.Options{})}
	w.hub.SetCallback("https://page.example/signed-in")
	w.infra = w.hub.AddRepository("acme", "infra", nil)
	w.infra.SetPrivate()
	w.infra.Grant("alice", "read")
	c := Config{
		Key: github.NewSecret(testKey), Serves: func(r github.Repo) bool { return r.Owner == "acme" }, Log: func(err error) { w.logged = append(w.logged, err.Error()) },
		Known: func(_ context.Context, owner, name string) (int64, error) {
			if owner == "acme" && name == "infra" {
				return w.infra.Repo().ID, nil
			}
			return 0, nil
		},
	}
	var err error
	if withGitHub {
		c.GitHub, err = github.NewSignIn(github.SignInConfig{ClientID: github.NewSecret(githubtest.ClientID), ClientSecret: github.NewSecret(w.hub.ClientSecret()), URL: "http://127.0.0.1:1", Transport: w})
		if err != nil {
			t.Fatal(err)
		}
	}
	if w.door, err = New(c); err != nil {
		t.Fatal(err)
	}
	w.pages = page.Handler{Site: empty{}, Door: w.door}.Server()
	return w
}

// ask sends a request with cookies to the page.
func (w *world) ask(path string, cookies ...*http.Cookie) *http.Response {
	r := httptest.NewRequest("GET", "https://page.example"+path, nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	w.pages.ServeHTTP(rec, r)
	return rec.Result()
}

// signIn returns the cookie of the session of a person.
func (w *world) signIn(login string) *http.Cookie {
	w.t.Helper()
	w.hub.Browse(login)
	begun := w.ask("/sign-in?to=/acme/infra")
	to, err := begun.Location()
	if err != nil {
		w.t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	w.hub.ServeHTTP(rec, httptest.NewRequest("GET", to.RequestURI(), nil))
	back, err := url.Parse(rec.Header().Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	res := w.ask(back.RequestURI(), begun.Cookies()...)
	for _, c := range res.Cookies() {
		if c.Name == sessionCookie {
			if res.Header.Get("Location") != "/acme/infra" || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
				w.t.Errorf("%+v leads to %s", c, res.Header.Get("Location"))
			}
			return c
		}
	}
	w.t.Fatalf("no session: %d %q", res.StatusCode, w.logged)
	return nil
}

// read asks the door for a repository, as the site behind it does.
func (w *world) read(c *http.Cookie, owner, name string) error {
	r := httptest.NewRequest("GET", "https://page.example/"+owner+"/"+name, nil)
	r.AddCookie(c)
	ctx, no := w.door.Enter(r)
	if no != nil {
		return no
	}
	repo, err := w.door.Repository(ctx, owner, name)
	if err == nil && repo.ID != w.infra.Repo().ID {
		w.t.Errorf("another repository: %v", repo)
	}
	return err
}

// status returns the status of a refusal; 0 for none.
func status(err error) int {
	var no *page.Refusal
	switch {
	case errors.As(err, &no):
		return no.Status
	case errors.Is(err, page.ErrNotFound):
		return http.StatusNotFound
	case err != nil:
		return http.StatusInternalServerError
	}
	return 0
}

// TestSessionEnds holds that a session ends after 8 hours, whatever the browser sends.
func TestSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		c := w.signIn("alice")
		time.Sleep(sessionLife - time.Minute)
		if err := w.read(c, "acme", "infra"); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		w.requests = 0
		if err := w.read(c, "acme", "infra"); status(err) != http.StatusUnauthorized || w.requests > 0 {
			t.Errorf("after 8 hours: %v, with %d requests to GitHub", err, w.requests)
		}
	})
}

// TestRightsEnd holds that a person who loses a right sees nothing a minute later, that one who gets it sees the repository
// a minute later, and that GitHub is asked once a minute.
func TestRightsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		c := w.signIn("alice")
		w.requests = 0
		for range 50 {
			if err := w.read(c, "acme", "infra"); err != nil {
				t.Fatal(err)
			}
		}
		if w.requests != 1 {
			t.Errorf("%d requests", w.requests)
		}
		w.infra.Grant("alice", "none")
		time.Sleep(answerLife + time.Second)
		if err := w.read(c, "acme", "infra"); status(err) != http.StatusNotFound {
			t.Errorf("without the right: %v", err)
		}
		w.infra.Grant("alice", "read")
		time.Sleep(answerLife + time.Second)
		if err := w.read(c, "Acme", "Infra"); err != nil {
			t.Errorf("with the right: %v", err)
		}
		time.Sleep(answerLife + time.Second)
		w.hub.Revoke("alice")
		if err := w.read(c, "acme", "infra"); status(err) != http.StatusUnauthorized {
			t.Errorf("without the authorization: %v", err)
		}
	})
}

// TestNoAnswerOfAnother holds that an answer about one person is none about another.
func TestNoAnswerOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	alice, mallory := w.signIn("alice"), w.signIn("mallory")
	for range 2 {
		if err := w.read(alice, "acme", "infra"); err != nil {
			t.Error(err)
		}
		if err := w.read(mallory, "acme", "infra"); status(err) != http.StatusNotFound {
			t.Errorf("mallory: %v", err)
		}
	}
}

// TestNotServed holds that a repository is not shown that Lockstep does not work for, though the person may read it.
func TestNotServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.hub.AddRepository("mallory", "infra", nil)
	c := w.signIn("mallory")
	if err := w.read(c, "mallory", "infra"); status(err) != http.StatusNotFound {
		t.Errorf("%v", err)
	}
	r := httptest.NewRequest("GET", "https://page.example/", nil)
	r.AddCookie(c)
	ctx, no := w.door.Enter(r)
	if no != nil {
		t.Fatal(no)
	}
	if all, err := w.door.Repositories(ctx); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestGitHubIsDown holds that nobody sees anything while GitHub does not answer, and that this is not remembered.
func TestGitHubIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		c := w.signIn("alice")
		for _, broken := range []int{http.StatusInternalServerError, http.StatusTooManyRequests} {
			w.broken = broken
			if err := w.read(c, "acme", "infra"); status(err) != http.StatusServiceUnavailable || len(w.logged) == 0 {
				t.Errorf("%d: %v", broken, err)
			}
			w.broken, w.logged = 0, nil
			if err := w.read(c, "acme", "infra"); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * answerLife)
		}
	})
}

// TestCookies carries out attacks with cookies.
func TestCookies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	good := w.signIn("alice")
	other, err := newKeys(github.NewSecret(testKey + "!"))
	if err != nil {
		t.Fatal(err)
	}
	var whole session // whose token is valid
	if !w.door.keys.open(sessionPurpose, good.Value, &whole) || whole.Login != "alice" {
		t.Fatal(whole)
	}
	link := session{Link: &Scope{Owner: "acme", Name: "infra"}, End: time.Now().Add(time.Hour).Unix()}
	late := whole
	late.End = time.Now().Add(-time.Second).Unix()
	for name, value := range map[string]string{
		"nothing": "", "no base64": "%", "plain": `{"Login":"alice"}`, "short": "AAAA",
		"longer": good.Value + "A", "shorter": good.Value[:len(good.Value)-4],
		"of another key": other.seal(sessionPurpose, whole), "of an attempt": w.door.keys.seal(attemptPurpose, whole),
		"of a link": w.door.keys.seal(sessionPurpose, link), "expired": w.door.keys.seal(sessionPurpose, late),
	} {
		if err := w.read(&http.Cookie{Name: sessionCookie, Value: value}, "acme", "infra"); status(err) != http.StatusUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.read(good, "acme", "infra"); err != nil {
		t.Error(err)
	}
	if strings.Contains(good.Value, "ghu_") {
		t.Error("the token is readable")
	}
	if _, err := New(Config{Key: github.NewSecret("short")}); err == nil || strings.Contains(err.Error(), "short\"") {
		t.Errorf("a short key: %v", err)
	}
}

// TestAttemptEnds holds that a sign-in must be completed within 10 minutes.
func TestAttemptEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.hub.Browse("alice")
		begun := w.ask("/sign-in")
		to, err := begun.Location()
		if err != nil {
			t.Fatal(err)
		}
		rec := httptest.NewRecorder()
		w.hub.ServeHTTP(rec, httptest.NewRequest("GET", to.RequestURI(), nil))
		back, _ := url.Parse(rec.Header().Get("Location"))
		time.Sleep(attemptLife + time.Second)
		if res := w.ask(back.RequestURI(), begun.Cookies()...); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%d", res.StatusCode)
		}
	})
}

// TestLocal is a table of paths to which a sign-in leads.
func TestLocal(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/acme/infra?page=2": "/acme/infra?page=2", "": "/", "acme": "/", "//evil.example": "/", "/\\evil.example": "/", "https://evil.example/": "/",
		"/\t/evil.example": "/", "/%2f/evil": "/%2f/evil", "javascript:alert(1)": "/", "/" + strings.Repeat("a", maxTo): "/", "///evil.example": "/",
	} {
		if got := local(to); got != want {
			t.Errorf("%q: %q, want %q", to, got, want)
		}
	}
}

// TestLinks carries out attacks with signed links: each link that is changed, old, guessed or for another purpose shows
// nothing, and a link shows only what it is for.
func TestLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false)
		made, err := Link(github.NewSecret(testKey), "https://page.example", Scope{Owner: "acme", Name: "infra", Pull: 7})
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(made)
		if err != nil {
			t.Fatal(err)
		}
		with := func(pairs ...string) string {
			q := u.Query()
			for i := 0; i < len(pairs); i += 2 {
				q.Set(pairs[i], pairs[i+1])
			}
			return "/link?" + q.Encode()
		}
		foreign, err := Link(github.NewSecret(testKey+"!"), "", Scope{Owner: "acme", Name: "infra", Pull: 7})
		if err != nil {
			t.Fatal(err)
		}
		for name, path := range map[string]string{
			"of another pull request": with("pull", "8"), "of the repository": with("pull", ""), "of another repository": with("name", "other"),
			"with a later end": with("end", strconv.FormatInt(time.Now().Add(LinkLife+30*time.Second).Unix(), 10)), "with no end": with("end", ""), "without a signature": with("signature", ""), "with a guess": with("signature", strings.Repeat("A", 43)),
			"of another deployment": foreign, "with a path": with("name", "infra/pull/7", "pull", ""), "with no name": with("name", "..", "pull", ""), "nothing": "/link",
		} {
			if res := w.ask(path); res.StatusCode != http.StatusUnauthorized || len(res.Cookies()) > 0 {
				t.Errorf("a link %s: %d", name, res.StatusCode)
			}
		}
		res := w.ask(u.RequestURI())
		if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/acme/infra/pull/7" || len(res.Cookies()) != 1 {
			t.Fatalf("%d %v", res.StatusCode, res.Header)
		}
		c := res.Cookies()[0]
		see := func(path string) int {
			r := httptest.NewRequest("GET", "https://page.example"+path, nil)
			r.AddCookie(c)
			ctx, no := w.door.Enter(r)
			if no != nil {
				return no.Status
			}
			parts := strings.Split(r.URL.Path, "/")
			_, err := w.door.Repository(ctx, parts[1], parts[2])
			return status(err)
		}
		for path, want := range map[string]int{
			"/acme/infra/pull/7": 0, "/acme/infra/pull/7/plan/net": 0, "/acme/infra/pull/70": 404, "/acme/infra/pull/8": 404, "/acme/infra": 404,
			"/acme/infra/view/audit": 404, "/acme/other/pull/7": 404, "/": 404, "/search?q=net": 404, "/Acme/infra/pull/7": 404,
		} {
			if got := see(path); got != want {
				t.Errorf("%s: %d, want %d", path, got, want)
			}
		}
		time.Sleep(LinkLife)
		if got := see("/acme/infra/pull/7"); got != http.StatusUnauthorized {
			t.Errorf("after its end: %d", got)
		}
		if res := w.ask(u.RequestURI()); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("the link after its end: %d", res.StatusCode)
		}
	})
}

// TestNoLinksBesideSignIn holds that links are worthless if people can sign in.
func TestNoLinksBesideSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	made, err := Link(github.NewSecret(testKey), "https://page.example", Scope{Owner: "acme", Name: "infra"})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(made)
	if res := w.ask(u.RequestURI()); len(res.Cookies()) > 0 || res.StatusCode == http.StatusSeeOther {
		t.Errorf("%d", res.StatusCode)
	}
	if res := w.ask("/sign-out"); res.StatusCode == http.StatusSeeOther {
		t.Error("a link of another page can sign a reader out")
	}
}
