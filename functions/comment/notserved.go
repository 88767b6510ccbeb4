package comment

import "strings"

// A NotServed is the content of a check run in a repository that Lockstep does not serve.
type NotServed struct{ Reasons []Sentence }

// Title returns the check run's line.
func (NotServed) Title() string { return "Not served here" }

// Summary returns its page, in Markdown.
func (n NotServed) Summary() string {
	var b strings.Builder
	b.WriteString("Lockstep plans and applies nothing here.\n")
	for _, r := range n.Reasons {
		b.WriteString("\n" + r.Text + " " + r.Remedy + "\n")
	}
	return b.String()
}
