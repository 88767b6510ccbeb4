package page

import (
	"strings"
	"unicode"
)

// A Manual is the documentation that a site shows under /docs.
type Manual interface {
	// Page returns the Markdown of a topic, such as "guide/order".
	Page(topic string) (markdown string, ok bool)
	// Search returns the pages and sections that have all words, the best first; without words, all pages in their order.
	Search(words string) []Found
}

// A Found is a page of the documentation, or a section of one.
type Found struct {
	Topic   string // "guide/order", or "guide/order#outputs-of-other-projects"
	Title   string
	Excerpt string // the first sentence of a page, or the line of a section that has the words
}

// Slug returns the anchor of a heading, as GitHub makes it: lower case, without punctuation, with hyphens for blanks.
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
