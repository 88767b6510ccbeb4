package page

import (
	"bytes"
	"html/template"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// converter renders the Markdown of comments: GitHub Flavored Markdown, with line breaks as typed. By default,
// the library leaves out raw HTML and harmful links. Here, the renderer [safely] shows them as text.
// Source: https://github.github.com/gfm/
var converter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithRendererOptions(html.WithHardWraps(),
			renderer.WithNodeRenderers(util.Prioritized(codeBlocks{}, 100), util.Prioritized(safely{}, 100))),
	)
})

// markdown renders an untrusted text as harmless HTML.
func markdown(text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := converter().Convert([]byte(text), &b); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// safely is the renderer for the parts of Markdown that could do harm:
//   - It escapes raw HTML. Some tags are then allowed, if they are spelled exactly as in a list and have no
//     attributes. (Parts of tables are not allowed, because browsers move them elsewhere.)
//   - Links may only lead to complete addresses.
//   - Images become their alternative texts, because a browser would load them from anywhere.
//
// A sanitizer such as bluemonday would remove unknown tags. Here they stay as text, because plans and error
// messages contain many: <sensitive>, <computed>.
type safely struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (safely) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, renderRaw)
	r.Register(ast.KindHTMLBlock, renderRawBlock)
	r.Register(ast.KindLink, renderLink)
	r.Register(ast.KindAutoLink, renderAutoLink)
	r.Register(table.KindTable, renderTable)
	r.Register(ast.KindImage, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkContinue, nil
	})
}

// renderTable renders a table that the keyboard can scroll: it may be wider than the window.
func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString("<table tabindex=\"0\">\n")
	} else {
		w.WriteString("</table>\n")
	}
	return ast.WalkContinue, nil
}

// allowed replaces escaped tags by the tags themselves, if they are allowed.
var allowed = sync.OnceValue(func() *strings.Replacer {
	var list []string
	for _, name := range []string{"p", "br", "hr", "b", "i", "strong", "em", "del", "ins", "s", "sub", "sup", "kbd", "samp",
		"var", "code", "pre", "blockquote", "ul", "ol", "li", "details", "summary"} {
		list = append(list, "&lt;"+name+"&gt;", "<"+name+">", "&lt;/"+name+"&gt;", "</"+name+">")
	}
	list = append(list, "&lt;br/&gt;", "<br>", "&lt;br /&gt;", "<br>", "&lt;details open&gt;", "<details open>")
	return strings.NewReplacer(list...)
})

var htmlComment = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)

// rawHTML returns raw HTML in which only allowed tags are tags. All other tags are escaped, and so shown as
// text.
func rawHTML(text string) string {
	return allowed().Replace(template.HTMLEscapeString(htmlComment.ReplaceAllString(text, "")))
}

func renderRaw(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(rawHTML(string(node.(*ast.RawHTML).Segments.Value(source))))
	}
	return ast.WalkSkipChildren, nil
}

func renderRawBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		block := node.(*ast.HTMLBlock)
		text := block.Lines().Value(source)
		if block.HasClosure() {
			text = append(text, block.ClosureLine.Value(source)...)
		}
		w.WriteString(rawHTML(string(text)))
	}
	return ast.WalkContinue, nil
}

func renderLink(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	to := string(node.(*ast.Link).Destination)
	switch {
	case !whole(to):
	case entering:
		openLink(w, to)
	default:
		w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

func renderAutoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := node.(*ast.AutoLink)
	to, label := string(link.URL(source)), template.HTMLEscapeString(string(link.Label(source)))
	if link.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(to), "mailto:") {
		to = "mailto:" + to
	}
	if !whole(to) {
		w.WriteString(label)
		return ast.WalkContinue, nil
	}
	openLink(w, to)
	w.WriteString(label + "</a>")
	return ast.WalkContinue, nil
}

// openLink writes the beginning of a link. Its attributes prevent the linked site from learning where the
// reader comes from.
func openLink(w util.BufWriter, to string) {
	w.WriteString(`<a href="` + template.HTMLEscapeString(string(util.URLEscape([]byte(to), true))) + `" rel="nofollow noreferrer">`)
}

// whole reports whether an address is complete: it begins with http, https or mailto.
func whole(to string) bool {
	u, err := url.Parse(to)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	}
	return u.Scheme == "mailto"
}

// codeBlocks is the renderer for fenced code. Each line of a diff becomes a span, so that it can have a colour. A
// flowchart becomes a picture.
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
	if string(block.Language(source)) == "mermaid" {
		if svg, ok := flowchart(text.String()); ok {
			w.WriteString(`<div class="block-picture" tabindex="0">` + string(svg) + "</div>\n")
			return ast.WalkSkipChildren, nil
		}
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
