package comment

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Doubt is an object that an interrupted apply began to create. Lockstep does not know whether the object
// exists.
type Doubt struct {
	Address string
	Action  string
	Begun   time.Time
	// Known are attributes by which a person can search for the object, such as "name = \"a\"".
	Known []string `json:",omitempty"`
}

// Recovered is the reply with the result of recovering a state after interrupted applies.
type Recovered struct {
	Project string
	// Changed is set if the recovery has added results from a journal to the state.
	Changed bool
	// Doubts are the objects that may exist although the state does not have them.
	Doubts []Doubt `json:",omitempty"`
	// Conflicts are the addresses of objects in the journal that somebody else has changed since the
	// interruption.
	Conflicts []string `json:",omitempty"`
}

func (r Recovered) markdown() string {
	var b strings.Builder
	switch {
	case r.Changed:
		fmt.Fprintf(&b, "**Recovered** %s: the state now has the results of an apply that was interrupted. Comment %s for a plan of the rest.\n", markdown.Code(r.Project), markdown.Code("lockstep plan"))
	case len(r.Doubts)+len(r.Conflicts) > 0:
		fmt.Fprintf(&b, "%s: **%s**.\n", markdown.Code(r.Project), decisions(len(r.Doubts)+len(r.Conflicts)))
	default:
		fmt.Fprintf(&b, "%s: **nothing to recover**. The state is complete.\n", markdown.Code(r.Project))
	}
	for _, c := range r.Conflicts {
		fmt.Fprintf(&b, "\n- %s was changed by an interrupted apply, and by somebody else since. The state has the later change. Comment %s: if the plan changes the object, read that with care.", markdown.Code(c), markdown.Code("lockstep plan"))
	}
	for _, d := range r.Doubts {
		fmt.Fprintf(&b, "\n- %s **may exist without being in the state**: Lockstep started to %s it at %s, and did not record the result.", markdown.Code(d.Address), d.Action, d.Begun.UTC().Format(time.RFC3339))
		if len(d.Known) > 0 {
			fmt.Fprintf(&b, " Look for an object with %s.", markdown.List(d.Known))
		}
		fmt.Fprintf(&b, "\n  - **If it exists**, comment %s, then %s.\n  - **If it does not exist**, run %s in the directory of the project, on a machine with access to the state.\n\n  Until then, Lockstep plans neither this object nor the objects that depend on it.",
			markdown.Code("lockstep import '"+d.Address+"' ID -p "+r.Project), markdown.Code("lockstep apply"), markdown.Code("lockstep recover -forget '"+d.Address+"'"))
	}
	return b.String()
}

func decisions(n int) string {
	if n == 1 {
		return "1 object needs your decision"
	}
	return fmt.Sprintf("%d objects need your decision", n)
}

// waitsForRest returns the text on why the rest of a partial plan is not applied yet. The rest waits for a
// person's decision about the objects in doubts. If doubts is empty, it waits for the given command.
func waitsForRest(doubts []string, command string) string {
	if len(doubts) == 0 {
		return "plan the rest with " + command
	}
	return fmt.Sprintf("unknown whether %s exists, see %s", markdown.List(doubts), markdown.Code("lockstep recover"))
}
