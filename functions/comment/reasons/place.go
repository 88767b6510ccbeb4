package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// PlaceTaken reports that the project would use a state that belongs to another project, Owner, on the base
// branch.
type PlaceTaken struct{ Project, Place, Owner string }

func (r PlaceTaken) words() (text, remedy string) {
	return fmt.Sprintf("%s would use the state at %s, which belongs to the project %s on the base branch.", markdown.Code(r.Project), markdown.Code(r.Place), markdown.Code(r.Owner)),
		fmt.Sprintf("Give %s a state of its own: change the key in its `backend` block.", markdown.Code(r.Project))
}

// PlaceClaimed reports that the address of the state is reserved for another project, Owner. Repo is the
// repository of that project; "" for the repository of this one.
type PlaceClaimed struct {
	Project, Place, Owner string
	Repo                  string `json:",omitempty"`
	// Taken is set if the project Owner got the address after the project Project had left it.
	Taken bool `json:",omitempty"`
	// Removed is set if the pull request removes the project in the field Project.
	Removed bool `json:",omitempty"`
}

func (r PlaceClaimed) words() (text, remedy string) {
	stays := fmt.Sprintf("You do not have to do anything: removing %s destroys nothing there, and %s continues to plan that state.", markdown.Code(r.Project), markdown.Code(r.Owner))
	switch {
	case r.Repo != "":
		text = fmt.Sprintf("The state at %s belongs to the project %s of another repository, %s.", markdown.Code(r.Place), markdown.Code(r.Owner), markdown.Code(r.Repo))
		if remedy = fmt.Sprintf("Give %s another key in its `backend` block.", markdown.Code(r.Project)); r.Removed {
			remedy = stays
		}
		return text, remedy + fmt.Sprintf(" If %s no longer uses the state, ask an operator of Lockstep to release it.", markdown.Code(r.Repo))
	case r.Taken:
		return fmt.Sprintf("The state at %s belongs to the project %s, which has taken it over since %s was removed.", markdown.Code(r.Place), markdown.Code(r.Owner), markdown.Code(r.Project)), stays
	}
	text = fmt.Sprintf("The state at %s belongs to the project %s, which the base branch still has.", markdown.Code(r.Place), markdown.Code(r.Owner))
	if r.Removed {
		return text, stays
	}
	return text, fmt.Sprintf("Give %s another key in its `backend` block, or change that of the other project.", markdown.Code(r.Project))
}

// PlaceLeft reports that the plan destroys objects of another project, Owner, which formerly had the state at
// this address. Number is the pull request that removed Owner; 0 if it is not known.
type PlaceLeft struct {
	Project, Place, Owner string
	Number                int `json:",omitempty"`
}

func (r PlaceLeft) words() (text, remedy string) {
	left := "which the base branch no longer has"
	remedy = fmt.Sprintf("If you have moved these objects to another state, delete the old state file %s. Then comment `lockstep plan`.", markdown.Code(r.Place))
	if r.Number != 0 {
		left = fmt.Sprintf("left there by #%d", r.Number)
		remedy = fmt.Sprintf("To destroy them, comment %[2]s on #%[1]d, read the plan, then comment %[3]s there.", r.Number, markdown.Code("lockstep retry"), markdown.Code("lockstep apply -p "+r.Owner))
	}
	return fmt.Sprintf("The state at %s still has objects of the removed project %s, %s. The plan of %s would destroy some of them, or remove them from the state.", markdown.Code(r.Place), markdown.Code(r.Owner), left, markdown.Code(r.Project)),
		fmt.Sprintf("%s To keep the objects, declare them in the configuration of %[2]s. Or give %[2]s another key in its `backend` block.", remedy, markdown.Code(r.Project))
}

// StateCopied reports that the state of a removed project was copied, and that the copy is the state of the
// project Owner.
type StateCopied struct{ Project, Place, Owner string }

func (r StateCopied) words() (text, remedy string) {
	return fmt.Sprintf("%[1]s and %[2]s have copies of the same state, and this pull request removes %[1]s. To destroy the objects of %[1]s could destroy objects of %[2]s.", markdown.Code(r.Project), markdown.Code(r.Owner)),
		fmt.Sprintf("Check that the state of %[4]s has all objects that you keep. If %[3]s has objects of its own to destroy, first remove their resources in a pull request that keeps %[3]s, and apply that. Then delete the old state file of %[3]s, %[1]s, and comment %[2]s: the new plan destroys nothing.", markdown.Code(r.Place), markdown.Code("lockstep plan -p "+r.Project), markdown.Code(r.Project), markdown.Code(r.Owner))
}

// CopyNote returns the note that the state of a removed project has a copy.
func CopyNote(r StateCopied) string {
	text, remedy := r.words()
	return text + " " + remedy
}

// PlaceUnknown reports that Lockstep cannot check whether the address of the state is allowed, because the
// settings on the base branch have errors.
type PlaceUnknown struct{ Project, Place string }

func (r PlaceUnknown) words() (text, remedy string) {
	return fmt.Sprintf("This pull request puts the state of %s at %s. Lockstep cannot check whether that is allowed, because the settings on the base branch have errors.", markdown.Code(r.Project), markdown.Code(r.Place)),
		fmt.Sprintf("Correct %s on the base branch. Then comment `lockstep plan`.", settings)
}

// PlaceNotAllowed reports that the settings on the base branch do not allow a state at this address.
type PlaceNotAllowed struct{ Project, Place string }

func (r PlaceNotAllowed) words() (text, remedy string) {
	return fmt.Sprintf("The settings on the base branch do not allow %s to have its state at %s.", markdown.Code(r.Project), markdown.Code(r.Place)),
		fmt.Sprintf("To allow it, add the state to the `allow` block of %s on the base branch: %s.", settings, markdown.Code(fmt.Sprintf("states = [%q]", r.Place)))
}

// PlaceRenamed reports that the pull request renames a project. On the base branch, the state belongs to the
// old name, Owner.
type PlaceRenamed struct{ Project, Owner string }

func (r PlaceRenamed) words() (text, remedy string) {
	return fmt.Sprintf("The state of %s still belongs to the project %s on the base branch, so the plan can be applied only after the merge.", markdown.Code(r.Project), markdown.Code(r.Owner)),
		onceMerged
}

// OnceMerged returns the reason why a plan can be applied only after the merge, and what to do after the merge.
// If owner is not "", the reason is that the base branch has the state under the project name owner. Otherwise,
// the reason is that the projects in after must be applied first, and can be applied only after the merge.
func OnceMerged(owner string, after []string) string {
	why := fmt.Sprintf("The base branch still has this project under the name %s, so it can be applied only after the merge.", markdown.Code(owner))
	if owner == "" {
		why = fmt.Sprintf("This project depends on %s, which can be applied only after the merge.", SomeOf(after).Text())
	}
	return why + " After the merge, comment `lockstep retry` for a new plan of what was merged. Read it, then apply it."
}

// NotEncrypted reports that the project does not exist on the base branch yet. So its encryption block has no
// effect.
type NotEncrypted struct{ Project string }

func (r NotEncrypted) words() (text, remedy string) {
	return fmt.Sprintf("The encryption block of %s takes effect only after the merge. Until then, Lockstep would write the first state unencrypted, and old versions of the state would stay readable.", markdown.Code(r.Project)),
		fmt.Sprintf("%s To apply before the merge, set %s for the project's environment in %s on the base branch.", onceMerged, markdown.Code("TF_ENCRYPTION"), settings)
}

// PlaceMoved reports that the project's state now has another address than in the plan.
type PlaceMoved struct {
	Project, Planned, Place string
	Merged                  bool
}

func (r PlaceMoved) words() (text, remedy string) {
	return fmt.Sprintf("The plan is out of date: it is for the state at %s, and the state of %s is at %s now.", markdown.Code(r.Planned), markdown.Code(r.Project), markdown.Code(r.Place)), planAgain(r.Merged)
}

// PlaceKeptElse reports that the base branch has changed how the state is locked or encrypted during an apply.
// The apply still has a lock of the earlier kind.
type PlaceKeptElse struct{ Project string }

func (r PlaceKeptElse) words() (text, remedy string) {
	return fmt.Sprintf("The base branch has just changed how the state of %s is locked or stored.", markdown.Code(r.Project)), fmt.Sprintf("To try again, comment %s.", markdown.Code("lockstep apply"))
}
