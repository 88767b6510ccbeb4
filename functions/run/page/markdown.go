package page

import (
	"bytes"
	"html/template"
	"regexp"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// Comments are GitHub Flavored Markdown with line breaks as typed, and raw HTML, which
// the sanitizer looks at afterwards.
// Source: https://github.github.com/gfm/
var converter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(html.WithUnsafe(), html.WithHardWraps(),
			renderer.WithNodeRenderers(util.Prioritized(codeBlocks{}, 100))),
	)
})

// sanitizer lets through what GitHub lets through of HTML in comments, but images,
// which would be fetched from anywhere, and names, which could be those of our own
// elements.
// Source: https://github.com/gjtorikian/html-pipeline, the allow-list of its sanitizer
var sanitizer = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "b", "i", "strong", "em", "del", "ins", "s",
		"sub", "sup", "kbd", "samp", "var", "code", "pre", "blockquote", "ul", "ol", "li", "dl", "dt", "dd",
		"table", "thead", "tbody", "tfoot", "tr", "th", "td", "details", "summary", "span")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("colspan", "rowspan").Matching(bluemonday.Integer).OnElements("th", "td")
	p.AllowAttrs("open").Matching(regexp.MustCompile(`^(|open)$`)).OnElements("details")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^block-(diff|code)$`)).OnElements("pre")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre") // to scroll with keys
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^line-(add|del|change|note|hunk)$`)).OnElements("span")
	// The boxes of task lists.
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").Matching(regexp.MustCompile(`^$`)).OnElements("input")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(false)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return p
})

// markdown renders a text by anybody. What comes out can do nothing.
func markdown(text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := converter().Convert([]byte(text), &b); err != nil {
		return "", err
	}
	return template.HTML(sanitizer().SanitizeBytes(b.Bytes())), nil
}

// codeBlocks renders fenced code: a diff with a span a line, so that it has colours.
type codeBlocks struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (codeBlocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
}

func renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := node.(*ast.FencedCodeBlock)
	var text bytes.Buffer
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		text.Write(line.Value(source))
	}
	if string(block.Language(source)) == "diff" {
		w.WriteString(`<pre class="block-diff" tabindex="0"><code>`)
		w.WriteString(string(diffHTML(text.String())))
	} else {
		w.WriteString(`<pre class="block-code" tabindex="0"><code>`)
		w.WriteString(template.HTMLEscapeString(text.String()))
	}
	w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}
