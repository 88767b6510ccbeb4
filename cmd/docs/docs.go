// Package docs has the documentation: the Markdown pages beside this file, each of which answers one question,
// as [Pages]. `lockstep docs` prints them, and package page shows them under /docs.
//
// README.md lists the pages, for readers on GitHub. README.md and the pages in reference/ are generated from
// tables in the code, by tests that compare them. Tests of cmd/lockstep run every example. The package knows no
// command and no setting. Start at [Read].
package docs

import (
	"embed"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agext/levenshtein"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/page"
)

//go:embed */*.md
var files embed.FS

// Pages are pages of the documentation, in the order of README.md.
type Pages []Page

// parts are the folders of the documentation, in the order of README.md. title says what a reader does with the
// pages of the folder. first names the pages that are listed first; the others follow, sorted by name.
var parts = []struct{ folder, title, first string }{
	{"start", "Begin", "try own-repository install deploy deploy-options first-pull-request more-accounts"},
	{"from", "Come from another tool", ""},
	{"guide", "Do a task", "projects monorepos environments secrets order requirements policies steps gates-and-hooks notifications merging"},
	{"operate", "Operate an installation", "symptoms alarms stop-everything"},
	{"reference", "Look something up", "settings comments commands messages"},
	{"explain", "Understand how it works", "pull-request plans-and-locks"},
}

// A Page is a page of the documentation. It answers one question.
type Page struct {
	Topic string // "guide/order"
	Part  string // of the documentation: "Do a task"
	Title string
	About string // the first sentence, without the words "This page shows"
	Text  string // Markdown
	// Sections are the sections below headings of the second to the fourth level, in their order.
	Sections []Section
}

// A Section is a heading and the text below it, up to the next heading of the same or a higher level.
type Section struct {
	Anchor  string // as GitHub makes it from the heading
	Heading string
	Text    string // Markdown, with the heading
}

// Read returns all pages of the documentation, in the order of README.md.
func Read() Pages {
	names, _ := fs.Glob(files, "*/*.md")
	var all Pages
	for _, name := range names {
		text, _ := files.ReadFile(name) // embedded
		all = append(all, parse(strings.TrimSuffix(name, ".md"), string(text)))
	}
	slices.SortStableFunc(all, func(x, y Page) int { return slices.Compare(x.place(), y.place()) })
	return all
}

// place returns a page's sort key for the list of pages: the position of its folder in [parts], then the
// position of the page in that folder.
func (p Page) place() []int {
	for i, part := range parts {
		if first := strings.Fields(part.first); part.title == p.Part {
			at := slices.Index(first, path.Base(p.Topic))
			if at < 0 {
				at = len(first)
			}
			return []int{i, at}
		}
	}
	return []int{len(parts)}
}

// heading matches a Markdown heading: its level and its text.
var heading = regexp.MustCompile(`^(#{1,4}) (.*\S)\s*$`)

// parse returns the page with the given Markdown text: it finds the title, the part and the sections.
func parse(topic, text string) Page {
	p := Page{Topic: topic, Text: text}
	for _, part := range parts {
		if part.folder == path.Dir(topic) {
			p.Part = part.title
		}
	}
	type open struct{ section, level, start int }
	var stack []open
	end := func(level, at int) {
		for len(stack) > 0 && stack[len(stack)-1].level >= level {
			o := stack[len(stack)-1]
			p.Sections[o.section].Text, stack = text[o.start:at], stack[:len(stack)-1]
		}
	}
	seen := map[string]int{}
	at := 0
	var prose strings.Builder // below the title
	for line := range Lines(text) {
		m := heading.FindStringSubmatch(line.Text)
		switch {
		case line.Code || m == nil:
			if p.Title != "" && len(p.Sections) == 0 && !line.Code && !strings.HasPrefix(line.Text, "<!--") {
				prose.WriteString(line.Text)
			}
		case p.Title == "" && len(m[1]) == 1:
			p.Title = m[2]
		default:
			end(len(m[1]), at)
			anchor := page.Slug(m[2])
			if n := seen[anchor]; n > 0 {
				anchor = fmt.Sprintf("%s-%d", anchor, n)
			}
			seen[page.Slug(m[2])]++
			stack = append(stack, open{len(p.Sections), len(m[1]), at})
			p.Sections = append(p.Sections, Section{Anchor: anchor, Heading: strings.ReplaceAll(m[2], "`", "")})
		}
		at += len(line.Text)
	}
	end(0, len(text))
	first, _, _ := strings.Cut(strings.TrimSpace(prose.String()), "\n\n")
	p.About = brief(sentence(strings.Join(strings.Fields(first), " ")))
	return p
}

// announces matches the beginning of a page's first sentence, such as "This page shows how to". A list of pages
// omits "This page shows", and begins with "How to". The pattern does not match "This page shows what", because
// "What" would not make a heading.
var announces = regexp.MustCompile(`^This page (?:shows|says|lists|explains|describes) (how|which|who|why|the|all|every|problems) `)

// brief returns a page's first sentence, shortened for a list of pages. For example, "This page shows how to
// move a state." becomes "How to move a state.".
func brief(first string) string {
	rest := announces.ReplaceAllString(first, "$1 ")
	r, n := utf8.DecodeRuneInString(rest)
	return string(unicode.ToUpper(r)) + rest[n:]
}

// A Line is a line of a Markdown text.
type Line struct {
	Number int    // from 1
	Text   string // with its end
	// Code is set for every line of a code block, including its first and last line. Opens is set for the first
	// line, Closes for the last.
	Code, Opens, Closes bool
}

// Lines returns the lines of a Markdown text. A code block without an end continues to the end of the text.
func Lines(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		n, fence := 0, ""
		for line := range strings.Lines(text) {
			n++
			l := Line{Number: n, Text: line, Code: fence != ""}
			trimmed := strings.TrimSpace(line)
			if fence == "" {
				fence = grammar.OpensFence(trimmed)
				l.Opens = fence != ""
				l.Code = l.Opens
			} else if grammar.ClosesFence(trimmed, fence) {
				fence, l.Closes = "", true
			}
			if !yield(l) {
				return
			}
		}
	}
}

// sentence returns the first sentence of a text.
func sentence(text string) string {
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// Find returns the text of a page or of one section. The topic is like "guide/order" (a page) or "order#waves"
// (a section). The topic needs no folder if only one folder has a page with this name. If nothing is found, the
// error names the three most similar topics or sections.
func (all Pages) Find(topic string) (text string, err error) {
	name, anchor, part := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(topic, "/"), "/"), "#")
	name = strings.TrimSuffix(name, ".md")
	typed := name
	for _, prefix := range []string{"../", "cmd/", "docs/"} { // of links in pages, in the repository, and in a browser
		name = strings.TrimPrefix(name, prefix)
	}
	var found Pages
	var names []string
	for _, p := range all {
		names = append(names, p.Topic)
		if p.Topic == name || path.Base(p.Topic) == name {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 0:
		return "", fmt.Errorf("there is no topic %q; the nearest are %s", typed, nearest(name, names))
	case len(found) > 1:
		return "", fmt.Errorf("%q is a topic of several folders: %s", name, list(found))
	case !part:
		return visible(found[0].Text), nil
	}
	var anchors []string
	for _, s := range found[0].Sections {
		if s.Anchor == anchor {
			return visible(s.Text), nil
		}
		anchors = append(anchors, s.Anchor)
	}
	if len(anchors) == 0 {
		return "", fmt.Errorf("%s has no sections", found[0].Topic)
	}
	return "", fmt.Errorf("%s has no section %q; the nearest are %s", found[0].Topic, anchor, nearest(anchor, anchors))
}

// visible returns a Markdown text without the lines that are HTML comments.
func visible(text string) string {
	var b strings.Builder
	for line := range Lines(text) {
		if line.Code || !strings.HasPrefix(line.Text, "<!--") {
			b.WriteString(line.Text)
		}
	}
	return b.String()
}

// list returns the topics of pages, separated by commas.
func list(pages Pages) string {
	var names []string
	for _, p := range pages {
		names = append(names, p.Topic)
	}
	return strings.Join(names, ", ")
}

// nearest returns the three names that are most similar to a mistyped name, separated by commas.
func nearest(name string, names []string) string {
	distance := func(of string) int {
		n := min(levenshtein.Distance(name, of, nil), levenshtein.Distance(name, path.Base(of), nil))
		if name != "" && strings.Contains(of, name) {
			n = min(n, 1)
		}
		return n
	}
	names = slices.SortedStableFunc(slices.Values(names), func(x, y string) int { return distance(x) - distance(y) })
	return strings.Join(names[:min(3, len(names))], ", ")
}

// Page returns the Markdown text of a page. topic includes the folder, such as "guide/order". ok is false if
// there is no such page.
func (all Pages) Page(topic string) (markdown string, ok bool) {
	for _, p := range all {
		if p.Topic == topic {
			return p.Text, true
		}
	}
	return "", false
}

// Search returns the pages and sections that contain all of the words, ignoring case. Results whose heading
// contains the words come first. For "" it returns all pages.
func (all Pages) Search(words string) []page.Found {
	var inHeading, inText []page.Found
	wanted := strings.Fields(strings.ToLower(words))
	for _, p := range all {
		found := len(inHeading) + len(inText)
		whole := page.Found{Topic: p.Topic, Part: p.Part, Title: p.Title, Excerpt: p.About}
		if len(wanted) == 0 || has(p.Title+" "+p.Topic, wanted) {
			inHeading = append(inHeading, whole)
		}
		for _, s := range p.Sections {
			hit := page.Found{Topic: p.Topic + "#" + s.Anchor, Part: p.Part, Title: p.Title + ": " + s.Heading, Excerpt: excerpt(s.Text, wanted)}
			switch {
			case len(wanted) == 0:
			case has(s.Heading, wanted):
				inHeading = append(inHeading, hit)
			case has(s.Text, wanted):
				inText = append(inText, hit)
			}
		}
		if found == len(inHeading)+len(inText) && has(p.Text, wanted) {
			inText = append(inText, whole)
		}
	}
	return append(inHeading, inText...)
}

// has reports whether text contains all words, ignoring the case of text. The words are in lower case. The text
// "lockstep" is on every page, so a word like "lock" does not match inside it. Only a word that contains
// "lockstep" matches there.
func has(text string, words []string) bool {
	text = strings.ToLower(text)
	other := strings.ReplaceAll(text, "lockstep", "")
	return !slices.ContainsFunc(words, func(w string) bool {
		return !strings.Contains(other, w) && !(strings.Contains(w, "lockstep") && strings.Contains(text, w))
	})
}

// excerpt returns the first line below a section's heading that contains one of the words.
func excerpt(text string, words []string) string {
	first := ""
	for l := range Lines(text) {
		line := strings.TrimSpace(l.Text)
		switch {
		case line == "" || !l.Code && strings.HasPrefix(line, "#") || l.Opens || l.Closes:
		case slices.ContainsFunc(words, func(w string) bool { return has(line, []string{w}) }):
			return line
		case first == "":
			first = line
		}
	}
	return first
}
