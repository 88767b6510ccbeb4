package page

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// Each testdata/NAME.md renders as NAME.html.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out, err := markdown(string(src))
			if err != nil {
				t.Fatal(err)
			}
			golden.File(t, strings.TrimSuffix(name, ".md")+".html", string(out))
		})
	}
}

// hostile is what somebody could write to make the page theirs.
var hostile = map[string]string{
	"script":                        "<script>alert(1)</script>",
	"script in a block":             "<details><script>alert(1)</script></details>",
	"handler":                       `<details ontoggle="alert(1)" open><summary onclick=alert(1)>x</summary></details>`,
	"javascript link":               "[x](javascript:alert(1))",
	"javascript with a host":        "[x](javascript://example.com/%0aalert(1))",
	"javascript anchor with a host": `<a href="javascript://example.com/%0aalert(1)">x</a>`,
	"a scheme of an app's":          "[x](vscode://file/x)",
	"javascript anchor":             `<a href="javascript:alert(1)">x</a>`,
	"data link":                     "[x](data:text/html,<script>alert(1)</script>)",
	"image":                         "![x](https://evil.example/count.png)",
	"raw image":                     `<img src=x onerror=alert(1)>`,
	"style":                         `<p style="position:fixed">x</p>`,
	"style sheet":                   "<style>body{display:none}</style>",
	"form":                          `<form action="https://evil.example"><button name=do value=merge>x</button></form>`,
	"button":                        `<button name="do" value="merge" form="say">x</button>`,
	"text field":                    `<input type="text" name="as" form="say">`,
	"frame":                         `<iframe src="https://evil.example"></iframe>`,
	"id":                            `<p id="say">x</p>`,
	"name":                          `<a name="say">x</a>`,
	"our classes":                   `<p class="notice">x</p>`,
	"data attribute":                `<p data-live>x</p>`,
	"base":                          `<base href="https://evil.example/">`,
	"meta":                          `<meta http-equiv="refresh" content="0;url=https://evil.example">`,
	"vector":                        `<svg><a href="javascript:alert(1)"><text>x</text></a></svg>`,
	"relative link":                 "[x](/acme/infra/pull/1)",
	"end of a code span":            "```diff\n+ </code></pre><script>alert(1)</script>\n```",
	"end of plain code":             "```\n</code></pre><script>alert(1)</script>\n```",
	"language":                      "```\"><script>alert(1)</script>\nx\n```",
	"end of the box":                "</div></article></details></p><p>x",
	"table":                         "<table><tr><td>x",
	"comment":                       "a <!-- b --> c <!-- <script>alert(1)</script>",
	"half a tag":                    "<details\n<script>alert(1)</script>",
	"escaped twice":                 "&lt;script&gt;alert(1)&lt;/script&gt; &amp;lt;details&amp;gt;",
	"mail":                          "<a@example.com> mailto:a@example.com?subject=%0a",
	"a picture":                     "```mermaid\nflowchart LR\nn0[\"a#60;#47;text#62;#60;script#62;#34;\"]\nn1[\"</title><script>alert(1)</script>\"]\nn0 --> n1\nn1 --> n0\nclass n1 changed\n```",
	"a picture with more":           "```mermaid\nflowchart LR\nn0[\"a\"]\nclick n0 href \"javascript:alert(1)\"\n```",
	"protocol in a URL":             "[x](//evil.example/a) [y](https:evil) [z](ht\ttps://a.example)",
}

func TestMarkdownCanDoNothing(t *testing.T) {
	t.Parallel()
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := markdown(text)
			if err != nil {
				t.Fatal(err)
			}
			harmless(t, string(out))
		})
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := markdown(text)
		if err != nil {
			t.Fatal(err)
		}
		harmless(t, string(out))
	})
}

// attributes are those that what is rendered may have, by element, and their values.
var attributes = func() map[string]map[string]*regexp.Regexp {
	any := func(text string) *regexp.Regexp { return regexp.MustCompile(`^(` + text + `)$`) }
	out := map[string]map[string]*regexp.Regexp{
		"a":       {"href": any(`https?://[^/].*|mailto:.*`), "rel": any(`nofollow noreferrer`)},
		"input":   {"type": any(`checkbox`), "checked": any(``), "disabled": any(``)},
		"th":      {"align": any(`left|right|center`)},
		"td":      {"align": any(`left|right|center`)},
		"ol":      {"start": any(`[0-9]+`)},
		"details": {"open": any(``)},
		"pre":     {"class": any(`block-(diff|code)`), "tabindex": any(`0`)},
		"div":     {"class": any(`block-picture`), "tabindex": any(`0`)},
		"svg":     {"class": any(`flowchart`), "role": any(`img`), "aria-label": any(`Flowchart of [0-9]+ boxes`), "viewbox": any(`[0-9 ]+`), "viewBox": any(`[0-9 ]+`), "width": any(`[0-9]+`), "height": any(`[0-9]+`)},
		"g":       {"class": any(`box( changed)?`)},
		"rect":    {"x": any(`[0-9]+`), "y": any(`[0-9]+`), "width": any(`[0-9]+`), "height": any(`30`), "rx": any(`6`)},
		"text":    {"x": any(`[0-9]+`), "y": any(`[0-9]+`)},
		"path":    {"class": any(`arrow|head`), "d": any(`[-MClvz0-9 ]+`)},
		"title":   nil,
		"span":    {"class": any(`line-(add|del|change|note|hunk)`)},
	}
	for _, name := range strings.Fields("h1 h2 h3 h4 h5 h6 p br hr b i strong em del ins s sub sup kbd samp var code blockquote ul li table thead tbody tr summary") {
		out[name] = nil
	}
	return out
}()

// harmless parses what was rendered as a browser does, within a box as on the page, and
// looks for what should not be there, or is outside of the box.
func harmless(t *testing.T, out string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader("<html><head></head><body><article><div>" + out + "</div></article><footer></footer></body></html>"))
	if err != nil {
		t.Fatal(err)
	}
	outer := []string{"html", "head", "body", "article", "div", "footer"}
	var last *html.Node
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			if n.Type == html.CommentNode || n.Type == html.DoctypeNode {
				t.Errorf("a comment in\n%s", out)
			}
			continue
		}
		last = n
		if len(n.Attr) == 0 && slices.Contains(outer, n.Data) {
			continue
		}
		allowed, ok := attributes[n.Data]
		if !ok {
			t.Errorf("<%s> in\n%s", n.Data, out)
		}
		for _, a := range n.Attr {
			if allowed[a.Key] == nil || !allowed[a.Key].MatchString(a.Val) {
				t.Errorf("<%s %s=%q> in\n%s", n.Data, a.Key, a.Val, out)
			}
		}
	}
	if last == nil || last.Data != "footer" || last.Parent.Data != "body" {
		t.Errorf("the box is broken by\n%s", out)
	}
}

func TestLinksTellNothing(t *testing.T) {
	t.Parallel()
	out, err := markdown("see https://example.com/x")
	if want := `<a href="https://example.com/x" rel="nofollow noreferrer">`; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%s (%v)", out, err)
	}
}

func TestSigns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of         func(string) string
		line, want string
	}{
		{diffSign, "+ a", "add"}, {diffSign, "- a", "del"}, {diffSign, "! a", "change"}, {diffSign, "# a", "note"},
		{diffSign, "@@ -1 +1 @@", "hunk"}, {diffSign, "-/+ resource", "change"}, {diffSign, "  + a", ""}, {diffSign, "", ""},
		{planSign, `  + resource "x" "y" {`, "add"}, {planSign, "      ~ input = 1 -> 2", "change"},
		{planSign, "-/+ resource", "change"}, {planSign, "+/- resource", "change"}, {planSign, "  - a = 1 -> null", "del"},
		{planSign, "  # x will be created", "note"}, {planSign, " <= data", "add"}, {planSign, "    }", ""},
		{planSign, "-", ""}, {planSign, "Plan: 1 to add", ""}, {planSign, "+nothing", ""},
	} {
		if got := c.of(c.line); got != c.want {
			t.Errorf("%q is %q, want %q", c.line, got, c.want)
		}
	}
}
