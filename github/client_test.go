package github_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/github/githubtest/contract"
)

// setting is a GitHub with one repository, and our App's client of it. It sees every
// request, and all requests and answers are held against GitHub's own description.
type setting struct {
	hub    *githubtest.Hub
	repo   *githubtest.Repository
	app    *github.App
	client *github.Client
	url    string

	mu       sync.Mutex
	requests []string
	fault    func(http.ResponseWriter, *http.Request) bool
}

func (s *setting) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.requests = append(s.requests, req.Method+" "+req.URL.Path+" "+req.Header.Get("Authorization"))
	s.mu.Unlock()
	return http.DefaultTransport.RoundTrip(req)
}

// count returns how many requests had a text in their line.
func (s *setting) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if strings.Contains(r, text) {
			n++
		}
	}
	return n
}

func newSetting(t *testing.T) *setting {
	t.Helper()
	s := &setting{}
	s.hub = githubtest.New(githubtest.Options{Fault: func(w http.ResponseWriter, r *http.Request) bool {
		return s.fault != nil && s.fault(w, r)
	}})
	server := httptest.NewServer(s.hub)
	t.Cleanup(server.Close)
	s.url = server.URL
	s.repo = s.hub.AddRepository("acme", "infra", githubtest.Files{"main.tf": "one\n", "net/net.tf": "net\n"})
	s.repo.Grant("alice", "write")
	s.repo.Push("alice", "topic", "Second line", githubtest.Files{"main.tf": "one\ntwo\n"})
	s.repo.OpenPull("alice", "Second line", "topic")
	config := s.hub.App(server.URL)
	config.Transport = contract.Transport{
		Base: s, Report: func(err error) { t.Error(err) },
		Ignore: func(r *http.Request) bool { return s.fault != nil || strings.HasPrefix(r.URL.Path, "/archive/") },
	}
	var err error
	if s.app, err = github.NewApp(config); err != nil {
		t.Fatal(err)
	}
	if s.client, err = s.app.Repository(s.repo.Installation(), s.repo.Repo()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPullRequest(t *testing.T) {
	s := newSetting(t)
	p, err := s.client.PullRequest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	repo := s.repo.Repo()
	want := github.PullRequest{
		Number: 1, Title: "Second line", Author: "alice", Open: true,
		Head: github.Branch{Repo: repo, Ref: "topic", SHA: s.repo.Head("topic")},
		Base: github.Branch{Repo: repo, Ref: "main", SHA: s.repo.Head("main")},
		URL:  "https://github.example/acme/infra/pull/1",
	}
	if p.MergeSHA == "" {
		t.Error("there is no trial merge")
	}
	p.MergeSHA = ""
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if p.Fork() {
		t.Error("it is taken for a fork's")
	}
	merge := s.repo.Merge("alice", 1)
	if p, err = s.client.PullRequest(t.Context(), 1); err != nil || p.Open || !p.Merged || p.MergeSHA != merge {
		t.Errorf("after the merge: %+v, %v", p, err)
	}
	if _, err := s.client.PullRequest(t.Context(), 99); !errors.Is(err, github.ErrNotFound) || err.Error() != "read pull request acme/infra#99: not found" {
		t.Errorf("error: %v", err)
	}
}

func TestFork(t *testing.T) {
	s := newSetting(t)
	fork := s.repo.Fork("mallory")
	fork.Push("mallory", "evil", "Evil", githubtest.Files{"main.tf": "evil\n"})
	n := s.repo.OpenPullFrom(fork, "mallory", "Evil", "evil")
	if p, err := s.client.PullRequest(t.Context(), n); err != nil || !p.Fork() {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestChangedFiles(t *testing.T) {
	s := newSetting(t)
	many := githubtest.Files{"main.tf": githubtest.Deleted}
	want := []string{}
	for i := range 120 { // more than one page
		name := fmt.Sprintf("many/%03d.tf", i)
		many[name] = "x\n"
		want = append(want, name)
	}
	s.repo.Push("alice", "many", "Many", many)
	n := s.repo.OpenPull("alice", "Many", "many")
	got, all, err := s.client.ChangedFiles(t.Context(), n)
	if err != nil || !all {
		t.Fatal(all, err)
	}
	if diff := cmp.Diff(append([]string{"main.tf"}, want...), got); diff != "" {
		t.Error(diff)
	}
}

func TestPermission(t *testing.T) {
	s := newSetting(t)
	s.repo.Grant("bob", "read")
	s.repo.Grant("carol", "none")
	for login, want := range map[string]github.Permission{
		"acme": github.AdminPermission, "alice": github.WritePermission, "bob": github.ReadPermission,
		"carol": github.NoPermission, "nobody": github.NoPermission, "robot[bot]": github.NoPermission,
	} {
		if got, err := s.client.Permission(t.Context(), login); err != nil || got != want {
			t.Errorf("%s: %s, %v", login, got, err)
		}
	}
	for _, login := range []string{"", "../..", "a/b", "alice?x=y"} {
		if _, err := s.client.Permission(t.Context(), login); err == nil {
			t.Errorf("%q was taken for a login", login)
		}
	}
}

func TestCheckout(t *testing.T) {
	s := newSetting(t)
	dir := t.TempDir()
	u, err := s.client.Checkout(t.Context(), s.repo.Head("topic"), dir)
	if err != nil {
		t.Fatal(err)
	}
	if u.Files != 2 {
		t.Errorf("%+v", u)
	}
	for name, want := range map[string]string{"main.tf": "one\ntwo\n", "net/net.tf": "net\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if s.count("GET /archive/") != 1 || s.count("GET /archive/") == s.count("GET /archive/ token") {
		t.Errorf("the archive's address got our token: %q", s.requests)
	}
	if _, err := s.client.Checkout(t.Context(), strings.Repeat("0", 40), t.TempDir()); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("no such commit: %v", err)
	}
	if _, err := s.client.Checkout(t.Context(), "main", t.TempDir()); err == nil {
		t.Error("a branch was taken for a commit")
	}
}

// TestArchiveAddress holds that an archive is fetched from where it may be only, and
// that the address, which has a token in it, is not in the error.
func TestArchiveAddress(t *testing.T) {
	for location, want := range map[string]string{
		"http://169.254.169.254/latest?token=t0ken": "not one to follow",
		"file:///etc/passwd?token=t0ken":            "not one to follow",
		"https://127.0.0.1:1/x?token=t0ken":         "refused",
		"/hop?token=t0ken":                          "not one to follow",
		"/gone?token=t0ken":                         "not found",
		"/broken?token=t0ken":                       "500 Internal Server Error",
		"https://%%%.example/x?token=t0ken":         "invalid",
	} {
		t.Run(location, func(t *testing.T) {
			t.Parallel()
			s := newSetting(t)
			s.fault = func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case strings.Contains(r.URL.Path, "/tarball/"):
					w.Header().Set("Location", location)
					w.WriteHeader(http.StatusFound)
				case r.URL.Path == "/hop":
					w.Header().Set("Location", "http://169.254.169.254/t0ken")
					w.WriteHeader(http.StatusFound)
				case r.URL.Path == "/broken":
					w.WriteHeader(http.StatusInternalServerError)
				case r.URL.Path == "/gone":
					w.WriteHeader(http.StatusNotFound)
				default:
					return false
				}
				return true
			}
			_, err := s.client.Checkout(t.Context(), s.repo.Head("main"), t.TempDir())
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "t0ken") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestPutComment(t *testing.T) {
	s := newSetting(t)
	const marker = "<!-- marker -->"
	s.repo.Comment("mallory", 1, "I was here first "+marker)
	for range 110 { // more than one page
		s.repo.Comment("alice", 1, "chat")
	}
	first, err := s.client.PutComment(t.Context(), 1, marker, "one "+marker)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.client.PutComment(t.Context(), 1, marker, "one "+marker); err != nil || again != first {
		t.Errorf("the same text again: %d, %v; the first was %d", again, err, first)
	}
	if again, err := s.client.PutComment(t.Context(), 1, marker, "two "+marker); err != nil || again != first {
		t.Errorf("another text: %d, %v; the first was %d", again, err, first)
	}
	var lines []string
	for _, l := range s.hub.Lines() {
		if strings.Contains(l, "lockstep[bot]") {
			lines = append(lines, l)
		}
	}
	want := []string{"comment #112 on #1 by lockstep[bot]: one <!-- marker -->", "edit #112 on #1 by lockstep[bot]: two <!-- marker -->"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if _, err := s.client.PutComment(t.Context(), 1, "<!-- other -->", "<!-- other -->"+strings.Repeat("x", github.MaxComment)); err == nil {
		t.Error("a comment that is too long was sent")
	}
}

// TestTwins holds that of two comments with one marker the older one stays.
func TestTwins(t *testing.T) {
	s := newSetting(t)
	const marker = "<!-- marker -->"
	var ids []int64
	for range 2 { // two that see no comment yet
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != "GET" || !strings.HasSuffix(r.URL.Path, "/comments") {
				return false
			}
			io.WriteString(w, "[]")
			return true
		}
		id, err := s.client.PutComment(t.Context(), 1, marker, marker)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	s.fault = nil
	id, err := s.client.PutComment(t.Context(), 1, marker, "now "+marker)
	if err != nil || id != ids[0] {
		t.Errorf("%d, %v", id, err)
	}
	if left := s.repo.Comments(1); len(left) != 1 || left[0].ID != ids[0] || left[0].Body != "now "+marker {
		t.Errorf("%+v", left)
	}
}

func TestReact(t *testing.T) {
	s := newSetting(t)
	id := s.repo.Comment("alice", 1, "hello")
	for range 2 {
		if err := s.client.React(t.Context(), id, github.Eyes); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"eyes by lockstep[bot]"}, s.repo.Comments(1)[0].Reactions); diff != "" {
		t.Error(diff)
	}
}

// TestTokens holds that one token serves many calls, and that a new one is got when
// the old one is refused.
func TestTokens(t *testing.T) {
	s := newSetting(t)
	read := func() {
		t.Helper()
		if _, err := s.client.PullRequest(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	read()
	read()
	if n := s.count("/access_tokens"); n != 1 {
		t.Errorf("%d tokens for two calls", n)
	}
	other, err := s.app.Repository(s.repo.Installation(), s.repo.Repo())
	if err != nil {
		t.Fatal(err)
	}
	s.client = other
	read()
	if n := s.count("/access_tokens"); n != 1 {
		t.Errorf("%d tokens for two clients of one repository", n)
	}
	s.hub.ExpireTokens()
	read()
	if n := s.count("/access_tokens"); n != 2 {
		t.Errorf("%d tokens after the first was refused", n)
	}
}

// TestTokenEndsSoon holds that a token which ends within minutes is replaced before
// it is refused.
func TestTokenEndsSoon(t *testing.T) {
	s := newSetting(t)
	for _, test := range []struct {
		life time.Duration
		want int // tokens for two calls
	}{{time.Hour, 1}, {4 * time.Minute, 2}} {
		asked := 0
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case strings.HasSuffix(r.URL.Path, "/access_tokens"):
				asked++
				w.WriteHeader(http.StatusCreated)
				fmt.Fprintf(w, `{"token":"any shape at all","expires_at":%q}`, time.Now().Add(test.life).Format(time.RFC3339))
			default:
				io.WriteString(w, `{"permission":"read"}`)
			}
			return true
		}
		app, err := github.NewApp(s.hub.App(s.url))
		if err != nil {
			t.Fatal(err)
		}
		client, err := app.Repository(s.repo.Installation(), s.repo.Repo())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := client.Permission(t.Context(), "alice"); err != nil {
				t.Fatal(err)
			}
		}
		if asked != test.want {
			t.Errorf("a token that lives %s: %d for two calls", test.life, asked)
		}
	}
}

// TestConfusedDeputy holds that one installation's event cannot reach another
// installation's repository, nor another one of its own.
func TestConfusedDeputy(t *testing.T) {
	s := newSetting(t)
	victim := s.hub.AddRepository("victim", "infra", githubtest.Files{"main.tf": ""})
	victim.Push("victim", "b", "B", githubtest.Files{"main.tf": "b\n"})
	victim.OpenPull("victim", "B", "b")
	stranger, err := s.app.Repository(s.repo.Installation(), victim.Repo())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.PullRequest(t.Context(), 1); err == nil {
		t.Error("another installation's repository was read")
	}
	// The name is the victim's, the ID our own: the token opens our own only.
	disguised := victim.Repo()
	disguised.ID = s.repo.Repo().ID
	liar, err := s.app.Repository(s.repo.Installation(), disguised)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := liar.PullRequest(t.Context(), 1); err == nil {
		t.Error("another repository was read under its name")
	}
	if _, err := s.app.Repository(s.repo.Installation(), github.Repo{ID: 1, Owner: "..", Name: "x"}); err == nil {
		t.Error("a path was taken for a repository")
	}
}

// TestSecretsStayInside holds that neither key nor tokens are in what a program could
// print of the App, its client, and errors.
func TestSecretsStayInside(t *testing.T) {
	s := newSetting(t)
	if _, err := s.client.PullRequest(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	var secrets []string
	for _, r := range s.requests {
		_, auth, _ := strings.Cut(r, " /")
		if w := strings.Fields(auth); len(w) == 3 {
			secrets = append(secrets, w[2])
		}
	}
	if len(secrets) != 2 { // App's and installation's
		t.Fatalf("%q", s.requests)
	}
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"message":"no"}`)
		return true
	}
	_, err := s.client.PullRequest(t.Context(), 2)
	if err == nil || err.Error() != "read pull request acme/infra#2: GitHub says 403 Forbidden: no" {
		t.Errorf("error: %v", err)
	}
	printed := fmt.Sprintf("%v %+v %#v %v %+v %#v %v %+v", s.app, s.app, s.app, s.client, s.client, s.client, err, errors.Unwrap(err))
	for _, secret := range append(secrets, "PRIVATE KEY", "MII") {
		if strings.Contains(printed, secret) {
			t.Errorf("%.20q... is printed", secret)
		}
	}
}

func TestAppConfig(t *testing.T) {
	good := githubtest.New(githubtest.Options{}).App("")
	for name, test := range map[string]struct {
		change func(*github.AppConfig)
		fails  string
	}{
		"good":         {func(c *github.AppConfig) {}, ""},
		"no ID":        {func(c *github.AppConfig) { c.ID = 0 }, "no ID"},
		"no key":       {func(c *github.AppConfig) { c.Key = github.Secret{} }, "not an RSA key"},
		"bad key":      {func(c *github.AppConfig) { c.Key = github.NewSecret("hush") }, "not an RSA key"},
		"http":         {func(c *github.AppConfig) { c.URL = "http://github.example/api/v3" }, "not an https URL"},
		"loopback":     {func(c *github.AppConfig) { c.URL = "http://127.0.0.1:80" }, ""},
		"almost":       {func(c *github.AppConfig) { c.URL = "http://127.0.0.1.github.example" }, "not an https URL"},
		"no URL":       {func(c *github.AppConfig) { c.URL = "github" }, "not an https URL"},
		"own instance": {func(c *github.AppConfig) { c.URL = "https://github.example/api/v3" }, ""},
	} {
		config := good
		test.change(&config)
		_, err := github.NewApp(config)
		if (err == nil) != (test.fails == "") || err != nil && (!strings.Contains(err.Error(), test.fails) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRateLimit holds that a limit which lasts long comes out as what it is.
func TestRateLimit(t *testing.T) {
	s := newSetting(t)
	reset := time.Now().Add(time.Hour).Truncate(time.Second)
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("X-RateLimit-Limit", "5000")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(reset.Unix()))
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"message":"API rate limit exceeded"}`)
		return true
	}
	_, err := s.client.PullRequest(t.Context(), 1)
	var limited *github.RateLimitedError
	if !errors.As(err, &limited) || !limited.Until.Equal(reset) {
		t.Errorf("error: %v", err)
	}
}
