package page

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// book is a documentation of one page.
type book map[string]string

func (b book) Page(topic string) (string, bool) {
	text, ok := b[topic]
	return text, ok
}

func (b book) Search(words string) []Found {
	if strings.Contains(words, "nothing") {
		return nil
	}
	return []Found{
		{"guide/order", "Do a task", "Order" + harm, "How `projects` wait." + harm},
		{"guide/order#two-waves", "Do a task", "Order: two waves", "Words: " + words},
		{"explain/why", "Understand", "Why", "Because."},
	}
}

var testBook = book{"guide/order": "# Order of `projects`\n\nSee [limits](../operate/limits.md#size-1), [below](#two-waves), [there](https://example.com/x), [code](../../../main.go),\n[out](../../../../etc/passwd.md), [bad](javascript:alert(1)), [root](/etc/passwd.md) " + harm + "\n\n" +
	"## Two waves\n\n| a | b |\n|---|---|\n| `x` | y |\n\n```hcl lockstep.hcl\nproject \"<b>\" {}\n```\n\n<!-- projects: net -->\n\n## Two waves\n\n```diff\n+ a\n```\n\n### \"Quoted\" <i>\n"}

func TestManual(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: newMemory(), Manual: testBook, Title: "runs"})
	a := ask(t, "GET", s.URL+"/docs/guide/order", nil, nil)
	checkSafe(t, "a page", a)
	for _, want := range []string{
		`<h1 id="order-of-projects">Order of <code>projects</code></h1>`, `<h2 id="two-waves">Two waves <a class="anchor" href="#two-waves"`, `<h2 id="two-waves-1">`, `<h3 id="quoted-i">`,
		`<a href="/docs/operate/limits#size-1"`, `<a href="#two-waves"`, `<a href="https://example.com/x"`, `<td><code>x</code></td>`, `project &#34;&lt;b&gt;&#34;`, `<span class="line-add">`,
		`<title>Order of `, `<a class="to-docs" href="/docs">Documentation</a>`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %s:\n%s", want, a.body)
		}
	}
	for _, bad := range []string{"passwd\"", "passwd.md\"", "main.go\"", "projects: net", "<script>alert"} {
		if strings.Contains(a.body, bad) {
			t.Errorf("%s: %s", bad, a.body)
		}
	}
	a = ask(t, "GET", s.URL+"/docs", nil, nil)
	checkSafe(t, "the list", a)
	if strings.Count(a.body, "<h2>Do a task</h2>") != 1 || !strings.Contains(a.body, `<a href="/docs/guide/order">Order`) || !strings.Contains(a.body, "How <code>projects</code> wait.") {
		t.Error(a.body)
	}
	a = ask(t, "GET", s.URL+"/docs?q="+url.QueryEscape("two "+harm), nil, nil)
	checkSafe(t, "a search", a)
	if strings.Contains(a.body, "<h2>Do a task") || !strings.Contains(a.body, `href="/docs/guide/order#two-waves"`) || !strings.Contains(a.body, `value="two &#34;&gt;&lt;script&gt;`) {
		t.Error(a.body)
	}
	if a = ask(t, "GET", s.URL+"/docs?q=nothing", nil, nil); !strings.Contains(a.body, "No page has all of these words") {
		t.Error(a.body)
	}
	if a = ask(t, "GET", s.URL+"/docs?q="+strings.Repeat("x", 100_000), nil, nil); a.status != http.StatusOK || strings.Contains(a.body, strings.Repeat("x", maxQuery+1)) {
		t.Errorf("a long search: %d, %d bytes", a.status, len(a.body))
	}
}

// Hostile and unknown topics are not found, or lead elsewhere.
func TestManualUnknown(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: newMemory(), Manual: testBook})
	for _, path := range []string{
		"/docs/guide/none", "/docs/none/order", "/docs/guide", "/docs/guide/order/more", "/docs/guide/order.md", "/docs/guide/%2e%2e", "/docs/..%2f..%2fetc/passwd", "/docs/guide%2forder/x",
		"/docs/guide/%3Cscript%3Ealert(1)%3C%2fscript%3E", "/docs/guide/order%00", "/docs/guide/" + strings.Repeat("x", 5000),
	} {
		a := ask(t, "GET", s.URL+path, nil, nil)
		if a.status != http.StatusNotFound || strings.Contains(a.body, "<script>alert") {
			t.Errorf("%s: %d\n%s", path, a.status, a.body)
		}
	}
	if a := ask(t, "POST", s.URL+"/docs", url.Values{"q": {"x"}}, nil); a.status != http.StatusMethodNotAllowed && a.status != http.StatusNotFound {
		t.Errorf("POST: %d", a.status)
	}
}

// The documentation needs no token, and opens nothing else. A site without one has no link to it.
func TestManualNeedsNoToken(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: newMemory(), Manual: testBook, Door: Access{Token: testToken, Hosts: []string{"lockstep.example"}}})
	for path, want := range map[string]int{"/docs": 200, "/docs/guide/order": 200, "/docs/guide/none": 404, "/": 401, "/docs/../": 307, "/acme/infra/pull/7": 401, "/docs/guide/order/../../../": 307} {
		if a := ask(t, "GET", s.URL+path, nil, func(r *http.Request) { r.Host = "lockstep.example" }); a.status != want || strings.Contains(a.body, "Two subnets") {
			t.Errorf("%s: %d, want %d\n%s", path, a.status, want, a.body)
		}
	}
	s = serve(t, Handler{Site: newMemory()})
	if a := ask(t, "GET", s.URL+"/", nil, nil); strings.Contains(a.body, "/docs") {
		t.Error("a link to a documentation that is not there")
	}
	if a := ask(t, "GET", s.URL+"/docs", nil, nil); a.status != http.StatusNotFound {
		t.Errorf("no documentation: %d", a.status)
	}
}
