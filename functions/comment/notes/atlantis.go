package notes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// An Atlantis is a repository with an atlantis.yaml, as far as people have to know: they expect what
// Atlantis made of it.
type Atlantis struct {
	// Settings is the name of the file that counts, Ignored is set if it is not atlantis.yaml.
	Settings string
	Ignored  bool
	// Parts are those of atlantis.yaml without a meaning here.
	Parts []Part
}

// A Part is one of a file, which anybody may have written.
type Part struct {
	Lines   []int
	Key     string // as it stands there
	Instead string // a sentence of ours in plain text
}

// Limits of a note, which stands in the comment of each head.
const (
	maxParts = 30
	maxLines = 8
)

// Notes returns the notes for the comment on a pull request, in Markdown: none if there is nothing to
// know.
func (a Atlantis) Notes() []string {
	if a.Ignored {
		return []string{fmt.Sprintf("There is an %s beside %s, and it does not count. Remove it once Atlantis does not read it any more.", markdown.Code("atlantis.yaml"), markdown.Code(a.Settings))}
	}
	if len(a.Parts) == 0 {
		return nil
	}
	var b strings.Builder
	parts := "1 part of the file has"
	if n := len(a.Parts); n > 1 {
		parts = fmt.Sprintf("%d parts of the file have", n)
	}
	fmt.Fprintf(&b, "<details><summary>The projects are those of atlantis.yaml; %s no meaning here.</summary>\n\n", parts)
	for _, p := range a.Parts[:min(len(a.Parts), maxParts)] {
		fmt.Fprintf(&b, "- %s (%s): %s\n", markdown.Code(p.Key), lineNumbers(p.Lines), p.Instead)
	}
	if more := len(a.Parts) - maxParts; more > 0 {
		fmt.Fprintf(&b, "- %d more, which %s lists.\n", more, markdown.Code("lockstep config check"))
	}
	fmt.Fprintf(&b, "\n%s writes a %s with the same projects.\n\n</details>", markdown.Code("lockstep config import atlantis.yaml"), markdown.Code("lockstep.hcl"))
	return []string{b.String()}
}

// lineNumbers names lines of a file, the first few of them.
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
