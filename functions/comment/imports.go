package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// MaxImportFile is the maximum size of the file that a query proposes, in bytes. Reviewers cannot read more, and
// GitHub shows no difference of a larger file.
const MaxImportFile = 1 << 20

// A QueriedImport is the pull request with the configuration that a query has generated.
type QueriedImport struct {
	// Number is the number of the pull request; 0 if there is nothing to import, so that none was opened.
	Number int `json:",omitempty"`
	// Earlier is set if the pull request was opened for an earlier query, and is still open. It then has the
	// result of that query.
	Earlier bool   `json:",omitempty"`
	File    string `json:",omitempty"` // the path of its new file
	// Problem is the reason why the pull request could not be opened; "" if it was. It may quote GitHub. Remedy is
	// advice about it: a sentence in Markdown, or "".
	Problem string `json:",omitempty"`
	Remedy  string `json:",omitempty"`
}

// importText returns the sentences about the pull request of a query. left is the number of objects that the
// state does not have.
func (q Queried) importText(left int) string {
	again := markdown.Code(Command{Verb: Query, Project: q.Project, PullRequest: true}.String())
	switch x := q.Import; {
	case x.Problem != "":
		text := fmt.Sprintf("**Failed to open a pull request** with their configuration: %s. ", markdown.Plainly(x.Problem))
		if x.Remedy != "" {
			text += x.Remedy + " "
		}
		return text + fmt.Sprintf("Then comment %s again.", again)
	case x.Earlier:
		return fmt.Sprintf("#%d, from an earlier query, is still open. Merge and apply it, or close it. Then comment %s again.", x.Number, again)
	case x.Number != 0:
		text := fmt.Sprintf("Opened #%d with the configuration and `import` blocks of %s, in %s. Its plan shows the imports.", x.Number, objectsOf(q.Generated()), markdown.Code(x.File))
		if q.Without > 0 {
			text += fmt.Sprintf(" %s did not fit into one file. Once #%d is merged and applied, comment %s again.", objectsOf(q.Without), x.Number, again)
		}
		return text
	case left == 0:
		return "So there is nothing to import, and Lockstep opens no pull request."
	}
	return "Lockstep opens no pull request, because there is no configuration to put into it."
}

// An ImportPull has the texts of a pull request that imports objects which a query has found.
type ImportPull struct {
	Queried
	By     string // the login of the user who requested the pull request
	Number int    // of the pull request with the command
}

// Title returns the title of the pull request, of at most limit bytes.
func (p ImportPull) Title(limit int) string {
	return cutTitle(fmt.Sprintf("Import %s into %s", objectsOf(p.Generated()), p.Project), limit)
}

// Body returns the description of the pull request in Markdown, of at most limit bytes.
func (p ImportPull) Body(limit int) string {
	var b strings.Builder
	n := p.Generated()
	command := Command{Verb: Query, Project: p.Project, PullRequest: true}
	fmt.Fprintf(&b, "Imports %s into the state of %s: real objects that the state does not have. %s asked for this pull request in #%d, with %s. Lockstep generated the configuration from the objects.\n\n",
		objectsOf(n), markdown.Code(p.Project), markdown.Code(p.By), p.Number, markdown.Code(command.String()))
	b.WriteString("1. Read the plan. If it shows changes besides the imports, correct the configuration in this branch until it shows none.\n")
	b.WriteString("2. Find the arguments marked `# sensitive`. Lockstep writes no sensitive values, so they are null. Set each from a variable, if the plan needs it.\n")
	b.WriteString("3. Merge and apply this pull request as any other. To leave an object unmanaged, delete its two blocks.\n")
	if p.Without > 0 {
		fmt.Fprintf(&b, "\n%s more did not fit into the file. Once this pull request is merged and applied, comment the command again.\n", objectsOf(p.Without))
	}
	if p.Secret > 0 {
		fmt.Fprintf(&b, "\n%s more are not in the file, because their configuration contains a secret value. Write it yourself, with a variable for the secret.\n", objectsOf(p.Secret))
	}
	all := slices.DeleteFunc(slices.Clone(p.Objects), func(o QueriedObject) bool { return o.Managed != "" })
	if len(all) > 0 {
		b.WriteString("\n<details><summary>Objects that the state does not have</summary>\n\n| object | identity |\n|---|---|\n")
		for _, o := range all {
			fmt.Fprintf(&b, "| %s | %s |\n", inCell(o.Name), inCell(o.Identity))
		}
		if _, left, _ := p.counts(); left > len(all) {
			fmt.Fprintf(&b, "\n%s more are not shown.\n", objectsOf(left-len(all)))
		}
		b.WriteString("\n</details>\n")
	}
	return markdown.Cut(b.String(), limit)
}
