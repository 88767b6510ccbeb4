package comment

import "fmt"

// A Trouble is the content of a pull request's own check run, made where the projects cannot be
// determined: without projects there are no other check runs.
type Trouble struct {
	// Body is the problem, in Markdown; "" once it is solved.
	Body string
}

// Title returns the check run's line.
func (t Trouble) Title() string {
	if t.Body == "" {
		return "Solved"
	}
	return "The projects cannot be determined"
}

// Summary returns the page's first part, in Markdown; the second one is the Body.
func (t Trouble) Summary() string {
	if t.Body == "" {
		return "The problem is solved: the projects of this pull request are known. Each has a check of its own.\n"
	}
	return fmt.Sprintf("Lockstep cannot be sure which projects this pull request touches, so some of them, or all, are not planned.\n\nTo plan again, push, or comment %s.\n", Code("lockstep plan"))
}
