package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// PlaceTaken: the address of the project's state is that of another project on the base branch.
type PlaceTaken struct{ Project, Place, Owner string }

func (r PlaceTaken) words() (text, remedy string) {
	return fmt.Sprintf("The state of %s would be at %s, which is the state of the project %s on the base branch.", markdown.Code(r.Project), markdown.Code(r.Place), markdown.Code(r.Owner)),
		fmt.Sprintf("Give %s a place of its own.", markdown.Code(r.Project))
}

// PlaceClaimed: the address was claimed by another project, Owner, of Repo; Repo is "" for this
// repository.
type PlaceClaimed struct {
	Project, Place, Owner string
	Repo                  string `json:",omitempty"`
	// Taken is set if the owner came there when Project had left it.
	Taken bool `json:",omitempty"`
	// Removed is set if the pull request removes Project.
	Removed bool `json:",omitempty"`
}

func (r PlaceClaimed) words() (text, remedy string) {
	stays := fmt.Sprintf("Nothing there is destroyed by the removal of %s: what the state has, %s can plan.", markdown.Code(r.Project), markdown.Code(r.Owner))
	switch {
	case r.Repo != "":
		text = fmt.Sprintf("The state at %s belongs to the project %s of %s.", markdown.Code(r.Place), markdown.Code(r.Owner), markdown.Code(r.Repo))
		if remedy = "Give the project another key."; r.Removed {
			remedy = stays
		}
		return text, remedy + " If the state was handed over, whoever runs Lockstep has to release the old claim."
	case r.Taken:
		return fmt.Sprintf("The state at %s belongs to the project %s, which has come there since %s was removed.", markdown.Code(r.Place), markdown.Code(r.Owner), markdown.Code(r.Project)), stays
	}
	text = fmt.Sprintf("The state at %s belongs to the project %s, which the base branch still has.", markdown.Code(r.Place), markdown.Code(r.Owner))
	if r.Removed {
		return text, stays
	}
	return text, fmt.Sprintf("Give %s a key of its own, or correct the project that has this one.", markdown.Code(r.Project))
}

// PlaceLeft: the plan destroys objects of the state's former project, Owner, which has left the address. Number is that of the pull request
// that has removed it, 0 if that is not known.
type PlaceLeft struct {
	Project, Place, Owner string
	Number                int `json:",omitempty"`
}

func (r PlaceLeft) words() (text, remedy string) {
	left := "though the base branch does not have the project there any more"
	remedy = fmt.Sprintf("If they are in another state by now, delete the one at %s, and plan again.", markdown.Code(r.Place))
	if r.Number != 0 {
		left = fmt.Sprintf("which #%d has left there", r.Number)
		remedy = fmt.Sprintf("To destroy them, comment %s and then %s on #%d.", markdown.Code("lockstep retry"), markdown.Code("lockstep apply -p "+r.Owner), r.Number)
	}
	return fmt.Sprintf("The state of %s at %s still has objects, %s, and the plan of %s destroys or forgets some of them.", markdown.Code(r.Owner), markdown.Code(r.Place), left, markdown.Code(r.Project)),
		fmt.Sprintf("%s To keep them, have the configuration of %s declare them. Or give it a key of its own.", remedy, markdown.Code(r.Project))
}

// StateCopied: the project is removed, and its state has a copy, that of the project Owner.
type StateCopied struct{ Project, Place, Owner string }

func (r StateCopied) words() (text, remedy string) {
	return fmt.Sprintf("%s and %s have copies of one state: what the removal of %s destroys may be objects of %s.", markdown.Code(r.Project), markdown.Code(r.Owner), markdown.Code(r.Project), markdown.Code(r.Owner)),
		fmt.Sprintf("If the state has moved, delete the former one, at %s, and comment %s: then nothing is left to destroy. Objects that %s alone has can be destroyed by a pull request that leaves the project, and removes their resources.", markdown.Code(r.Place), markdown.Code("lockstep plan -p "+r.Project), markdown.Code(r.Project))
}

// CopyNote is the note about the copy of a state.
func CopyNote(r StateCopied) string {
	text, remedy := r.words()
	return text + " " + remedy
}

// PlaceUnknown: the settings of the base branch have errors, so that nobody knows whether they
// allow the address.
type PlaceUnknown struct{ Project, Place string }

func (r PlaceUnknown) words() (text, remedy string) {
	return fmt.Sprintf("The base branch does not have the state of %s at %s, and what it allows cannot be read.", markdown.Code(r.Project), markdown.Code(r.Place)),
		fmt.Sprintf("Correct %s on the base branch first.", settings)
}

// PlaceNotAllowed: the settings of the base branch do not allow the address.
type PlaceNotAllowed struct{ Project, Place string }

func (r PlaceNotAllowed) words() (text, remedy string) {
	return fmt.Sprintf("The base branch does not have the state of %s at %s, and does not allow it to be there.", markdown.Code(r.Project), markdown.Code(r.Place)),
		fmt.Sprintf("If the state is to be there, have the allow block of %s on the base branch name the place: %s.", settings, markdown.Code(fmt.Sprintf("states = [%q]", r.Place)))
}

// PlaceRenamed: the base branch has the state under the project's old name, Owner.
type PlaceRenamed struct{ Project, Owner string }

func (r PlaceRenamed) words() (text, remedy string) {
	return fmt.Sprintf("The state of %s is that of the project %s on the base branch.", markdown.Code(r.Project), markdown.Code(r.Owner)),
		onceMerged
}

// OnceMerged tells why nobody can apply a plan before the merge, and how what is merged is applied: the base branch has the state under the
// name owner; or, where that is "", the plan comes after those of other projects.
func OnceMerged(owner string, after []string) string {
	why := fmt.Sprintf("The base branch has its state under the name %s: it is applied once it has the new one.", markdown.Code(owner))
	if owner == "" {
		why = fmt.Sprintf("It is applied after %s, which it depends on, and that is after the merge.", SomeOf(after).Text())
	}
	return why + " Once the pull request is merged, comment `lockstep retry` on it for a plan of the base branch, look at that, and apply it."
}

// NotEncrypted: the base branch does not have the project, whose encryption block therefore does not
// count yet.
type NotEncrypted struct{ Project string }

func (r NotEncrypted) words() (text, remedy string) {
	return fmt.Sprintf("The encryption block of %s takes effect when it is merged: until then its first state would be written in clear, and stay readable in old versions.", markdown.Code(r.Project)),
		fmt.Sprintf("%s Or have the base branch's %s apply it on the merge. To apply before the merge, have the environment on the base branch set %s.", onceMerged, settings, markdown.Code("TF_ENCRYPTION"))
}

// PlaceMoved: the state has another address than in the plan.
type PlaceMoved struct {
	Project, Planned, Place string
	Merged                  bool
}

func (r PlaceMoved) words() (text, remedy string) {
	return fmt.Sprintf("The plan was made for the state at %s, and now that of %s is at %s.", markdown.Code(r.Planned), markdown.Code(r.Project), markdown.Code(r.Place)), planAgain(r.Merged)
}

// PlaceKeptElse: the base branch has changed the locks or the encryption of the state, while an
// apply held the earlier locks.
type PlaceKeptElse struct{ Project string }

func (r PlaceKeptElse) words() (text, remedy string) {
	return fmt.Sprintf("The base branch has just changed how the state of %s is locked or kept.", markdown.Code(r.Project)), fmt.Sprintf("Comment %s again.", markdown.Code("lockstep apply"))
}
