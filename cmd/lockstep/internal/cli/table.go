package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// A Command is a command of lockstep. A command of two words has a space in its name.
type Command struct {
	Name     string
	Alias    string // another name, which OpenTofu has; may be ""
	Synopsis string
	// Chapter is the part of the help that lists the command: one of [chapters].
	Chapter string
	// About says in two sentences what the command does. Example is a command line.
	About, Example string
	Run            func(a *App, args []string) int
}

// chapters are the parts of the help, in their order.
var chapters = []string{PullRequests, Terraform, State}

// The parts of the help, which each list some of the commands.
const (
	PullRequests = "Pull requests"
	Terraform    = "As in Terraform"
	State        = "State and providers"
)

// A Table has all commands, in the order of the help.
type Table []Command

// Add adds a command to the table. chapter is the part of the help that lists it; about, in two sentences, and
// example are other texts of the help.
func (t *Table) Add(chapter string, c Command, about, example string) {
	c.Chapter, c.About, c.Example = chapter, about, example
	*t = append(*t, c)
}

// help writes the list of commands.
func (t Table) help(w io.Writer) {
	fmt.Fprint(w, "Usage: lockstep [-chdir=DIR] COMMAND [OPTIONS]\n")
	for _, chapter := range chapters {
		fmt.Fprintf(w, "\n%s:\n", chapter)
		for _, c := range t {
			if c.Chapter == chapter {
				fmt.Fprintf(w, "  %-22s %s\n", c.Name, c.Synopsis)
			}
		}
	}
	fmt.Fprint(w, "\nGlobal options, before the command:\n  -chdir=DIR         work in another directory\n  -help              show this text; after a command, its options and an example\n  -version           show the version\n")
}

// named returns the command with a name; the zero value if there is none.
func (t Table) named(name string) Command {
	if i := slices.IndexFunc(t, func(c Command) bool { return c.Name == name }); i >= 0 {
		return t[i]
	}
	return Command{}
}

// farthest is the maximum edit distance between a misspelt name and the suggested one, the same as in HCL's
// suggestions.
const farthest = 2

// nearest returns the command whose name is most similar to the given one; the zero value if none is similar.
func (t Table) nearest(name string) string {
	// for a short name, fewer edits are accepted: two letters would be most of it
	best, least := "", min(farthest, max(1, (len(name)+1)/3))+1
	for _, c := range t {
		n := levenshtein.Distance(name, c.Name, nil)
		if strings.HasPrefix(c.Name, name) || strings.HasPrefix(name, c.Name+" ") && !strings.Contains(name, " ") {
			n = min(n, farthest)
		}
		if n < min(least, len(name)) {
			best, least = c.Name, n
		}
	}
	return best
}

// list writes the help of a group of two-word commands: the commands that begin with the word name.
func (t Table) list(w io.Writer, name string) {
	fmt.Fprintf(w, "Usage: lockstep %s COMMAND [OPTIONS]\n\n%s\n\nExample:\n  %s\n\nCommands:\n", name, wrapped(t.named(name).About), t.named(name).Example)
	for _, c := range slices.SortedFunc(slices.Values(t), func(x, y Command) int { return cmp.Compare(x.Name, y.Name) }) {
		if word, ok := strings.CutPrefix(c.Name, name+" "); ok {
			fmt.Fprintf(w, "  %-18s %s\n", word, c.Synopsis)
		}
	}
}

// wrapped returns a paragraph wrapped to the width of a terminal, indented by two columns.
func wrapped(text string) string {
	var b strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case width == 0:
			b.WriteString("  ")
		case width+1+len(word) > 84:
			b.WriteString("\n  ")
			width = 0
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}
