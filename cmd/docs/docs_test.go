package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestIndex generates README.md, which lists each page by its title and its first sentence.
func TestIndex(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Documentation\n\nThese pages tell you how to use, operate and understand Lockstep.\n\n" +
		"`lockstep docs` prints them in a terminal. `lockstep demo` and `lockstep serve` show them in the browser, under /docs.\n")
	all := Read()
	part := ""
	for _, p := range all {
		if p.Part != part {
			part = p.Part
			fmt.Fprintf(&b, "\n## %s\n\n", part)
		}
		fmt.Fprintf(&b, "- [%s](%s.md). %s\n", p.Title, p.Topic, p.About)
	}
	golden.File(t, "README.md", b.String())
	for _, p := range all {
		if p.Part == "" {
			t.Errorf("%s: the list has no such folder", p.Topic)
		}
		if p.Title == "" || !strings.HasPrefix(p.Text, "# ") || strings.Count("\n"+withoutCode(p.Text), "\n# ") != 1 {
			t.Errorf("%s: a page begins with its title, and has one", p.Topic)
		}
		if !strings.HasSuffix(p.About, ".") {
			t.Errorf("%s: a sentence below the title says what the page answers: %q", p.Topic, p.About)
		}
	}
}

// withoutCode returns a text without its code blocks, whose lines are left empty.
func withoutCode(text string) string {
	var b strings.Builder
	for line := range Lines(text) {
		if line.Code {
			line.Text = "\n"
		}
		b.WriteString(line.Text)
	}
	return b.String()
}

// sample is a documentation of three pages.
var sample = Pages{
	parse("guide/order", "# Order\n\nThis page says how `projects` wait. It has more.\n<!-- projects: a -->\n\n## Waves of applies\n\nA wave waits.\n\n```hcl\n# no heading\n```\n\n### Two waves\n\nMore.\n\n## Waves of applies\n\nAgain, with outputs.\n"),
	parse("operate/limits", "# Limits\n\nThis page has limits.\n"),
	parse("reference/limits", "# All limits\n\nThis page has all limits.\n\n## Size\n\nA plan has 100 MB.\n"),
}

func TestFind(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string]string{
		"guide/order": "# Order\n\nThis page says how `projects` wait. It has more.\n\n## Waves of applies\n...", "order": "# Order\n...", "guide/order.md": "# Order\n...", "/guide/order/": "# Order\n...",
		"order#waves-of-applies": "## Waves of applies\n\nA wave waits.\n\n```hcl\n# no heading\n```\n\n### Two waves\n\nMore.\n\n", "order#two-waves": "### Two waves\n\nMore.\n\n",
		"order#waves-of-applies-1": "## Waves of applies\n\nAgain, with outputs.\n",
		"limits":                   `"limits" is a topic of several folders: operate/limits, reference/limits`,
		"ordr":                     `there is no topic "ordr"; the nearest are guide/order, operate/limits, reference/limits`,
		"refrence/limits":          `there is no topic "refrence/limits"; the nearest are reference/limits, operate/limits, guide/order`,
		"../guide/order.md":        "# Order\n...", "cmd/docs/guide/order.md": "# Order\n...", "/docs/guide/order": "# Order\n...",
		"../guide/ordr": `there is no topic "../guide/ordr"; the nearest are guide/order, ...`, "": `there is no topic ""; the nearest are ...`,
		"order#wave":       `guide/order has no section "wave"; the nearest are waves-of-applies, ...`,
		"operate/limits#x": `operate/limits has no sections`,
	} {
		got, err := sample.Find(topic)
		if err != nil {
			got = err.Error()
		}
		if begin, more := strings.CutSuffix(want, "..."); !strings.HasPrefix(got, begin) || !more && got != want {
			t.Errorf("%q: %q, want %q", topic, got, want)
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"":        "guide/order: How `projects` wait., operate/limits: This page has limits., reference/limits: This page has all limits.",
		"WAVE wa": "guide/order#waves-of-applies: A wave waits., guide/order#two-waves: More., guide/order#waves-of-applies-1: Again, with outputs.",
		"outputs": "guide/order#waves-of-applies-1: Again, with outputs.", "projects outputs": "guide/order: How `projects` wait.",
		"100 mb": "reference/limits#size: A plan has 100 MB.", "all limits": "reference/limits: This page has all limits.", "nonsense": "",
	} {
		var got []string
		for _, f := range sample.Search(words) {
			got = append(got, f.Topic+": "+f.Excerpt)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %s, want %s", words, strings.Join(got, ", "), want)
		}
	}
}
