package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Literals are changes of the configuration that keep drift: literals that get the present values of objects.
type Literals struct {
	Lines []LiteralLine `json:",omitempty"`
	// Left are attributes and objects for which there is no such change, each with the reason. More is how many lines and
	// reasons are left out.
	Left []string `json:",omitempty"`
	More int      `json:",omitempty"`
}

// A LiteralLine is the change of one line of a file.
type LiteralLine struct {
	Path          string // from the root of the repository, slash-separated
	Line          int    // from 1
	Before, After string
}

// Clean returns the changes with clean called for each text, such as a function that hides secrets.
func (l Literals) Clean(clean func(string) string) Literals {
	out := Literals{More: l.More}
	for _, x := range l.Lines {
		out.Lines = append(out.Lines, LiteralLine{clean(x.Path), x.Line, clean(x.Before), clean(x.After)})
	}
	for _, text := range l.Left {
		out.Left = append(out.Left, clean(text))
	}
	return out
}

// markdown returns the changes as a difference in a folded text of at most limit bytes, or a little more; "" if there are no
// changes.
func (l Literals) markdown(limit int) string {
	if len(l.Lines) == 0 {
		return ""
	}
	var diff strings.Builder
	more, file := l.More, ""
	for i, x := range l.Lines {
		text := fmt.Sprintf("@@ line %d @@\n- %s\n+ %s\n", x.Line, x.Before, x.After)
		if x.Path != file {
			file = x.Path
			text = fmt.Sprintf("--- %s\n+++ %[1]s\n", x.Path) + text
		}
		if diff.Len()+len(text) > limit*2/3 {
			more += len(l.Lines) - i
			break
		}
		diff.WriteString(text)
	}
	var left strings.Builder
	for i, text := range l.Left {
		line := "- " + markdown.Code(text) + "\n"
		if left.Len()+len(line) > limit/3 {
			more += len(l.Left) - i
			break
		}
		left.WriteString(line)
	}
	out := "\n<details><summary>To keep the changes, write them into the configuration</summary>\n\n" + markdown.Fence("diff", diff.String()) + "\n"
	if left.Len() > 0 {
		out += "\nLockstep proposes no line for these:\n\n" + left.String()
	}
	if more > 0 {
		out += fmt.Sprintf("\n%s left out here.\n", counted(more, "more line is", "more lines are"))
	}
	return out + "\n</details>\n"
}
