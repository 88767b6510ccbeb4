package surveying

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/docs"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// Docs is the command docs. It prints the documentation.
var Docs = cli.Command{Name: "docs", Synopsis: "Read the documentation", Run: func(a *cli.App, args []string) int {
	var search string
	f := a.NewFlags("docs", "docs [-search=WORDS] [TOPIC]")
	f.StringVar(&search, "search", "", "list the pages and sections that have all these words")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	pages := docs.Read()
	switch {
	case f.NArg() > 1 || f.NArg() == 1 && search != "":
		return f.Refuse(cli.TooMany, "docs takes one topic, or -search=\"WORDS\"")
	case f.NArg() == 1:
		text, err := pages.Find(f.Arg(0))
		if err != nil {
			return a.Failed(cli.Hinted(err, "run `lockstep docs` for all topics, or `lockstep docs -search=WORDS`"))
		}
		io.WriteString(a.Out, text)
	case search != "":
		found := pages.Search(search)
		if len(found) == 0 {
			return a.Failed(cli.Hinted(fmt.Errorf("no page has the words %q", search), "search for fewer words, or run `lockstep docs` for all topics"))
		}
		const most = 20
		for _, p := range found[:min(most, len(found))] {
			fmt.Fprintf(a.Out, "%s\n  %s\n", p.Topic, p.Excerpt)
		}
		if more := len(found) - most; more > 0 {
			fmt.Fprintf(a.Out, "and %d more: add a word to the search\n", more)
		}
	default:
		topics(a.Out, pages)
	}
	return 0
}}

// topics prints a list of the documentation's pages, grouped by folder.
func topics(w io.Writer, pages docs.Pages) {
	part := ""
	for _, p := range pages {
		if p.Part != part {
			fmt.Fprintf(w, "%s%s:\n", strings.Repeat("\n", min(1, len(part))), p.Part)
			part = p.Part
		}
		fmt.Fprintf(w, "  %-26s %s\n", p.Topic, p.About)
	}
	fmt.Fprint(w, "\n`lockstep docs TOPIC` prints a page, `lockstep docs TOPIC#SECTION` a section of it.\n")
}
