package page

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A Manual is the documentation that a site shows under /docs, to everybody who reaches the server.
type Manual interface {
	// Page returns the Markdown of a topic, such as "guide/order"; ok is false if there is no such topic.
	Page(topic string) (markdown string, ok bool)
	// Search returns the pages and sections that contain all words, the best first. For "" it returns all pages
	// in their order.
	Search(words string) []Found
}

// A Found is a page of the documentation, or a section of one.
type Found struct {
	Topic   string // "guide/order", or "guide/order#outputs-of-other-projects"
	Part    string // the part of the documentation that has it: "Do a task"
	Title   string
	Excerpt string // Markdown: the first sentence of a page, or the line of a section that has the words
}

// A part is a heading in the list of pages, with the pages below it.
type part struct {
	Title string
	Found []Found
}

// Parts returns the list of pages, grouped by the parts of the documentation. For a search it returns the
// results, in their order.
func (f frame) Parts() (out []part) {
	for _, x := range f.Found {
		title := x.Part
		if f.Query != "" {
			title = ""
		}
		if n := len(out); n == 0 || out[n-1].Title != title {
			out = append(out, part{Title: title})
		}
		out[len(out)-1].Found = append(out[len(out)-1].Found, x)
	}
	return out
}

const (
	docsPath = "/docs"
	// maxQuery is the maximum length of a search text, in bytes. maxFound is the maximum number of results.
	maxQuery = 200
	maxFound = 50
)

// docs shows the list of the documentation's pages, or the results of a search in them.
func (h Handler) docs(w http.ResponseWriter, r *http.Request) {
	query := query(r)
	found := h.Manual.Search(query)
	if query != "" {
		found = found[:min(len(found), maxFound)]
	}
	h.write(w, r, http.StatusOK, "docs", frame{Title: h.Title, Subject: "Documentation", Query: query, Found: found})
}

// query returns the text of a search.
func query(r *http.Request) string {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(text) > maxQuery {
		text = strings.ToValidUTF8(text[:maxQuery], "")
	}
	return strings.TrimSpace(text)
}

// topic shows a page of the documentation.
func (h Handler) topic(w http.ResponseWriter, r *http.Request) {
	topic := r.PathValue("folder") + "/" + r.PathValue("topic")
	source, ok := h.Manual.Page(topic)
	if !ok {
		h.fail(w, r, ErrNotFound)
		return
	}
	text, err := manualHTML(topic, source)
	if err != nil {
		h.fail(w, r, fmt.Errorf("show the documentation %s: %w", topic, err))
		return
	}
	title, _, _ := strings.Cut(strings.TrimPrefix(source, "# "), "\n")
	h.write(w, r, http.StatusOK, "topic", frame{Title: h.Title, Subject: title, Manual: text})
}

// Slug returns the anchor of a heading, as GitHub makes it: lower case, without punctuation, with hyphens for
// spaces.
// Source: https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#section-links
func Slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// slugs are the anchors of a page that are already used. The value says how many headings have had this text.
type slugs map[string]int

// Generate implements [parser.IDs].
func (s slugs) Generate(heading []byte, _ ast.NodeKind) []byte {
	slug := Slug(string(heading))
	s[slug]++
	if n := s[slug]; n > 1 {
		return fmt.Appendf(nil, "%s-%d", slug, n-1)
	}
	return []byte(slug)
}

// Put implements [parser.IDs].
func (s slugs) Put([]byte) {}

// manualConverter renders the documentation's Markdown. It differs from the converter for comments: a line
// break is a space, headings have anchors, and links to other pages are possible.
var manualConverter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Linkify, extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(manualNodes{}, 50), util.Prioritized(codeBlocks{}, 100), util.Prioritized(safely{}, 100))),
	)
})

// manualHTML renders a page of the documentation.
func manualHTML(topic, markdown string) (template.HTML, error) {
	source := []byte(markdown)
	doc := manualConverter().Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(slugs{}))))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(manualLink(topic, string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := manualConverter().Renderer().Render(&b, source, doc); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// manualLink returns the address for a link in the documentation. topic is the page with the link. A link to
// another page or section leads below /docs. A complete address is returned unchanged. For any other link the
// result is "".
func manualLink(topic, to string) string {
	target, anchor, part := strings.Cut(to, "#")
	if part {
		anchor = "#" + anchor
	}
	page, isPage := strings.CutSuffix(path.Join(docsPath, path.Dir(topic), target), ".md")
	switch {
	case whole(to), target == "" && part:
		return to
	case isPage && !strings.HasPrefix(target, "/") && strings.HasPrefix(page, docsPath+"/"):
		return page + anchor
	}
	return ""
}

// manualNodes is the renderer for links in the documentation, and for headings with anchors.
type manualNodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (manualNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		level := node.(*ast.Heading).Level
		id, _ := node.AttributeString("id")
		anchor, _ := id.([]byte)
		slug := template.HTMLEscapeString(string(anchor))
		switch {
		case entering:
			fmt.Fprintf(w, `<h%d id="%s">`, level, slug)
		case level > 1:
			fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-label="Link to this section">#</a></h%d>`+"\n", slug, level)
		default:
			fmt.Fprintf(w, "</h%d>\n", level)
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		to := string(node.(*ast.Link).Destination)
		switch {
		case to == "":
		case entering:
			openLink(w, to)
		default:
			w.WriteString("</a>")
		}
		return ast.WalkContinue, nil
	})
}
