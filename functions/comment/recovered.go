package comment

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Doubt is the creation of an object whose end nobody knows.
type Doubt struct {
	Address string
	Action  string
	Begun   time.Time
	// Known are the values by which a person can look for it: "name = \"a\"".
	Known []string `json:",omitempty"`
}

// Recovered reports what became of a state after applies that did not come to their end.
type Recovered struct {
	Project string
	// Changed is set if the state has got results that only a journal had.
	Changed bool
	// Doubts are objects that may exist, and that no state knows.
	Doubts []Doubt `json:",omitempty"`
	// Conflicts are the addresses of objects that somebody else has changed since.
	Conflicts []string `json:",omitempty"`
}

func (r Recovered) markdown() string {
	var b strings.Builder
	switch {
	case r.Changed:
		fmt.Fprintf(&b, "**Recovered** %s: the state has the results of an apply that did not come to its end. Comment %s for a plan of the rest.\n", markdown.Code(r.Project), markdown.Code("lockstep plan"))
	case len(r.Doubts)+len(r.Conflicts) > 0:
		fmt.Fprintf(&b, "The state of %s is **complete**, but for what is listed here.\n", markdown.Code(r.Project))
	default:
		fmt.Fprintf(&b, "The state of %s is **complete**: there was nothing to recover.\n", markdown.Code(r.Project))
	}
	for _, c := range r.Conflicts {
		fmt.Fprintf(&b, "\n- %s was changed by an apply that did not come to its end, and by somebody else since, whose object is kept: compare it with what exists.", markdown.Code(c))
	}
	for _, d := range r.Doubts {
		fmt.Fprintf(&b, "\n- %s **may exist, and no state knows it**: its creation (%s) was begun at %s, and the end of it is not recorded.", markdown.Code(d.Address), d.Action, d.Begun.UTC().Format(time.RFC3339))
		if len(d.Known) > 0 {
			fmt.Fprintf(&b, " Look for one with %s.", markdown.List(d.Known))
		}
		fmt.Fprintf(&b, " If it exists, comment %s, and %s once that is planned; if it does not, run %s on a command line. Until then it is not planned, nor is anything that depends on it.",
			markdown.Code("lockstep import '"+d.Address+"' ID -p "+r.Project), markdown.Code("lockstep apply"), markdown.Code("lockstep recover -forget '"+d.Address+"'"))
	}
	return b.String()
}

// waitsForRest tells what the rest of a plan waits for that leaves something out: for somebody who finds out about the doubts, or, if there
// are none, for a command.
func waitsForRest(doubts []string, command string) string {
	if len(doubts) == 0 {
		return "waits for " + command
	}
	return fmt.Sprintf("waits until it is settled whether %s exists: comment %s", markdown.List(doubts), markdown.Code("lockstep recover"))
}
