package page

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

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
			golden := strings.TrimSuffix(name, ".md") + ".html"
			if *update {
				if err := os.WriteFile(golden, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(out)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What somebody could write to make the page theirs.
func TestMarkdownCanDoNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, without string }{
		"script":             {"<script>alert(1)</script>", "<script"},
		"script in a block":  {"<details><script>alert(1)</script></details>", "<script"},
		"handler":            {`<details ontoggle="alert(1)" open><summary onclick=alert(1)>x</summary></details>`, "alert"},
		"javascript link":    {"[x](javascript:alert(1))", "href"},
		"javascript anchor":  {`<a href="javascript:alert(1)">x</a>`, "href"},
		"data link":          {"[x](data:text/html,<script>alert(1)</script>)", "href"},
		"image":              {"![x](https://evil.example/count.png)", "evil"},
		"raw image":          {`<img src=x onerror=alert(1)>`, "<img"},
		"style":              {`<p style="position:fixed">x</p>`, "style="},
		"style sheet":        {"<style>body{display:none}</style>", "<style"},
		"form":               {`<form action="https://evil.example"><button name=do value=merge>x</button></form>`, "<form"},
		"button":             {`<button name="do" value="merge" form="say">x</button>`, "<button"},
		"text field":         {`<input type="text" name="as" form="say">`, `type="text"`},
		"frame":              {`<iframe src="https://evil.example"></iframe>`, "<iframe"},
		"id":                 {`<p id="say">x</p>`, "id="},
		"name":               {`<a name="say">x</a>`, "name="},
		"our classes":        {`<p class="notice">x</p>`, "class="},
		"data attribute":     {`<p data-live>x</p>`, "data-live"},
		"base":               {`<base href="https://evil.example/">`, "<base"},
		"meta":               {`<meta http-equiv="refresh" content="0;url=https://evil.example">`, "<meta"},
		"vector":             {`<svg><a href="javascript:alert(1)"><text>x</text></a></svg>`, "<svg"},
		"relative link":      {"[x](/acme/infra/pull/1)", "href"},
		"end of a code span": {"```diff\n+ </code></pre><script>alert(1)</script>\n```", "<script"},
		"end of plain code":  {"```\n</code></pre><script>alert(1)</script>\n```", "<script"},
		"language":           {"```\"><script>alert(1)</script>\nx\n```", "<script"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := markdown(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(out), c.without) {
				t.Errorf("%s is let through:\n%s", c.without, out)
			}
		})
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
