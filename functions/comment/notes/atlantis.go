package notes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// An Atlantis lists the settings in a repository's atlantis.yaml that have no effect in Lockstep. People who
// know Atlantis expect their effect, so Lockstep tells them.
type Atlantis struct {
	// Settings is the name of the file from which Lockstep reads the settings. Ignored is set if this file is
	// not atlantis.yaml, so that atlantis.yaml is ignored.
	Settings string
	Ignored  bool
	// Parts are those settings in atlantis.yaml that have no effect in Lockstep.
	Parts []Part
}

// A Part is a setting in a file. Anybody may have written the file.
type Part struct {
	Lines   []int
	Key     string // as it is written in the file
	Instead string // a sentence in plain text on what to do instead
}

// Limits of the note about atlantis.yaml. The note is part of the comment for every head, so it has to be
// short.
const (
	maxParts = 30
	maxLines = 8
)

// Notes returns the notes for the comment on a pull request, in Markdown; nil if there is nothing to say.
func (a Atlantis) Notes() []string {
	if a.Ignored {
		return []string{fmt.Sprintf("Lockstep reads %[2]s and ignores %[1]s. Delete %[1]s once you no longer use Atlantis.", markdown.Code("atlantis.yaml"), markdown.Code(a.Settings))}
	}
	if len(a.Parts) == 0 {
		return nil
	}
	var b strings.Builder
	parts := "1 setting in it has"
	if n := len(a.Parts); n > 1 {
		parts = fmt.Sprintf("%d settings in it have", n)
	}
	fmt.Fprintf(&b, "<details><summary>Projects come from atlantis.yaml; %s no effect here.</summary>\n\n", parts)
	for _, p := range a.Parts[:min(len(a.Parts), maxParts)] {
		fmt.Fprintf(&b, "- %s (%s): %s\n", markdown.Code(p.Key), lineNumbers(p.Lines), p.Instead)
	}
	if more := len(a.Parts) - maxParts; more > 0 {
		fmt.Fprintf(&b, "- and %d more: see %s.\n", more, markdown.Code("lockstep config check"))
	}
	fmt.Fprintf(&b, "\nTo convert it, run %s: it writes a %s with the same projects.\n\n</details>", markdown.Code("lockstep config import atlantis.yaml"), markdown.Code("lockstep.hcl"))
	return []string{b.String()}
}

// lineNumbers returns a text with the first of the line numbers, and how many more there are: "lines 3, 7 and 2
// more".
func lineNumbers(all []int) string {
	var shown []string
	for _, n := range all[:min(len(all), maxLines)] {
		shown = append(shown, strconv.Itoa(n))
	}
	text := "line " + strings.Join(shown, ", ")
	if len(all) > 1 {
		text = "lines " + strings.Join(shown, ", ")
	}
	if more := len(all) - maxLines; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
