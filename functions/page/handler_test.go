package page

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

func TestPagesShow(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: talker{newMemory()}, Title: "Demo", About: "About **it**", Guide: "Try `lockstep apply`"})
	for path, want := range map[string][]string{
		"/":                           {"About <strong>it</strong>", "Two subnets", "acme/infra #7 by alice", "at <code>abababa</code>", "waits for apply"},
		"/acme/infra/pull/7":          {"pushed subnets", "<h3>Plan</h3>", "edited", "lockstep apply", "👀", `selected>alice, who may write<`, "Merge", "Try <code>lockstep apply</code>", "lockstep/network"},
		"/acme/infra/pull/7/checks":   {"lockstep/network", "success", "<strong>fine</strong>", "more"},
		"/acme/infra/pull/7/files":    {"network/a.tf", `<span class="line-add">+new`, `<span class="line-del">-old`, "+1", "−1"},
		"/acme/infra/pull/7/projects": {"network", "2 to add", "<strong>Plan:</strong>", "State", "/acme/infra/pull/7/plan/network", "/acme/infra/pull/7/steps/network"},

		"/acme/infra/pull/7/plan/network":  {`<span class="line-add">  + a`, `<span class="line-note">  # a will`, "0.1 kB"},
		"/acme/infra/pull/7/steps/network": {"The output of the steps of network", "    - a &#34;"},
	} {
		a := ask(t, "GET", s.URL+path, nil, nil)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		for _, w := range want {
			if !strings.Contains(a.body, w) {
				t.Errorf("%s does not show %q:\n%s", path, w, a.body)
			}
		}
	}
	raw := ask(t, "GET", s.URL+"/acme/infra/pull/7/plan/network?raw", nil, nil)
	if raw.header.Get("Content-Type") != "text/plain; charset=utf-8" || raw.body != "  # a will be created\n  + a "+harm+"\n" {
		t.Errorf("raw: %v", raw)
	}
}

// Whatever the names, branches, paths, comments and plans are: of scripts there is
// ours alone, no attribute is a handler, and no link leads into a script.
func TestPagesAreSafe(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: talker{newMemory()}})
	const pull = "/acme/infra/pull/7"
	for _, path := range []string{"/", pull, pull + "/checks", pull + "/files", pull + "/projects", pull + "/plan/network", pull + "/steps/network", "/nowhere" + url.PathEscape(harm)} {
		a := ask(t, "GET", s.URL+path, nil, nil)
		checkSafe(t, path, a)
	}
	refused := ask(t, "POST", s.URL+pull, url.Values{"do": {"merge"}, "as": {harm}, "text": {"</textarea>" + harm}}, nil)
	if refused.status != http.StatusConflict || !strings.Contains(refused.body, "It has conflicts") {
		t.Errorf("refused: %d", refused.status)
	}
	checkSafe(t, "refused", refused)
}

func checkSafe(t *testing.T, name string, a answer) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" {
			scripts++
		}
		for _, attr := range n.Attr {
			if strings.HasPrefix(attr.Key, "on") || attr.Key == "style" || strings.Contains(attr.Val, "javascript:") {
				t.Errorf("%s: <%s %s=%q>", name, n.Data, attr.Key, attr.Val)
			}
		}
	}
	if scripts != 1 {
		t.Errorf("%s: %d scripts", name, scripts)
	}
	for _, h := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cache-Control"} {
		if a.header.Get(h) == "" {
			t.Errorf("%s: no %s", name, h)
		}
	}
	if csp := a.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("%s: %s", name, csp)
	}
}

func TestActing(t *testing.T) {
	t.Parallel()
	m := newMemory()
	s := serve(t, Handler{Site: talker{m}})
	address := s.URL + "/acme/infra/pull/7"
	a := ask(t, "POST", address, url.Values{"do": {"comment"}, "as": {"mallory"}, "text": {"one\r\ntwo"}}, nil)
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/acme/infra/pull/7#say" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	want := []Action{{Pull: PullID{"acme", "infra", 7}, As: "mallory", Name: Comment, Text: "one\ntwo"}}
	if d := cmp.Diff(want, m.actions); d != "" {
		t.Error(d)
	}
	// Who spoke last speaks next.
	cookie := a.header.Get("Set-Cookie")
	if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Errorf("cookie %s", cookie)
	}
	again := ask(t, "GET", address, nil, func(r *http.Request) { r.Header.Set("Cookie", strings.Split(cookie, ";")[0]) })
	if !strings.Contains(again.body, "selected>mallory, who may read<") {
		t.Error("mallory does not go on speaking")
	}
	empty := ask(t, "POST", address, url.Values{"do": {"comment"}, "as": {"alice"}, "text": {" \n"}}, nil)
	if empty.status != http.StatusConflict || len(m.actions) != 1 {
		t.Errorf("an empty comment: %d", empty.status)
	}
	long := ask(t, "POST", address, url.Values{"do": {"comment"}, "as": {"alice"}, "text": {strings.Repeat("x", maxForm)}}, nil)
	if long.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long comment: %d", long.status)
	}
}

func TestActingFromElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	m := newMemory()
	s := serve(t, Handler{Site: talker{m}})
	for name, headers := range map[string]map[string]string{
		"another site":         {"Sec-Fetch-Site": "cross-site"},
		"another of its hosts": {"Sec-Fetch-Site": "same-site"},
		"an older browser":     {"Origin": "https://evil.example"},
		"an opaque origin":     {"Origin": "null"},
	} {
		a := ask(t, "POST", s.URL+"/acme/infra/pull/7", url.Values{"do": {"comment"}, "as": {"alice"}, "text": {"lockstep apply"}}, func(r *http.Request) {
			for k, v := range headers {
				r.Header.Set(k, v)
			}
		})
		if a.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if len(m.actions) > 0 {
		t.Errorf("done: %v", m.actions)
	}
}

// A site that nobody can act on has neither a form nor anything behind it.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.pull.Speakers, m.pull.Entries, m.pull.Files, m.pull.Checks = nil, nil, nil, nil
	s := serve(t, Handler{Site: m})
	address := s.URL + "/acme/infra/pull/7"
	a := ask(t, "GET", address, nil, nil)
	if a.status != http.StatusOK || strings.Contains(a.body, "<form") || !strings.Contains(a.body, "<strong>Plan:</strong>") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := ask(t, "POST", address, url.Values{"do": {"comment"}, "text": {"x"}}, nil); a.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", a.status)
	}
	if a := ask(t, "GET", address+"/files", nil, nil); a.status != http.StatusNotFound {
		t.Errorf("files: %d", a.status)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.fault = errors.New("the disk says: s3cr3t")
	var logged []error
	s := serve(t, Handler{Site: talker{m}, Log: func(err error) { logged = append(logged, err) }})
	for path, want := range map[string]int{
		"/": 500, "/acme/infra/pull/7": 500, "/acme/infra/pull/7/plan/network": 500,
		"/acme/infra/pull/8": 404, "/acme/infra/pull/x": 404, "/acme/infra/pull/0": 404, "/x": 404,
		"/acme/infra/pull/7/plan/app": 404, "/acme/infra/pull/7/steps/app": 404, "/acme/infra/pull/7/text/network": 404, "/static/none": 404,
	} {
		a := ask(t, "GET", s.URL+path, nil, nil)
		if a.status != want || strings.Contains(a.body, "s3cr3t") {
			t.Errorf("%s: %d\n%s", path, a.status, a.body)
		}
	}
	if len(logged) != 3 {
		t.Errorf("logged %d times", len(logged))
	}
}

func TestStaticFiles(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: newMemory()})
	for path, kind := range map[string]string{"/static/page.css": "text/css", "/static/page.js": "text/javascript", "/static/icon.svg": "image/svg"} {
		if a := ask(t, "GET", s.URL+path, nil, nil); a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %v", path, a.status, a.header)
		}
	}
}

// TestScript holds that the script reads the same part of a list again that the reader sees, and goes on after a request that
// has failed.
func TestScript(t *testing.T) {
	t.Parallel()
	script, err := static.ReadFile("static/page.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fetch(location.pathname + location.search,", "} catch {"} {
		if !strings.Contains(string(script), want) {
			t.Errorf("the script lacks %q", want)
		}
	}
}
