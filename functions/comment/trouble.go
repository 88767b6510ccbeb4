package comment

import "fmt"

// A Trouble is what the check run of a pull request says where it is not known which
// projects there are to plan: without those there are no others.
type Trouble struct {
	// Body is what is wrong, in Markdown; "" if nothing is any more.
	Body string
}

// Title returns the check run's line.
func (t Trouble) Title() string {
	if t.Body == "" {
		return "Solved"
	}
	return "The projects are not known"
}

// Summary returns the page's first part, in Markdown; the second one is the Body.
func (t Trouble) Summary() string {
	if t.Body == "" {
		return "What kept Lockstep from knowing the projects of this pull request is gone. Each project has a check of its own.\n"
	}
	return fmt.Sprintf("Lockstep cannot tell for sure which projects this pull request touches, so that some, or all, are not planned.\n\nA push plans anew, and so does the comment %s.\n", Code("lockstep plan"))
}
