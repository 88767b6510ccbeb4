package reasons

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// Required reports that requirements in the base branch's settings are not met. Tree is the decision about all
// of them.
type Required struct {
	Verb   grammar.Verb
	Tree   rulings.Ruling
	Merged bool `json:",omitempty"` // a merge has requested the apply, so a comment cannot request it again
	Later  bool `json:",omitempty"` // the merge comes before the apply: see AppliedLater and PlaceRenamed
	// Waits is set if a merge has requested the apply, and the apply waits until its requirements are met.
	Waits bool `json:",omitempty"`
	// Elsewhere is set if the command has to be given on a different pull request.
	Elsewhere bool `json:",omitempty"`
	// OnIssue is set for a command on an issue, where conditions that need a pull request are never met.
	OnIssue bool `json:",omitempty"`
	// Typed is the refused command as the user typed it. The advice repeats it, so that the repetition does not
	// select more projects. It is not stored with the reason, because the reply contains it.
	Typed grammar.Command `json:"-"`
}

// MayCome reports whether all reasons against the merge's apply can still be resolved: by time, by people, or
// by applies of other projects. The apply then waits for that.
func (rs List) MayCome() bool {
	return !slices.ContainsFunc(rs, func(r Reason) bool {
		switch r := r.(type) {
		case Required:
			return !r.Tree.MayCome()
		case AppliedLater, LockedByAnother, Awaits:
			return false
		}
		return true
	})
}

// again returns the command by which the user can repeat the refused command.
func (r Required) again() string {
	if r.Typed.Verb == r.Verb {
		return markdown.Code(r.Typed.String())
	}
	return markdown.Code("lockstep " + string(r.Verb))
}

func (r Required) words() (text, remedy string) {
	what, met := "Requirements are not met", "Once the requirements are met,"
	switch {
	case r.Tree.Denied():
		what, met = "**Denied by "+strings.Join(r.Tree.DeniedBy(), ", ")+"**", "Change the configuration and push, or have the denial overridden. Then"
	case r.Tree.Outcome == rulings.Unknown:
		what, met = "Lockstep could not check all requirements", "Correct the cause that the list names. Then"
	case r.Tree.NeedsApproval():
		what, met = "**Needs approval**", "Once it is approved,"
	}
	text = fmt.Sprintf("%s (%s on the base branch):\n%s", what, markdown.Code(r.Tree.File(SettingsFile)), strings.TrimSuffix(r.Tree.Markdown(1), "\n"))
	switch {
	case r.Waits:
		return text, appliedThen
	case r.Merged:
		return text, fmt.Sprintf("%s comment %s for a new plan of what was merged. Read it, then apply it.", met, markdown.Code("lockstep retry"))
	case r.Later, r.Elsewhere:
		return text, "Meet these requirements, too."
	}
	remedy = fmt.Sprintf("%s comment %s.", met, r.again())
	if r.OnIssue {
		remedy += " An issue has no reviews and no branch. For a condition that needs them, open a pull request that touches the project, and apply there."
	}
	return text, remedy
}
