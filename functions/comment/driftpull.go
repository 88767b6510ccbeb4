package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// DriftProposed is the reply to `lockstep drift propose`.
type DriftProposed struct {
	Project string
	// Number is the number of the pull request with the present values; 0 if there is none. Earlier is set if it was opened for
	// an earlier command, and is still open.
	Number  int  `json:",omitempty"`
	Earlier bool `json:",omitempty"`
	// Lines is the number of lines that the pull request changes.
	Lines int `json:",omitempty"`
	// None is set if the project has no drift.
	None bool `json:",omitempty"`
	// Left are the attributes and objects for which there is no line, with reasons. More is how many others there are.
	Left []string `json:",omitempty"`
	More int      `json:",omitempty"`
	// Problem is the reason why Lockstep could not look for drift or open the pull request, in Markdown; "" if it could. Remedy
	// is advice about it: a sentence in Markdown, or "".
	Problem string `json:",omitempty"`
	Remedy  string `json:",omitempty"`
}

// maxProposedLeft is the maximum number of reasons that a reply shows.
const maxProposedLeft = 10

func (p DriftProposed) markdown() string {
	again := markdown.Code(Command{Verb: DriftPropose}.String())
	name := markdown.Code(p.Project)
	left := ""
	if len(p.Left) > 0 {
		n := min(len(p.Left), maxProposedLeft)
		left = "\n\nLockstep writes no line for these:\n\n"
		for _, text := range p.Left[:n] {
			left += "- " + markdown.Code(text) + "\n"
		}
		if more := len(p.Left) - n + p.More; more > 0 {
			left += fmt.Sprintf("- %d more\n", more)
		}
	}
	switch {
	case p.Problem != "":
		text := fmt.Sprintf("**Failed to open a pull request** for %s: %s", name, strings.TrimRight(p.Problem, ".\n")+".")
		if p.Remedy != "" {
			text += " " + p.Remedy
		}
		return text + fmt.Sprintf(" Then comment %s again.", again)
	case p.Earlier:
		return fmt.Sprintf("#%d, from an earlier %s, is still open. Merge it or close it. Then comment %s again.", p.Number, again, again)
	case p.Number != 0:
		return fmt.Sprintf("Opened #%d. It writes the present values of %s into %s of the configuration. After the merge, comment %s here to write them into the state, too.",
			p.Number, name, counted(p.Lines, "line", "lines"), markdown.Code(Command{Verb: DriftAccept}.String())) + left
	case p.None:
		return fmt.Sprintf("%s has no drift, so Lockstep opens no pull request.", name)
	}
	return fmt.Sprintf("Lockstep opens no pull request for %s: the configuration has no literal with an old value.", name) + left
}

// A DriftPull has the texts of a pull request that writes present values into the configuration.
type DriftPull struct {
	Project  string
	By       string // the login of the user who asked for it
	Issue    int    // with the command
	Literals Literals
}

// Title returns the title of the pull request, of at most limit bytes.
func (p DriftPull) Title(limit int) string {
	return cutTitle(fmt.Sprintf("Keep the present values of %s", p.Project), limit)
}

// Body returns the description of the pull request in Markdown, of at most limit bytes.
func (p DriftPull) Body(limit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Objects of %s changed outside of Lockstep: see #%d. This pull request writes their present values into the configuration, so that no plan undoes the changes. %s asked for it, with %s.\n\n",
		markdown.Code(p.Project), p.Issue, markdown.Code(p.By), markdown.Code(Command{Verb: DriftPropose}.String()))
	b.WriteString("1. Read the lines. Each one sets what Lockstep has read from the provider.\n")
	b.WriteString("2. Read the plan. It has nothing to do for these attributes.\n")
	fmt.Fprintf(&b, "3. Merge this pull request. Then comment %s in #%d, to write the values into the state.\n", markdown.Code(Command{Verb: DriftAccept}.String()), p.Issue)
	if n := len(p.Literals.Left) + p.Literals.More; n > 0 {
		fmt.Fprintf(&b, "\nIt leaves out %s, where the configuration has no literal. #%d says which.\n", counted(n, "present value", "present values"), p.Issue)
	}
	return markdown.Cut(b.String(), limit)
}
