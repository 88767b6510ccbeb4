//go:build linux

package lambdatest_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A browser visits the page.
type browser struct {
	t testing.TB
	r *road
	*http.Client
}

func (r *road) browser() *browser {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return &browser{r.t, r, &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
}

// signedIn returns a browser of a person who has signed in.
func (r *road) signedIn(login string) *browser {
	r.t.Helper()
	b := r.browser()
	r.hub.Browse(login)
	if status, text := b.get("/sign-in"); status != http.StatusOK {
		r.t.Fatalf("%s cannot sign in: %d %s", login, status, text)
	}
	return b
}

// get returns the status and the text of a page.
func (b *browser) get(path string) (int, string) {
	b.t.Helper()
	res, err := b.Get(b.r.page + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if csp := res.Header.Get("Content-Security-Policy"); res.StatusCode != http.StatusBadRequest && !strings.Contains(csp, "default-src 'none'") {
		b.t.Errorf("%s has the policy %q", path, csp)
	}
	return res.StatusCode, string(data)
}

// session returns the value of the session's cookie; "" if there is none.
func (b *browser) session() string {
	at, _ := url.Parse(b.r.page)
	for _, c := range b.Jar.Cookies(at) {
		if c.Name == "__Host-lockstep-session" {
			return c.Value
		}
	}
	return ""
}

// with returns a browser with a session's cookie.
func (r *road) with(session string) *browser {
	b := r.browser()
	at, _ := url.Parse(r.page)
	b.Jar.SetCookies(at, []*http.Cookie{{Name: "__Host-lockstep-session", Value: session, Path: "/", Secure: true}})
	return b
}

// pages are the addresses of everything that is about acme/infra, after an apply of #1.
var pages = []string{
	"/acme/infra", "/acme/infra/view/projects", "/acme/infra/view/locks", "/acme/infra/view/drift", "/acme/infra/view/audit", "/acme/infra/project/net@default",
	"/acme/infra/pull/1", "/acme/infra/pull/1/projects", "/acme/infra/pull/1/plan/net",
}

// newPage has #1 applied in the private repository acme/infra, which mallory may not read.
func newPage(t *testing.T, change ...func(*lambdatest.StackOptions)) *road {
	t.Helper()
	long := ""
	for i := range 400 {
		long += thing("r"+strings.Repeat("x", 100)+string(rune('a'+i%26))+string(rune('a'+i/26)), "1")
	}
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "1"))}, change...)
	r.repo.SetPrivate()
	r.repo.Grant("mallory", "none")
	r.hub.AddRepository("acme", "other", nil).Grant("mallory", "read")
	n := r.pull("b", githubtest.Files{"net/b.tf": long})
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied** `net`")
	return r
}

// TestPage signs in and reads every page.
func TestPage(t *testing.T) {
	t.Parallel()
	r := newPage(t)
	b := r.browser()
	if status, text := b.get("/acme/infra/pull/1"); status != http.StatusUnauthorized || !strings.Contains(text, `href="/sign-in?to=%2facme%2finfra%2fpull%2f1"`) {
		t.Fatalf("without a session: %d %s", status, text)
	}
	r.hub.Browse("alice")
	status, text := b.get("/sign-in?to=%2facme%2finfra%2fpull%2f1")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	r.expect("after the sign-in", text, "applied", "alice", "Sign out")
	for path, want := range map[string][]string{
		"/":                               {`href="/acme/infra"`, "Repositories"},
		"/acme/infra":                     {`href="/acme/infra/pull/1"`, "applied"},
		"/acme/infra/view/projects":       {"s3://states/net/terraform.tfstate", "#1", "by alice", `href="/acme/infra/project/net@default"`},
		"/acme/infra/view/locks":          {"No state is locked"},
		"/acme/infra/view/drift":          {"No drift is known"},
		"/acme/infra/view/audit":          {"apply ended", "401 added", `href="/acme/infra/project/net@default"`},
		"/acme/infra/project/net@default": {"s3://states/net/terraform.tfstate", "apply allowed", "apply ended", "#1", "Lineage", "applied"},
		"/acme/infra/pull/1/projects":     {"The whole plan", "applied"},
		"/acme/infra/pull/1/plan/net":     {"terraform_data.rxxx"},
		"/search?q=STATES+net":            {`href="/acme/infra/project/net@default"`},
		"/search?q=nothing":               {"No project that you may read"},
		"/docs":                           {"Documentation"},
	} {
		status, text := b.get(path)
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, text)
		}
		r.expect(path, text, want...)
	}
	if status, _ := b.get("/events?since=0"); status != http.StatusNotFound {
		t.Errorf("a stream of events: %d", status)
	}
	copied := b.session()
	res, err := b.PostForm(r.page+"/sign-out", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	for name, b := range map[string]*browser{"after the sign-out": b, "with a copy of the cookie": r.with(copied)} {
		if status, text := b.get("/acme/infra"); status != http.StatusUnauthorized || strings.Contains(text, "infra/pull") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

// TestPageOfNobody carries out attacks: each page about a private repository is asked for with each wrong session. It holds
// that nobody sees a word of it, and that it looks like a repository that does not exist.
func TestPageOfNobody(t *testing.T) {
	t.Parallel()
	r := newPage(t)
	other := newRoad(t, nil)
	alice := r.signedIn("alice")
	session := alice.session()
	edited := []byte(session)
	edited[len(edited)/2] ^= 1
	removed := r.signedIn("bob") // who loses the right before the first request
	r.repo.Grant("bob", "read")
	r.repo.Grant("bob", "none")
	revoked := r.signedIn("carol")
	r.repo.Grant("carol", "read")
	r.hub.Revoke("carol")
	for name, x := range map[string]struct {
		b    *browser
		want int
	}{
		"no session":                        {r.browser(), http.StatusUnauthorized},
		"an edited cookie":                  {r.with(string(edited)), http.StatusUnauthorized},
		"half a cookie":                     {r.with(session[:len(session)/2]), http.StatusUnauthorized},
		"an empty cookie":                   {r.with("AAAA"), http.StatusUnauthorized},
		"the session of another deployment": {r.with(otherSession(other)), http.StatusUnauthorized},
		"a revoked authorization":           {revoked, http.StatusUnauthorized},
		"a person without rights":           {r.signedIn("mallory"), http.StatusNotFound},
		"a person who was removed":          {removed, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range pages {
				status, text := x.b.get(path)
				if status != x.want {
					t.Errorf("%s: %d, want %d", path, status, x.want)
				}
				_, missing := x.b.get(strings.Replace(path, "infra", "missing", 1))
				if text != strings.ReplaceAll(missing, "missing", "infra") {
					t.Errorf("%s differs from a repository that does not exist:\n%s\n%s", path, text, missing)
				}
				for _, secret := range []string{"terraform_data", "applied", "s3://", "vpc"} {
					if strings.Contains(text, secret) {
						t.Errorf("%s shows %q", path, secret)
					}
				}
			}
			for _, path := range []string{"/", "/search?q=net"} {
				if _, text := x.b.get(path); strings.Contains(text, "acme/infra") {
					t.Errorf("%s names the repository: %s", path, text)
				}
			}
		})
	}
	// The right is asked for once a minute: alice, too, sees nothing of what she may not read.
	if status, _ := alice.get("/acme/infra"); status != http.StatusOK {
		t.Errorf("alice: %d", status)
	}
	for _, path := range []string{"/acme/infra/pull/2", "/acme/infra/pull/0", "/acme/infra/pull/1/plan/other", "/acme/infra/project/other@default", "/acme/infra/project/..%2F..", "/acme/infra?at=0", "/acme/infra?at=x", "/acme/infra?at=-1", "/acme/..%2fother", "/acme/%00"} {
		if status, text := alice.get(path); status != http.StatusNotFound && status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// otherSession returns a session of another deployment with the same App, whose page has another key.
func otherSession(r *road) string {
	r.account.Keep("page", pageSecrets("another key, which has more than 32 characters", r.hub))
	return r.signedIn("alice").session()
}

// TestSignInAttacks carries out attacks on the way from GitHub's page back to ours.
func TestSignInAttacks(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState)})
	r.hub.Browse("alice")
	// back begins a sign-in and returns the address to which GitHub sends the browser.
	back := func(b *browser) *url.URL {
		t.Helper()
		b.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(req.URL.Path, "/signed-in") {
				return http.ErrUseLastResponse
			}
			return nil
		}
		defer func() { b.CheckRedirect = nil }()
		res, err := b.Get(r.page + "/sign-in?to=//evil.example/")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		to, err := res.Location()
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	replaced := func(u *url.URL, name, value string) string {
		q := u.Query()
		q.Set(name, value)
		return "/signed-in?" + q.Encode()
	}
	victim := r.browser()
	if status, _ := victim.get("/signed-in?" + back(r.browser()).RawQuery); status != http.StatusUnauthorized || victim.session() != "" {
		t.Errorf("the code of another browser: %d", status)
	}
	own := back(victim)
	if status, _ := victim.get(replaced(own, "state", back(r.browser()).Query().Get("state"))); status != http.StatusUnauthorized || victim.session() != "" {
		t.Errorf("the state of another browser: %d", status)
	}
	if status, _ := victim.get("/signed-in?" + own.RawQuery); status != http.StatusUnauthorized {
		t.Errorf("a state after a failed attempt: %d", status)
	}
	own = back(victim)
	if status, _ := victim.get(replaced(own, "code", back(r.browser()).Query().Get("code"))); status != http.StatusUnauthorized || victim.session() != "" {
		t.Errorf("the code of another browser with the own state: %d", status)
	}
	own = back(victim)
	cookies := slices.Clone(victim.Jar.Cookies(own))
	if status, text := victim.get("/signed-in?" + own.RawQuery); status != http.StatusOK || victim.session() == "" {
		t.Errorf("a sign-in: %d %s", status, text)
	}
	if status, _ := victim.get("/signed-in?" + own.RawQuery); status != http.StatusUnauthorized {
		t.Errorf("the same code and state again: %d", status)
	}
	thief := r.browser()
	thief.Jar.SetCookies(own, cookies)
	if status, _ := thief.get("/signed-in?" + own.RawQuery); status != http.StatusUnauthorized || thief.session() != "" {
		t.Errorf("code, state and cookie again: %d", status)
	}
	if strings.Contains(r.log.String(), own.Query().Get("code")) {
		t.Error("the code is in the log")
	}
	r.hub.Browse("")
	if status, text := r.browser().get("/sign-in"); status != http.StatusUnauthorized || !strings.Contains(text, "You have not signed in") {
		t.Errorf("a person who does not agree: %d %s", status, text)
	}
}
