package comment

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Limits of the text of a [Shown]: a comment has 65,536 bytes, and the record of an answer 400 KB.
const (
	maxShown       = 50_000
	maxShownRecord = 200_000 // as JSON
)

// A Shown is the answer to the commands "output" and "show": a part of a project's state, without sensitive values.
// Its texts come from the state.
type Shown struct {
	Command Command
	Project string
	// Text has the entries, each with a line end: outputs, addresses, or one object.
	Text   string `json:",omitempty"`
	Object bool   `json:",omitempty"`
	// Total is the number of entries, Left the number of entries that Text leaves out, and Hidden the number of
	// outputs whose values are sensitive. Cut is set if the only entry is too long, so that Text is its
	// beginning.
	Total, Left, Hidden int
	Cut                 bool `json:",omitempty"`
}

// Add adds an entry. If there is no room for it, it and all later ones are only counted. The beginning of the first
// entry always has room.
func (s *Shown) Add(entry string) {
	s.Total++
	fits := func(text string) bool { return len(text) <= maxShown && encodedLength(text) <= maxShownRecord }
	switch {
	case s.Left == 0 && !s.Cut && fits(s.Text+entry):
		s.Text += entry
	case s.Total == 1:
		for len(entry) > 0 && !fits(entry) {
			entry = strings.ToValidUTF8(entry[:len(entry)/2], "")
		}
		s.Text, s.Cut = entry+"\n", true
	default:
		s.Left++
	}
}

// Skip counts n entries that are left out.
func (s *Shown) Skip(n int) { s.Total, s.Left = s.Total+n, s.Left+n }

// encodedLength returns the length of a text as JSON.
func encodedLength(text string) int {
	if len(text)*6 <= maxShownRecord {
		return 0 // short enough, whatever it contains
	}
	data, err := json.Marshal(text)
	if err != nil {
		panic(err.Error()) // it is a text
	}
	return len(data)
}

// Each returns the answer within the limits, with f applied to its texts.
func (s Shown) Each(f func(string) string) Shown {
	s.Text = f(s.Text)
	if len(s.Text) > maxShown+1 || encodedLength(s.Text) > maxShownRecord+2 {
		s.Text, s.Left = "", s.Total
	}
	return s
}

func (s Shown) markdown() string {
	var b strings.Builder
	project, name := markdown.Code(s.Project), markdown.Code(strings.Join(s.Command.Arguments, " "))
	outputs := s.Command.Verb == Output
	all := Command{Verb: s.Command.Verb, Project: s.Project}
	one := all
	switch one.Arguments = []string{"ADDR"}; {
	case outputs && len(s.Command.Arguments) > 0:
		fmt.Fprintf(&b, "**Output** %s of %s.", name, project)
	case outputs:
		one.Arguments = []string{"OUTPUT"}
		fmt.Fprintf(&b, "**Outputs** of %s, as of the last apply: %s.", project, countOf(s.Total, "output"))
	case s.Object:
		fmt.Fprintf(&b, "**State** of %s: %s.", project, name)
	case len(s.Command.Arguments) > 0:
		fmt.Fprintf(&b, "**State** of %s: %s of %s.", project, objectsOf(s.Total), name)
	default:
		fmt.Fprintf(&b, "**State** of %s: %s.", project, objectsOf(s.Total))
	}
	switch {
	case s.Hidden == 1 && s.Total == 1:
		b.WriteString(" It is sensitive, so Lockstep does not show its value.")
	case s.Hidden > 0:
		fmt.Fprintf(&b, " Lockstep does not show the values of %s.", countOf(s.Hidden, "sensitive output"))
	}
	b.WriteString("\n")
	if s.Text != "" {
		fmt.Fprintf(&b, "\n%s\n", markdown.Fence("hcl", strings.TrimSuffix(s.Text, "\n")))
	}
	if s.Cut {
		fmt.Fprintf(&b, "\n**The text is too long for a comment**, so its end is not shown. Run %s on your machine.\n", markdown.Code(map[bool]string{true: "lockstep output", false: "lockstep state show"}[outputs]))
	}
	switch {
	case s.Left == 0:
	case outputs:
		fmt.Fprintf(&b, "\n**%s not shown**, because a comment has no more room. To see one, comment %s.\n", countOf(s.Left, "output"), markdown.Code(one.String()))
	default:
		fmt.Fprintf(&b, "\n**%s not shown**, because a comment has no more room. To see one, or those of a module or a resource, comment %s.\n", objectsOf(s.Left), markdown.Code(one.String()))
	}
	return b.String()
}

// countOf returns a number of things: "1 output", "2 outputs".
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
